// @build any
// Where a reader may guess before a result is shown, in Node: what came of a guess is told, as long as what the guess was about
// is shown.
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { openWindow } from '../support/window.js';

const { leave } = openWindow();
const { modules, startEngine } = await import('../support/engine.js');
const engine = await startEngine();
const web = await modules(
  ...['positions/page/rotary_part', 'scale/panel', 'temperature/panel'].map(
    (name) => `features/${name}`,
  ),
  ...['domain/tokenizer', 'state/state'],
);
afterEach(leave);

/** By the element: the state in which it asks, the right guess and another, and what a guess is and is not about. */
const GUESSES = {
  'qkv-rotary': {
    asking: { positionsAsk: true, rotaryQ: 5, rotaryK: 3 },
    right: 'stays',
    wrong: 'grows',
    besides: { rotaryQ: 6, rotaryK: 4 },
    about: { rotaryQ: 9 },
  },
  'qkv-panel-scale': {
    asking: { scaleAsk: true },
    right: 'falls',
    wrong: 'rises',
    besides: { divided: true },
    about: { sample: 2 },
  },
  'qkv-panel-temperature': {
    asking: { curves: false },
    right: 'up',
    wrong: 'down',
    otherwise: 'guess.wrong',
    besides: { temperature: 2 },
    about: { scores: 'row' },
  },
};

const studies = new Map();
/** What panels work out about this row and this sample, once. */
function studiesOf(frame, { sample }) {
  const key = `${frame.temperature.of.id} ${sample}`;
  if (!studies.has(key)) studies.set(key, engine.studies());
  return studies.get(key);
}

/** A panel that asks, and what it tells of a guess: in the states that follow each other by press() and set(). */
function asking(element, patch) {
  const panel = document.createElement(element);
  document.body.append(panel);
  let state = { ...web.initialState('en'), ...patch };
  const set = (more) => {
    state = { ...state, ...more };
    const frame = { ...engine.ask(state), request: engine.request() };
    const list = web.tokenize(state.text, state.tokenizer, state.length);
    panel.update({
      ...{ state, list, frame, look: 1, engine: { kind: 'ready' } },
      studies: studiesOf(frame, state),
    });
    return panel.querySelector('.guess-answer').textContent;
  };
  set({});
  const press = (selector) => {
    let change;
    panel.addEventListener('state-change', ({ detail }) => (change = detail), { once: true });
    panel.querySelector(selector).click();
    return set(change);
  };
  const asks = () => !panel.querySelector('.guess').hidden;
  return { set, asks, guess: (value) => press(`[data-guess=${value}]`), press };
}

test('a guess: only its buttons are asked with', () => {
  asking('qkv-rotary', GUESSES['qkv-rotary'].asking);
  const heard = [];
  for (const name of ['guessed', 'guess-again']) {
    document.addEventListener(name, () => heard.push(name), { once: true });
  }
  document.querySelector('.guess-question').click();
  document.querySelector('.guess-answer').click();
  assert.deepEqual(heard, []);
  document.querySelector('[data-guess=show]').click();
  document.querySelector('.guess-again').click();
  assert.deepEqual(heard, ['guessed', 'guess-again']);
});

for (const [element, scene] of Object.entries(GUESSES)) {
  const { asking: patch, right, wrong, otherwise = 'guess.other', besides, about } = scene;
  test(`${element}: a guess is right or not, and is asked no more`, () => {
    const { asks, guess, set } = asking(element, patch);
    assert.ok(asks());
    const said = guess(right);
    assert.ok(!asks());
    set(patch);
    const other = guess(wrong);
    const verdicts = (key) => [said, other].map((told) => told.includes(web.t(key)));
    assert.deepEqual(verdicts('guess.right'), [true, false], `${said} ${other}`);
    assert.deepEqual(verdicts(otherwise), [false, true], `${said} ${other}`);
  });

  test(`${element}: what came of a guess goes with what it was about`, () => {
    const { guess, set } = asking(element, patch);
    guess(right);
    assert.notEqual(set(besides), '', 'what it is not about may change');
    assert.equal(set(about), '');
  });

  test(`${element}: a guess is forgotten when it is asked again`, () => {
    const { guess, set, press } = asking(element, patch);
    guess(right);
    assert.equal(set(patch), '');
    assert.equal(press('[data-guess=show]'), '', 'nobody guessed this time');
  });
}

// The words of the sentence, in Node: how full each box is, which one is the query, and the boxes that the HTML came with.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { differences, fire, linesOf, requireWritten } from '../support/operate.js';
import { openWindow } from '../support/window.js';

const { leave } = openWindow();
const { modules } = await import('../support/engine.js');
const { SentencePanel, initialState, defaultText, setLanguage, chipHtml } = await modules(
  ...['app/sentence', 'state/state', 'ui/token_chip'],
);
customElements.define('qkv-sentence', SentencePanel);

let panel;
let asked;
beforeEach(() => {
  setLanguage('en');
  document.documentElement.lang = 'en';
});
afterEach(leave);

/** A panel, which the HTML gave this. */
function put(given = '') {
  panel = new SentencePanel();
  panel.innerHTML = given;
  asked = [];
  panel.addEventListener('state-change', ({ detail }) => asked.push(detail));
  document.body.append(panel);
  return panel;
}

const TOKENS = ['one', 'two', 'three'];
/** What the page hands the panel; `row` are the weights of the query. */
function viewOf({
  tokens = TOKENS,
  query = 1,
  row = [0.25, 0.75, 0],
  mask = 'causal',
  of = query,
  ...more
} = {}) {
  const state = { ...initialState('en'), ...more.state };
  const layer = { tokens: more.computed ?? tokens, mask };
  const frame = { request: { layer, view: { head: 2 } }, query: { row: of, weights: row } };
  return {
    ...{ state, frame, query, list: { tokens }, look: more.look ?? 1 },
    heads: { source: state.source, trainedHeads: null },
    model: { info: null },
    ...(more.frame === undefined ? {} : { frame: more.frame }),
  };
}
const many = (count) => Array.from({ length: count }, (_, i) => `t${i}`);

const VIEWS = {
  'before the first frame': { frame: null },
  'the first frame': {},
  'a weight that rounds to the same': { row: [0.2501, 0.7499, 0] },
  'another query': { query: 0, row: [1, 0, 0] },
  'the row of another query': { query: 2, of: 0 },
  'no row': { of: null },
  'without a mask': { mask: 'none', row: [0.2, 0.3, 0.5] },
  'a frame of other words': { computed: ['one', 'two'] },
  'another look': { look: 2 },
  'a head of random weights': { state: { source: 'random' } },
  'fewer words than weights': { tokens: ['one', 'two'] },
  'more words than weights': { tokens: [...TOKENS, 'four'], query: 3, of: 3, mask: 'none' },
  'no words': { tokens: [], query: -1, frame: null },
  'no words of a model': { tokens: [], query: -1, frame: null, state: { source: 'trained' } },
  'as many words as there are boxes': { tokens: many(64), frame: null },
  'one more': { tokens: many(65), frame: null },
};

test('sentence: what is shown in each state', () => {
  put();
  const came = [];
  let before = linesOf(panel);
  came.push(...before);
  const note = (title) => {
    const after = linesOf(panel);
    came.push('', `== ${title}`, ...differences(before, after));
    before = after;
  };
  for (const [title, view] of Object.entries(VIEWS)) {
    panel.update(viewOf(view));
    note(title);
  }
  setLanguage('zh');
  panel.update(viewOf({ state: { language: 'zh' }, look: 3 }));
  note('in Chinese');
  requireWritten('sentence-shown', came);
});

describe('sentence: a hand', () => {
  test('chooses the query', () => {
    put().update(viewOf());
    const [, , third] = panel.querySelectorAll('input');
    third.checked = true;
    fire(third, 'change');
    assert.deepEqual(asked, [{ query: 2 }]);
    fire(panel.querySelector('.chips'), 'change');
    assert.equal(asked.length, 1);
  });

  test('asks for the example, and writes on in it', () => {
    document.body.innerHTML = '<textarea id="text"></textarea>';
    put().update(viewOf({ tokens: [], frame: null }));
    panel.querySelector('.example').click();
    assert.deepEqual(asked.splice(0), [{ text: defaultText('en'), query: null }]);
    assert.equal(document.activeElement.id, 'text');
    panel.update(viewOf({ tokens: [], frame: null, state: { language: 'zh' } }));
    document.getElementById('text').remove();
    panel.querySelector('.example').click();
    assert.deepEqual(asked, [{ text: defaultText('zh'), query: null }]);
  });
});

describe('sentence: what stays as it is', () => {
  const chips = () => [...panel.querySelectorAll('.chip')];
  test('are the boxes of the same words, and the caption of the same head', () => {
    const tokens = [...TOKENS];
    put().update(viewOf({ tokens }));
    const [first] = chips();
    const caption = panel.querySelector('#chips-caption').firstChild;
    panel.update(viewOf({ tokens, query: 2 }));
    assert.equal(chips()[0], first);
    assert.equal(panel.querySelector('#chips-caption').firstChild, caption);
    panel.update(viewOf({ tokens: [...TOKENS] }));
    assert.notEqual(chips()[0], first, 'of a list that is another one');
  });

  test('are boxes whose word says the same as before, and all of them while nothing changed', () => {
    const tokens = [...TOKENS];
    put();
    const view = viewOf({ tokens });
    panel.update(view);
    const [box] = chips();
    box.querySelector('.share').textContent = 'kept';
    panel.update(view);
    assert.equal(box.querySelector('.share').textContent, 'kept');
    panel.update(viewOf({ tokens, row: [0.25, 0.5, 0.25] }));
    assert.equal(box.querySelector('.share').textContent, 'kept', 'its weight is the same');
    const [, second] = chips();
    assert.equal(second.querySelector('.share').textContent, '.500');
    for (const more of [{ query: 0, of: 0 }, { mask: 'none' }, { look: 2 }]) {
      chips()[0].querySelector('input').checked = false;
      chips()[0].classList.add('masked');
      panel.update(viewOf({ tokens, row: view.frame.query.weights, ...more }));
      assert.equal(chips()[0].classList.contains('masked'), false, JSON.stringify(more));
    }
  });
});

describe('sentence: boxes that the HTML came with', () => {
  const given = (language, tokens) =>
    `<div class="chips" lang="${language}">${tokens
      .map(
        (token, position) =>
          `<label class="chip">${chipHtml({ position, token, share: '.500', weight: 0.5 })}</label>`,
      )
      .join('')}</div>`;
  const both = given('en', TOKENS) + given('zh', ['一', '二']);
  const shares = () => [...panel.querySelectorAll('.share')].map(({ textContent }) => textContent);
  const checked = () => [...panel.querySelectorAll('input')].map((box) => box.checked);
  const first = (view) => put(both).update(viewOf({ frame: null, ...view }));

  test('stay until there is something newer', () => {
    first({ query: 2 });
    assert.deepEqual(
      [shares(), checked()],
      [
        ['.500', '.500', '.500'],
        [false, false, true],
      ],
    );
    panel.update(viewOf({ query: 0, frame: null, tokens: TOKENS }));
    assert.deepEqual(shares(), ['.500', '.500', '.500']);
    panel.update(viewOf());
    assert.deepEqual(shares(), ['.250', '.750', '–']);
  });

  test('are of the language of the page', () => {
    document.documentElement.lang = 'zh';
    first({ tokens: ['一', '二'] });
    assert.deepEqual(shares(), ['.500', '.500']);
    document.documentElement.lang = 'en';
    first({ tokens: ['一', '二'] });
    assert.deepEqual(shares(), ['', '']);
  });

  test('are not those of other words, nor taken twice', () => {
    for (const tokens of [
      ['one', 'two'],
      ['one', 'two', 'four'],
      [...TOKENS, 'four'],
    ]) {
      first({ tokens });
      assert.deepEqual([...new Set(shares())], ['']);
      panel.update(viewOf({ frame: null, tokens: [...TOKENS] }));
      assert.deepEqual(shares(), ['', '', ''], 'only the first words can be theirs');
    }
  });
});

// The panel "Watch it learn" in Node, in a window without a browser: what it shows of its runs after each press and each message of
// its worker, which says what is said here, when it speaks and how often it draws.
import assert from 'node:assert/strict';
import { afterEach, mock, test } from 'node:test';
import { enter } from '../support/operate.js';
import { putPart } from '../support/part.js';
import { openWindow } from '../support/window.js';

const { told, workers, rest, leave } = openWindow();
const { modules } = await import('../support/engine.js');
const web = await modules(
  ...['state/state', 'features/learn/panel'],
  ...['head_maps', 'experiments'].map((name) => `features/learn/page/${name}`),
);
const clock = { now: 0 };
afterEach(() => {
  leave();
  mock.restoreAll();
  web.setLanguage('en');
});

const initial = { ...web.initialState('en'), learnTask: 'copy', learnLayers: 2, learnHeads: 2 };

/** The panel in this state. It gets what it requests, as on the page. */
async function put(patch = {}) {
  clock.now = 10_000;
  mock.method(performance, 'now', () => clock.now);
  let state = { ...initial, ...patch };
  let look = 1;
  const put = putPart('qkv-panel-learn');
  const { part: panel, one } = put;
  const asked = [];
  panel.addEventListener('state-change', ({ detail }) => {
    asked.push(detail);
    state = { ...state, ...detail };
    panel.update({ state, look });
  });
  panel.update({ state, look });
  await rest();
  const say = async (data) => {
    workers.at(-1).say(data);
    await rest();
  };
  const settingsOf = (run) => {
    const { kept, current } = panel.training;
    return [current, ...kept].find(({ id }) => id === run).settings;
  };
  return {
    ...{ ...put, panel, asked, say },
    state: () => state,
    async set(more) {
      state = { ...state, ...more };
      if (more.language) web.setLanguage(more.language);
      panel.update({ state, look: ++look });
      await rest();
    },
    async press(selector) {
      one(selector).click();
      await rest();
    },
    async enter(name, value) {
      enter(one(`[name=${name}]`), value);
      await rest();
    },
    news: (run, step, more) =>
      say({ type: 'news', run, news: newsOf(settingsOf(run), step, more) }),
    moment: (run, step) =>
      say({ type: 'moment', run, snapshot: snapshotOf(settingsOf(run), step) }),
    /** What the worker was sent since the last call, in short. */
    sent: () => told.splice(0).map(({ type, run, settings }) => (settings ? `run ${run} with ${settings.heads}` : type)), // prettier-ignore
  };
}

/** What heads read after so many steps. */
function snapshotOf({ task, text, layers, heads }, step) {
  const { row } = web.probeOf({ task, text });
  const side = row.ids.length;
  const count = layers * heads * side * side;
  return {
    step,
    weights: Float32Array.from({ length: count }, (_, i) => ((i * (step + 3)) % 97) / 97),
    scores: Float32Array.from({ length: 3 * layers * heads }, (_, i) => ((i + step) % 9) / 8),
    answers: Int32Array.from(row.targets, (id, i) => (i % 3 === step % 3 ? 2 : Math.max(0, id))),
    certainty: new Float32Array(side),
  };
}
const newsOf = (settings, step, more) => ({
  ...{ step, births: [], tuned: [], learningRate: 0.003, writing: null, rate: 31.7 },
  parameters: 2345,
  loss: step === 0 ? new Float32Array() : Float32Array.of(3 / step, 2.5 / step),
  accuracy: step === 0 ? new Float32Array() : Float32Array.of(0.25, 1 - 1 / (step + 1)),
  judged:
    step % 5 === 0
      ? [{ step, loss: 3 / (step + 1), accuracy: step / (step + 2), best: [0.375, step / 99] }]
      : [],
  snapshot: snapshotOf(settings, step),
  ...more,
});
const writing = { step: 5, given: [0, 1, 16], written: [2, 3], right: [2, 4], accuracy: 0.5, rows: 16 }; // prettier-ignore
const birth = (score, step) => ({ score, layer: 1, head: 0, step });

test('learn: a run on the page, from the first press to another run beside it', async () => {
  const { text, texts, one, press, set, news, moment, sent, asked } = await put();
  const play = () => text('[data-do=play]');
  assert.equal(text('.learn-status'), 'Nothing is trained yet. The engine for training is loaded when you press Play.'); // prettier-ignore
  await press('[data-do=play]');
  assert.deepEqual([sent().slice(-2), play()], [['run 1 with 2', 'play'], 'Pause']);
  assert.equal(text('.learn-status'), 'The engine for training is starting.');
  await news(1, 0);
  assert.equal(text('.learn-status'), 'Random weights, 2,345 of them. On held-out rows: loss 3.00, accuracy 0%.'); // prettier-ignore
  assert.deepEqual(sent(), ['drawn']);
  await news(1, 5, { writing, births: [birth('previous', 5)] });
  assert.match(text('.learn-status'), /^Step 5 · training loss 0\.500, accuracy 83% · held-out: loss 0\.500, accuracy 71% · 32 steps/); // prettier-ignore
  assert.deepEqual(texts('.learn-births li'), ['previous token: layer 2, head 1 passes 0.5 at step 5, 0 s after Play.']); // prettier-ignore
  assert.deepEqual([text('.learn-written'), text('.learn-should')], ['ab|cd', 'It should be: ce']);
  assert.equal(text('.learn-free'), 'At step 5, 50% of all tokens are right in 16 rows that the model generated from its own earlier answers.'); // prettier-ignore
  assert.equal(text('.learn-right'), `${texts('.is-right').length} of 12 answers are right.`);
  assert.equal(one('[data-figure=loss] svg').getAttribute('aria-label'), 'Loss over the steps; after 5 steps it is 0.500 on held-out rows'); // prettier-ignore
  await press('[data-do=play]');
  assert.deepEqual([sent(), play()], [['drawn', 'pause'], 'Resume']);
  await set({ learnHeads: 1 });
  assert.deepEqual([play(), text('.learn-note').slice(0, 52)], ['Play', 'The curves and maps still show the previous settings']); // prettier-ignore
  await press('[name=compare]');
  assert.deepEqual(asked.at(-1), { learnCompare: true });
  await press('[data-do=play]');
  await news(2, 5);
  await moment(1, 3);
  assert.equal(text('.learn-a-title'), 'Run A at step 3');
  assert.match(text('.learn-difference'), /^Now: Heads: 1\. A \(dashed\): Heads: 2\. All of them/);
  await press('[data-do=forget]');
  assert.deepEqual([one('.learn-a').hidden, one('[data-do=forget]').hidden, text('.learn-difference')], [true, true, '']); // prettier-ignore
  await set({ language: 'zh' });
  assert.equal(play(), '暂停');
});

test('learn: learning rate, rows and dropout act on the run that trains', async () => {
  const { text, one, press, enter, news, sent, state } = await put();
  const told = () => text('.learn-tuned');
  assert.deepEqual(['rate', 'batch', 'dropout'].map((name) => one(`[name=${name}]`).value), ['1', '32', '0']); // prettier-ignore
  assert.match(told(), /act from the next step on/);
  await enter('batch', '16');
  assert.deepEqual(sent(), [], 'nothing trains yet');
  await press('[data-do=play]');
  const tuning = { rate: 1, batch: 16, dropout: 0 };
  await news(1, 5, { tuned: [{ ...tuning, step: 0 }] });
  assert.match(told(), / Learning rate of the last step: 0\.0030\.$/);
  sent();
  await enter('rate', '10');
  assert.deepEqual([sent(), state().learnRate], [['tune'], '10']);
  await news(1, 10, { tuned: [{ ...tuning, rate: 10, step: 6 }] });
  assert.match(told(), /Changes in this run: Learning rate: × 1, × 10 from step 6\.$/);
  assert.match(one('[data-figure=accuracy]').textContent, /Learning rate: × 10/);
  assert.equal(text('[data-do=play]'), 'Pause', 'the run goes on');
  sent();
  await enter('task', 'reverse');
  assert.deepEqual([sent(), one('[name=rate]').value], [[], '1'], 'the run of before keeps its tuning');
}); // prettier-ignore

test('learn: a number of a link is shown though no other run is offered it', async () => {
  const { one, set } = await put({ learnBatch: 8 });
  const shown = () => [one('[name=batch]').value, one('[name=batch]').options.length];
  assert.deepEqual(shown(), ['8', 8]);
  await set({ learnBatch: 64 });
  assert.deepEqual(shown(), ['64', 7]);
});

test('learn: a step that is looked at is that of the maps and of the judgement, or both are named', async () => {
  const { press, news, moment, enter, text, one, panel } = await put();
  await press('[data-do=step]');
  for (let step = 0; step <= 40; step += 5) await news(1, step);
  const said = () => {
    assert.equal(one('[name=scrub]').getAttribute('aria-valuetext'), text('.learn-looked span'));
    return text('.learn-looked span').split(', accuracy')[0];
  };
  await enter('scrub', '20');
  assert.equal(said(), 'Maps of step 40. Held-out rows at step 20: loss 0.143', 'maps to come');
  await moment(1, 16);
  assert.equal(said(), 'Maps of step 16. Held-out rows at step 20: loss 0.143');
  await enter('scrub', '32');
  assert.equal(said(), 'Maps of step 16. Held-out rows at step 30: loss 0.0968', 'of before');
  await moment(1, 32);
  assert.equal(said(), 'Maps of step 32. Held-out rows at step 30: loss 0.0968');
  await enter('scrub', '25');
  await moment(1, 25);
  assert.equal(said(), 'Step 25. Held-out rows: loss 0.115');
  await press('[data-do=live]');
  assert.equal(said(), 'Latest step, 40. Held-out rows: loss 0.0732');
  await enter('scrub', '40');
  assert.equal(panel.training.looked, null, 'the last step is the latest');
});

test('learn: experiments, a run without a mask, and a text of the reader', async () => {
  const { press, set, enter, news, say, one, text, sent } = await put();
  await set({ learnExperiment: 'leak', learnTask: 'addition', learnCausal: false });
  await press('[data-do=step]');
  await news(1, 5, { writing });
  assert.match(text('.learn-free'), /^Without the causal mask .* Training loss 0\.500, accuracy 83%.*50% of the tokens in 16 rows are right at step 5\.$/); // prettier-ignore
  await set({ learnExperiment: 'noise' });
  assert.deepEqual([one('.learn-run').hidden, one('.learn-noise').hidden], [true, false]);
  sent();
  await press('[data-do=noise]');
  assert.deepEqual([sent(), text('[data-do=noise]')], [['noise'], 'Training the estimator']);
  const errors = { learned: 0.25, optimal: 0.125, mean: 0.0625 };
  const weights = { learned: [0.5, 0.3, 0.2, 0], optimal: [0.7, 0.2, 0.1, 0] };
  await say({ type: 'noise', news: { step: 600, done: true, ...weights, errors } });
  assert.equal(text('[data-do=noise]'), 'Train the estimator');
  assert.match(text('.learn-noise-errors'), /^After 600 steps\. .* learned 0\.250, by 1\/σ² 0\.125, by the plain mean 0\.0625\./); // prettier-ignore
  assert.match(one('[data-figure=noise] [aria-label]').getAttribute('aria-label'), /σ = 0\.25: 0\.500, 0\.700; σ = 0\.5: 0\.300, 0\.200;/); // prettier-ignore
  await set({ learnExperiment: null, learnTask: 'characters' });
  const area = one('[name=text]');
  assert.match(area.value, /^It is a truth universally acknowledged/);
  await enter('text', 'abc def ghi jkl');
  area.focus();
  area.value = 'half a te';
  await set({ learnText: 'another text of the link' });
  assert.equal(area.value, 'half a te', 'while it is typed');
  area.blur();
  await set({ learnText: 'the text of another link' });
  assert.equal(area.value, 'the text of another link');
  await say({ type: 'failed', failure: { code: 'unexpected', message: 'no *room*' } });
  assert.match(text('.learn-status'), /^The training stopped\. .*no \*room\*/);
});

test('learn: a guess is drawn at once, and what came of it when the run has begun', async () => {
  const { press, news, one, text, panel } = await put();
  const drawn = mock.method(panel.training, 'drawn');
  await press('.learn-guess [value=no]');
  assert.equal(drawn.mock.callCount(), 1);
  assert.equal(one('.learn-guess [value=no]').checked, true);
  await press('[data-do=step]');
  await news(1, 1);
  assert.match(text('.learn-guess'), /You said: no\./);
});

test('learn: it speaks when a run rests, and every five seconds while it trains', async () => {
  const { press, news, text } = await put();
  const spoken = () => text('[data-said]').split(':')[0];
  await press('[data-do=play]');
  await news(1, 0);
  assert.equal(spoken(), '');
  await news(1, 1);
  assert.equal(spoken(), 'Step 1');
  for (const [ms, step, said] of [
    [4999, 2, 'Step 1'],
    [1, 3, 'Step 3'],
    [0, 4, 'Step 3'],
  ]) {
    clock.now += ms;
    await news(1, step);
    assert.equal(spoken(), said);
  }
  await press('[data-do=play]');
  assert.equal(spoken(), 'Step 4', 'it rests');
  clock.now += 9000;
  await news(1, 5);
  assert.equal(spoken(), 'Step 4', 'it rested before');
});

test('learn: a run is opened with the trained models, with its row as the text', async () => {
  const { one, press, set, news, say, sent, panel } = await put({ learnTask: 'names' });
  const open = () => one('[data-do=open]').hidden;
  assert.ok(open(), 'nothing is trained yet');
  await press('[data-do=play]');
  await news(1, 5);
  assert.ok(open(), 'it is still trained');
  await press('[data-do=play]');
  assert.equal(open(), false);
  let opened;
  panel.addEventListener('run-opened', ({ detail }) => (opened = detail));
  sent();
  await press('[data-do=open]');
  assert.deepEqual(sent(), ['save']);
  await say({ type: 'saved', run: 1, bytes: Uint8Array.of(1, 2) });
  assert.deepEqual([opened.file.name, opened.file.size], ['names-seed1-step5.safetensors', 2]);
  assert.match(opened.text, /^(When|Then|After|At) .* a \w+ to$/);
  await set({ learnCausal: false });
  await press('[data-do=play]');
  await news(2, 5);
  await press('[data-do=play]');
  assert.ok(open(), 'what reads the next token does not predict it');
});

test('learn: one layer and two are tried one after the other', async () => {
  const { text, press, sent, panel } = await put({ learnTask: 'names', learnLayers: null, learnExperiment: 'names' }); // prettier-ignore
  assert.equal(text('[data-do=heads]'), 'Train with one layer, then with two');
  await press('[data-do=heads]');
  assert.deepEqual(sent().slice(-2), ['run 1 with 2', 'play']);
  const { current, queued } = panel.training;
  assert.deepEqual([current.settings.layers, queued], [1, 1]);
});

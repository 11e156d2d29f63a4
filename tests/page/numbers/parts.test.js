// What parts of panels show, in Node, in a window without a browser: that a table goes with its model, a verdict with its
// question, and that what was found stays with its run.
import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import { until } from '../../support/js/patience.js';
import { enter, linesOf, requireWritten } from '../support/operate.js';
import { openWindow, SIZE } from '../support/window.js';

const { workers, rest, layOut, leave } = openWindow();
const { modules } = await import('../support/engine.js');
const web = await modules(
  ...[
    'page/next_token_part',
    'page/lens_part',
    'page/rollout_part',
    'page/heads_part',
    'page/tokens_part',
    'page/write_part',
    'shared/model_view',
    'page/speed_part',
    'page/load_part',
  ].map((name) => `features/model/${name}`),
  ...[
    'features/masks/page/order_part',
    'features/cost/page/bench_part',
    'state/state',
    'app/export_menu',
  ],
  ...[
    'features/panel',
    'ui/guess',
    'features/recurrence/panel',
    'features/recurrence/page/attention_maps',
  ],
  ...[
    'features/lessons/page/exercise',
    'features/model/page/model_part',
    'features/row/page/trained_row_part',
  ],
  ...['features/block/page/depth_part', 'features/learn/page/controls', 'domain/tokenizer'],
);

const initial = web.initialState('en');
afterEach(leave);

/** A part of a panel on the page, and everything that it asked for: `{ name, detail }`. */
function put(Part, ...names) {
  // Some have their names of the panel that they are in, which is not here.
  if (!customElements.getName(Part)) {
    customElements.define(`qkv-test-${Part.name.toLowerCase()}`, Part);
  }
  const part = new Part();
  const asked = [];
  for (const name of names) {
    part.addEventListener(name, ({ detail }) => asked.push({ name, detail }));
  }
  document.body.append(part);
  return { part, asked, text: (selector) => part.querySelector(selector).textContent };
}

describe('model: parts without an answer', () => {
  const info = { ...{ numLayers: 1, numHeads: 1, speaks: true, notDrawn: null, name: null } };
  const token = { id: 1, label: 'a', p: 0.5 };
  const bar = { id: 1, label: 'a', temperature: 0.5, topK: null, topP: null };
  const one = Float32Array.of(0.75);
  const answers = {
    reading: { id: 1, ids: [1], labels: ['a'], total: 1, unknown: [], surprisal: one },
    next: {
      ...{ at: 0, label: 'a', actual: null, bars: [bar] },
      ...{ keptK: 1, keptP: 1, entropy: 0, vocabulary: 3 },
    },
    lens: { at: 0, layers: [{ tokens: [token], last: 0.5 }] },
    rollout: {
      ...{ at: 0, label: 'a', own: 1, rest: 0 },
      sources: [{ place: 0, label: 'a', share: 1, last: 1 }],
    },
    losses: { whole: 2, ablated: null, heads: [] },
    scores: {
      ...{ numHeads: 1, previous: one, first: one, induction: one },
      ...{ repeated: 50, difference: 0 },
    },
  };
  const nothing = {
    ...{ next: null, lens: null, rollout: null, losses: null, scores: null },
    reading: { ...answers.reading, id: 2, ids: [], labels: [], total: 0 },
  };
  const viewOf = (told) => ({
    ...{ state: initial, look: 1 },
    model: { ...web.NO_MODEL, info, answers: told },
  });

  for (const [name, Part, ...places] of [
    ['next', web.NextPart, 'h3', 'tbody', '.model-kept'],
    ['lens', web.LensPart, 'thead', 'tbody', '.model-settled'],
    ['rollout', web.RolloutPart, 'tbody', '.model-settled'],
    ['heads', web.HeadsPart, '.model-loss', '.model-heads', '.model-story', '.model-check'],
    ['tokens', web.TokensPart, '.model-tokens', '.model-chosen'],
  ]) {
    for (const [what, without] of [
      ['an emptied text', nothing],
      ['another model', { reading: nothing.reading }],
    ]) {
      test(`${name}: nothing of the text before stands under ${what}`, () => {
        const { part, text } = put(Part);
        const filled = () =>
          places.filter((place) => text(place) + part.querySelector(place).children.length !== '0');
        part.update(viewOf(answers));
        assert.deepEqual(filled(), places);
        part.update(viewOf(without));
        assert.deepEqual(filled(), []);
        part.update(viewOf(answers));
        assert.deepEqual(filled(), places, 'and it comes again');
      });
    }
  }

  test('tokens: of a text without surprises there is no mean', () => {
    const { part, text } = put(web.TokensPart);
    const said = (surprisal) => {
      const labels = ['a', 'b', 'c'];
      const reading = { ...answers.reading, ids: [1, 2, 3], labels, total: 3, surprisal };
      part.update({ ...viewOf({ reading }), look: said.look++ });
      return text('.model-chosen');
    };
    said.look = 1;
    assert.doesNotMatch(said(Float32Array.of(NaN, NaN, NaN)), /mean|NaN/i);
    assert.match(said(Float32Array.of(NaN, 1, 2)), /2 tokens, 1\.5/);
  });

  test('heads: a score of a half is worth a sentence, and one just below is not', () => {
    const { part, text } = put(web.HeadsPart);
    const values = { previous: 0.5, first: 0.4999, induction: 0.75 };
    const scores = Object.fromEntries(
      Object.entries(values).map(([name, value]) => [name, Float32Array.of(value)]),
    );
    part.update(viewOf({ ...answers, scores: { ...answers.scores, ...scores } }));
    const sentences = Object.entries(values).map(([name, value]) =>
      web.t(`model.heads.${name}${value < 0.5 ? 'Weak' : 'Strong'}`, {
        ...{ head: '0.0', value: value.toFixed(2) },
      }),
    );
    assert.equal(text('.model-story'), sentences.join(' '));
  });

  test('speed: the first length is drawn as soon as it is timed', () => {
    const { part } = put(web.SpeedPart);
    const drawn = (points) => {
      const speed = { points, difference: 0, running: true };
      part.update({ ...viewOf(answers), model: { ...web.NO_MODEL, info, speed } });
      return part.querySelectorAll('.model-speed svg').length;
    };
    assert.equal(drawn([]), 0);
    assert.equal(drawn([{ length: 8, cached: 1, whole: 2 }]), 1);
  });

  test('load: how a model was trained is drawn when it is unfolded', async () => {
    layOut({ width: 0, height: 0 });
    const { part } = put(web.LoadPart);
    part.update(viewOf(answers));
    const drawn = () => part.querySelectorAll('.model-log svg').length;
    assert.equal(drawn(), 0);
    layOut(SIZE); // what was folded has a size now
    await rest();
    assert.equal(drawn(), part.querySelectorAll('.model-log').length);
  });

  test('next: a heading without a text is not there', () => {
    const { part } = put(web.NextPart);
    part.update(viewOf(answers));
    assert.equal(part.querySelector('h3').hidden, false);
    part.update(viewOf(nothing));
    assert.equal(part.querySelector('h3').hidden, true);
  });

  test('write: what was said of a text goes with its model', () => {
    const { part, text } = put(web.WritePart);
    const written = (running) => ({
      ...{ before: 'a', text: 'b', tokens: 1, cached: 2, capacity: 9 },
      ...{ bytesPerToken: 4, median: 1, running, seed: 1 },
    });
    const show = (generated) => {
      const view = viewOf(answers);
      part.update({ ...view, model: { ...view.model, generated } });
    };
    show(written(true));
    show(written(false));
    assert.match(text('[data-said]'), /b/);
    show(null);
    assert.equal(text('[data-said]'), '');
  });
});

describe('masks: a guess', () => {
  const swaps = { without: { masked: 0.5, free: 0 }, sinusoidal: { masked: 0.5, free: 0.5 } };
  const frame = { masks: { swaps, tokens: ['b', 'a'] } };
  const tokens = ['a', 'b', 'c'];
  /** A part whose question was answered with the first order, and a way to change the state after that. */
  function guessed(known = frame) {
    const { part, asked } = put(web.OrderPart, 'state-change');
    let state = { ...initial, masksAsk: true };
    const show = (patch = {}, list = { tokens }) => {
      state = { ...state, ...patch };
      part.update({ state, frame: known, look: 1, list });
      return part.querySelector('qkv-guess').querySelector('.guess-answer').textContent;
    };
    show();
    part.dispatchEvent(new CustomEvent('guessed', { detail: 'breaks' }));
    const [{ detail }] = asked;
    return { show, judged: show(detail) };
  }

  test('is judged for the order that it brought about', () => {
    const { show, judged } = guessed();
    assert.notEqual(judged, '');
    assert.equal(show({ temperature: 3 }), judged, 'what it is not about may change');
  });

  test('is right from a difference on that rounding does not make', () => {
    const verdictAt = (masked) =>
      guessed({ masks: { ...frame.masks, swaps: { ...swaps, without: { masked, free: 0 } } } })
        .judged;
    const [at, above] = [1e-4, 1.001e-4].map(verdictAt);
    const [right, other] = ['guess.right', 'guess.other'].map((key) => web.t(key));
    assert.ok(at.includes(other) && !at.includes(right), at);
    assert.ok(above.includes(right), above);
  });

  test('is no longer judged under another order', () => {
    const { show } = guessed();
    assert.equal(show({ maskShuffle: 77 }), '');
  });

  test('is no longer judged with another number of tokens, as long as the grid shows them', () => {
    const { show } = guessed();
    assert.equal(show({}, { tokens: [...tokens, 'd'] }), '');
    const many = { tokens: Array.from({ length: 40 }, String) };
    const long = guessed();
    assert.equal(long.show({}, many), '', 'of 3 and 16');
  });
});

test('numbers that are typed are brought between the limits that a link has', () => {
  const setup = document.createElement('div');
  setup.innerHTML = web.TASK_CONTROLS + web.MODEL_CONTROLS;
  const changes = [];
  web.listen(setup, (patch) => changes.push(patch));
  const [next, write] = [web.NextPart, web.WritePart].map((Part) => put(Part, 'state-change'));
  const fields = {
    learnSeed: setup.querySelector('[name=seed]'),
    learnTemperature: setup.querySelector('[name=temperature]'),
    modelTopK: next.part.querySelector('#model-topK'),
    modelSeed: write.part.querySelector('#model-seed'),
  };
  for (const [name, field] of Object.entries(fields)) {
    const [low, high] = web.LIMITS[name];
    assert.deepEqual([field.min, field.max], [`${low}`, `${high}`], name);
    for (const value of [low - 1, high + 1, 'many', high]) enter(field, `${value}`);
    const told = [...changes.splice(0), ...[next, write].flatMap(({ asked }) => asked.splice(0))];
    const values = told.map((change) => (change.detail ?? change)[name]);
    assert.deepEqual(values, [low, high, high], name);
  }
});

describe('cost: a measurement', () => {
  const row = { ...{ tokens: 64, storedMs: 2, streamingMs: 1 } };
  const rows = [{ ...row, storedBytes: 4, streamingBytes: 2, decodeMs: 1 }];
  const result = { variant: 'simd', threads: 1, cores: 2, rows };
  const newsOf = (difference) => ({
    type: 'news',
    news: { result, difference, done: 1, all: 1 },
  });
  /** A whole run that found this difference. */
  function measured(difference) {
    const { part, text } = put(web.BenchPart, 'state-change');
    const press = (name) => part.querySelector(name).click();
    let look = 0;
    const show = (costResult) => part.update({ state: { ...initial, costResult }, look: ++look });
    show(null);
    press('.bench-run');
    workers.at(-1).say(newsOf(difference));
    workers.at(-1).say({ type: 'done' });
    show(result);
    return { press, show, found: () => text('.bench-found') };
  }

  test('keeps what it found when another one is stopped or fails', () => {
    const { press, found } = measured(0.125);
    const whole = found();
    assert.match(whole, /0\.125|0\.13/);
    press('.bench-run');
    workers.at(-1).say(newsOf(0.25));
    assert.match(found(), /0\.25/, 'of the run that is under way');
    press('.bench-stop');
    assert.equal(found(), whole);
    press('.bench-run');
    workers.at(-1).dispatchEvent(new Event('error'));
    assert.equal(found(), whole);
  });

  test('of a link has no difference from here', () => {
    const { show, found } = measured(0.125);
    show({ ...result, cores: 9 });
    assert.doesNotMatch(found(), /0\.125|0\.13/);
  });

  test('is drawn as soon as there is room for its figures', async () => {
    layOut({ width: 0, height: 0 });
    const { part, text } = put(web.BenchPart);
    const drawn = () => part.querySelectorAll('.plot-stage svg').length;
    part.update({ state: { ...initial, costResult: result }, look: 1 });
    await rest();
    assert.notEqual(text('.bench-table tbody'), '');
    assert.equal(drawn(), 0);
    layOut(SIZE);
    await rest();
    assert.ok(drawn() > 0);
  });
});

test('block: how much of the depths is done, until a run is over or has failed', () => {
  const { part, text } = put(web.DepthPart);
  const { text: sentence, tokenizer, length } = initial;
  const list = web.tokenize(sentence, tokenizer, length);
  part.update({ state: { ...initial, source: 'random' }, list, look: 1 });
  const said = () => text('.block-status');
  assert.equal(said(), '');
  part.querySelector('.block-run').click();
  const [worker] = workers;
  const shows = (done, share) => {
    worker.say({ type: 'progress', done });
    assert.equal(said(), web.t('block.running', { part: share }));
  };
  assert.equal(said(), web.t('block.running', { part: 0 }));
  shows(0.25, 25);
  shows(0.996, 100);
  worker.say({ type: 'progress', done: 1 });
  assert.equal(said(), '');
  part.querySelector('.block-run').click();
  const failure = { code: 'out_of_memory', message: 'no room' };
  worker.say({ type: 'failed', failure });
  assert.equal(said(), web.t('block.failed', { reason: web.t('reason.out_of_memory') }));
});

test('recurrence: the map of a head has the weights of this head alone', () => {
  const said = {
    ids: [],
    heads: 3,
    rows: 3,
    weights: Float32Array.from({ length: 18 }, (_, i) => i),
  };
  for (const head of [0, 1, 2]) {
    const { rows, columns, values } = web.weightsOf([4, 2], said, head);
    assert.deepEqual([rows, columns], [3, 2]);
    assert.deepEqual(values, said.weights.slice(6 * head, 6 * head + 6));
  }
});

describe('recurrence: the button', () => {
  const learner = { parameters: 1, steps: 3, loss: 1, accuracy: 0.5, milliseconds: 2 };
  const learners = { gru: learner, gru_attention: learner, transformer: learner };

  test('says what a press does: begin, pause, go on, train again', async () => {
    const panel = document.createElement('qkv-panel-recurrence');
    document.body.append(panel);
    panel.update({ state: initial, look: 1 });
    const button = panel.querySelector('[data-press=play]');
    const says = async (progress) => {
      const { recurrenceSeed: seed } = initial;
      const told = {
        type: 'progress',
        origin: 'here',
        seed,
        learners,
        running: false,
        done: false,
      };
      workers.at(-1).say({ ...told, ...progress });
      await rest();
      return button.textContent;
    };
    assert.equal(button.textContent, 'Train all three here');
    button.click();
    assert.equal(await says({ running: true }), 'Pause');
    assert.equal(await says({}), 'Resume');
    assert.equal(await says({ seed: initial.recurrenceSeed + 1 }), 'Train all three here');
    assert.equal(await says({ done: true }), 'Train again');
    assert.equal(await says({ done: true, origin: 'before' }), 'Train all three here');
    const { heard } = workers.at(-1);
    heard.length = 0;
    await says({ running: true });
    button.click();
    await says({});
    button.click();
    await says({ done: true });
    button.click();
    assert.deepEqual(
      heard.map((message) => message.type),
      ['pause', 'play', 'source', 'begin'],
    );
  });
});

describe('export: the menu', () => {
  class Broken extends web.Panel {
    template() {
      return '';
    }
    figure() {
      return Promise.reject(new Error('it broke'));
    }
  }
  customElements.define('qkv-panel-row', Broken);

  test('says so when nothing can be exported', async () => {
    document.body.innerHTML = `
      <section id="row"><div class="section-head"></div><qkv-panel-row></qkv-panel-row></section>`;
    web.addTools({ view: () => ({}), client: {} });
    const menu = document.querySelector('#row .section-head .menu');
    const said = menu.querySelector('[role=status]');
    menu.querySelector('[data-do=png]').click();
    await until(() => said.textContent !== '');
    assert.match(said.textContent, /could not be exported\. What went wrong: it broke/);
  });
});

describe('lessons: an exercise', () => {
  const tools = { view: () => ({}), moved: () => false };
  const question = { text: 'a', choices: ['b', 'c'] };
  for (const [title, exercise] of [
    ['with a right choice', { ...question, right: 1 }],
    ['that is open', question],
  ]) {
    test(`${title} keeps its page when the form is sent by a key`, () => {
      const item = web.exerciseForm(exercise, tools);
      document.body.append(item);
      const sent = new Event('submit', { bubbles: true, cancelable: true });
      item.querySelector('form').dispatchEvent(sent);
      assert.ok(sent.defaultPrevented);
    });
  }
});

test('row: the steps of a trained head, with its products as bars', () => {
  const { part } = put(web.LearnedPart);
  const learned = {
    ...{ head: 5, query: 2, width: 4, scale: 0.5, temperature: 0.5, allowed: 3, keys: [0, 2] },
    terms: [Float32Array.of(1, -0.5, 0, 0.126), Float32Array.of(-0.25, 2, 0.3333, 0)],
    ...{ products: Float32Array.of(0.626, 2.0833), scaled: Float32Array.of(0.313, 1.04165) },
    ...{ tempered: Float32Array.of(0.626, 2.0833), exps: Float32Array.of(0.23293, 1) },
    ...{ weights: Float32Array.of(0.16, 0.7), core: Float32Array.of(0.16, 0.7) },
    ...{ max: 2.0833, sum: 1.43, error: 3e-8 },
  };
  const view = (patch) => ({
    ...{ state: { ...initial, source: 'trained' }, look: 1, list: { tokens: ['a', 'b', 'c'] } },
    ...{ heads: { source: 'trained', trainedHeads: { layers: 2, perLayer: 4 } } },
    frame: { row: { learned: { ...learned, ...patch } } },
  });
  part.update(view({}));
  const drawn = Array.from(part.querySelectorAll('.row-terms rect'), (bar) =>
    ['class', 'y', 'height'].map((name) => bar.getAttribute(name)).join(' '),
  );
  assert.deepEqual(drawn, [
    ...['up 10.00 10.00', 'down 20.00 5.00', 'down 20.00 0.00', 'up 18.74 1.26'],
    ...['down 20.00 2.50', 'up 0.00 20.00', 'up 16.67 3.33', 'down 20.00 0.00'],
  ]);
  const shown = linesOf(part);
  part.update(view({ temperature: 1, query: 1, head: 2 }));
  requireWritten('row-learned', [...shown, '=== at a temperature of 1', ...linesOf(part)]);
});

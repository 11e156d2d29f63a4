// What parts of panels show, in Node, in a window without a browser: that a table goes with its model, a verdict with its
// question, and that what was found stays with its run.
import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import { until } from '../../support/js/patience.js';
import { enter } from '../support/operate.js';
import { openWindow, SIZE } from '../support/window.js';

const { workers, rest, layOut, leave } = openWindow();
const { modules } = await import('../support/engine.js');
const web = await modules(
  'features/model/page/{next_token_part,lens_part,rollout_part,heads_part,tokens_part,write_part}',
  'features/model/shared/model_view',
  'features/cost/page/bench_part',
  'state/state',
  'app/export_menu',
  'features/panel',
  'features/block/page/depth_part',
  'features/learn/page/controls',
  'features/learn/page/settings_of_state',
  '../../node_modules/lit-html/lit-html',
  'domain/tokenizer',
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
});

test('numbers that are typed are brought between the limits that a link has', () => {
  const setup = document.createElement('div');
  const changes = [];
  const change = (patch) => changes.push(patch);
  const settings = web.settingsOf(initial, '');
  web.render(web.modelControls({ settings, state: initial, change }), setup);
  const [next, write] = [web.NextPart, web.WritePart].map((Part) => put(Part, 'state-change'));
  const view = { state: initial, model: web.NO_MODEL, look: 1 };
  for (const { part } of [next, write]) part.update(view);
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

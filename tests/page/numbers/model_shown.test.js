// @about web/src/features/model/
// What the parts of the panel of a trained model show, in a window without a browser: each led through what it may be told, in both
// languages, one after another. What is otherwise after each is in tests/page/operated/model-shown.txt.
import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import { float, linesOfViews } from '../support/model_parts.js';
import { requireWritten } from '../support/operate.js';
import { openWindow, SIZE } from '../support/window.js';

const { layOut, leave, rest } = openWindow();
const { modules } = await import('../support/engine.js');
const parts = [
  'page/description_part',
  'page/tokens_part',
  'page/next_token_part',
  'page/lens_part',
  'page/rollout_part',
  'page/write_part',
  'page/speed_part',
];
const web = await modules(
  'features/model/panel',
  ...[...parts, 'shared/model_view', 'page/model_part'].map((name) => `features/model/${name}`),
  'state/state',
);
afterEach(() => {
  leave();
  web.setLanguage('en');
});

const INFO = {
  ...{ id: 1, name: 'austen', file: 'austen.safetensors', fileBytes: 883_000, bytes: 3_255_808 },
  ...{ time: 123.456, family: '', parameters: 813_952, format: 'f32', types: [['I8', 810_000]] },
  ...{ vocabulary: 78, maxLength: 256, numLayers: 4, numHeads: 4, dModel: 128, dK: 32 },
  ...{ positions: 'rotary', causal: true, speaks: true, tokenizer: 'characters', notDrawn: null },
};
const OWN = { ...INFO, name: null, file: 'mine.gguf' };
const failure = { code: 'out_of_memory', message: 'there is no room' };

/** A view of the page; the parts of it that are not named are as they are at first. */
let look = 1;
const viewOf = ({ state = {}, model = {}, answers = {} }) => ({
  state: { ...web.initialState(state.language ?? 'en'), ...state },
  model: { ...web.NO_MODEL, info: INFO, answers, ...model },
  look,
});

/** A part on the page, and what it asks for. */
function put(name) {
  const part = document.createElement(`qkv-model-${name}`);
  const asked = [];
  for (const event of ['state-change', 'model-tell']) {
    part.addEventListener(event, ({ detail, bubbles }) => asked.push([detail, bubbles]));
  }
  document.body.append(part);
  return {
    ...{ part, asked, one: (selector) => part.querySelector(selector) },
    show: (view) => {
      web.setLanguage(view.state?.language ?? 'en');
      part.update(viewOf(view));
    },
  };
}

const reading = (more = {}) => ({
  ...{
    id: 1,
    text: 'abc',
    length: null,
    ids: [0, 1, 2, 3, 4],
    labels: ['↵', 'a', '<b>', '␣', 'z'],
  },
  ...{ total: 5, unknown: [], surprisal: float(NaN, 0, 1.5, 6, 9) },
  ...more,
});
const bar = (id, temperature, topK, topP) => ({ id, label: `t${id}`, temperature, topK, topP });
const next = (more = {}) => ({
  ...{ at: 4, label: 'z', actual: { id: 2, label: 't2', p: 0.25 } },
  bars: [bar(1, 0.625, 0.75, 1), bar(2, 0.25, 0.25, null), bar(3, 0.0005, null, null)],
  ...{ keptK: 2, keptP: 1, entropy: 0.8765, vocabulary: 78 },
  ...more,
});
const layer = (last, ...ids) => ({
  ...{ last, tokens: ids.map((id, i) => ({ id, label: `t${id}`, p: 0.5 / (i + 1) })) },
});
const written = (more = {}) => ({
  ...{ before: '\n  It is', text: ' a truth', tokens: 8, cached: 14, capacity: 256, seed: 7 },
  ...{ bytesPerToken: 4096, median: 1.5, running: true, ...more },
});
const point = (length, cached, whole) => ({ length, cached, whole });
const speed = (more = {}) => ({
  points: [point(8, 0.5, 2), point(64, 0.75, 7.5), point(128, 1, 10)],
  ...{ difference: 2 ** -20, running: false, ...more },
});

/** By part: what it is told, one after another. */
const SHOWN = {
  description: {
    'no model': { model: { info: null } },
    'one of the page': {},
    'the same in Chinese': { state: { language: 'zh' } },
    'a file': { model: { info: { ...OWN, family: 'llama', fileBytes: 0, types: [] } } },
    'of numbers of many types': {
      model: {
        info: {
          ...{ ...OWN, bytes: 999_499, fileBytes: 1e6, time: 0.25 },
          types: ['F32', 'I8', 'F16', 'BF16'].map((type, i) => [type, 4321 - i]),
        },
      },
    },
    'that says nothing and has no tokenizer': {
      model: { info: { ...OWN, speaks: false, tokenizer: 'none' } },
    },
    ...Object.fromEntries(
      ['alibi', 'softcap', 'window'].map((notDrawn) => [
        `with ${notDrawn}`,
        { model: { info: { ...OWN, notDrawn } } },
      ]),
    ),
    'all of that in Chinese': {
      state: { language: 'zh' },
      model: { info: { ...OWN, speaks: false, tokenizer: 'none', notDrawn: 'window' } },
    },
    'something failed': { model: { failed: failure } },
    'and no more': {},
  },
  tokens: {
    'no reading': {},
    'a text': { answers: { reading: reading() } },
    'its first token': { answers: { reading: reading() }, state: { modelAt: 0 } },
    'its third token': { answers: { reading: reading() }, state: { modelAt: 2 } },
    'a token behind it': { answers: { reading: reading() }, state: { modelAt: 99 } },
    'in Chinese': { answers: { reading: reading() }, state: { language: 'zh' } },
    'letters that it does not know': {
      answers: { reading: reading({ unknown: ['é'] }) },
    },
    'many of them': {
      answers: { reading: reading({ unknown: [...'abcdefghijklmnop'] }) },
    },
    'a text that is cut': { answers: { reading: reading({ total: 6, unknown: ['é'] }) } },
    'one that is repeated': { answers: { reading: reading({ total: 4 }) } },
    'one token': {
      answers: { reading: reading({ ids: [0], labels: ['a'], surprisal: float(NaN), total: 1 }) },
    },
    'no token': {
      answers: { reading: reading({ ids: [], labels: [], surprisal: float(), total: 0 }) },
    },
    'the other model': {
      model: { info: { ...INFO, name: 'tang' } },
      answers: { reading: reading() },
    },
    'a file': { model: { info: OWN }, answers: { reading: reading() } },
  },
  next: {
    'nothing follows': {},
    'a token': { answers: { next: next() } },
    'other settings': {
      answers: { next: next() },
      state: { modelTemperature: 1.25, modelTopK: 40, modelTopP: 0.5 },
    },
    'the last token': { answers: { next: next({ actual: null }) } },
    'a token that is no bar': {
      answers: { next: next({ actual: { id: 9, label: 't9', p: 1e-9 } }) },
    },
    'in Chinese': { answers: { next: next({ entropy: 0 }) }, state: { language: 'zh' } },
    'nothing again': {},
  },
  lens: {
    'no lens': {},
    'a guess that is there from the second layer on': {
      answers: { lens: { at: 1, layers: [layer(0.1, 1, 2), layer(0.2, 3, 1), layer(0.3, 3, 2)] } },
    },
    'from the first': {
      answers: { lens: { at: 1, layers: [layer(0.2, 3, 1), layer(0.3, 3, 2)] } },
    },
    'only in the last': {
      answers: { lens: { at: 1, layers: [layer(0.2, 3), layer(0.2, 1), layer(1e-5, 3)] } },
    },
    'one layer': { answers: { lens: { at: 1, layers: [layer(0.2, 3, 1)] } } },
    'in Chinese': {
      answers: { lens: { at: 1, layers: [layer(0.2, 3, 1)] } },
      state: { language: 'zh' },
    },
    'no layers': { answers: { lens: { at: 1, layers: [] } } },
    'nothing again': { answers: { lens: null } },
  },
  rollout: {
    'no rollout': {},
    'of two tokens': {
      answers: {
        rollout: {
          ...{ at: 4, label: 'z', own: 0.5, rest: 0.0123 },
          sources: [
            { place: 4, label: 'z', share: 0.5, last: 0.25 },
            { place: 0, label: '<i>', share: 0.4, last: 0.001 },
          ],
        },
      },
    },
    'nothing again': { answers: { rollout: null } },
  },
  write: {
    'nothing is written': {},
    'it is written': { model: { generated: written() } },
    'more of it': { model: { generated: written({ text: ' a truth u', cached: 16 }) } },
    'it is done': { model: { generated: written({ running: false, median: 0.25 }) } },
    'before a second token': { model: { generated: written({ tokens: 1, median: NaN }) } },
    'that one is done, too': { model: { generated: written({ running: false, tokens: 2 }) } },
    'other settings': {
      state: { modelSeed: 9, modelSlow: false },
      model: { generated: written() },
    },
    'in Chinese': { state: { language: 'zh' }, model: { generated: written({ running: false }) } },
    'nothing again': {},
  },
  speed: {
    'nothing is timed': {},
    'it begins': { model: { speed: speed({ points: [], running: true }) } },
    'the first length': { model: { speed: speed({ points: [point(8, 0.5, 2)], running: true }) } },
    'all of them, ten times as fast': { model: { speed: speed() } },
    'a little faster than that': {
      model: { speed: speed({ points: [point(8, 1, 10.01), point(11, 1, 10.5)] }) },
    },
    'to the last bit': { model: { speed: speed({ difference: 0 }) } },
    'in Chinese': { model: { speed: speed() }, state: { language: 'zh' } },
    'nothing again': {},
  },
};

test('model: what its parts show, one thing after another', async () => {
  const lines = [];
  for (const [name, views] of Object.entries(SHOWN)) {
    const shown = put(name);
    await rest();
    lines.push(...linesOfViews(shown, name, views, () => look++));
    leave();
  }
  requireWritten('model-shown', lines);
});

describe('model: what its parts draw again', () => {
  /** Whether a part was drawn again: something that a reader put there is gone. */
  const redrawn = ({ part, show }, selector, view) => {
    part.querySelector(selector).setAttribute('data-mark', '1');
    show(view);
    return part.querySelector(`${selector}[data-mark]`) === null;
  };

  test('is nothing where nothing has changed', () => {
    for (const [name, selector, view, ...others] of [
      [
        'description',
        'dl > div',
        {},
        { model: { failed: failure } },
        { state: { language: 'zh' } },
      ],
      [
        'lens',
        'tbody tr',
        SHOWN.lens['one layer'],
        SHOWN.lens['in Chinese'],
        SHOWN.lens['from the first'],
      ],
      ['rollout', 'tbody tr', SHOWN.rollout['of two tokens']],
      [
        ...['next', 'tbody tr', SHOWN.next['a token']],
        ...[{ modelTopK: 3 }, { modelTopP: 0.5 }, { modelTemperature: 1 }].map((state) => ({
          ...SHOWN.next['a token'],
          state,
        })),
      ],
      ['tokens', '.model-tokens label', SHOWN.tokens['a text'], SHOWN.tokens['in Chinese']],
      ['speed', '.model-speed svg', { model: { speed: speed() } }, SHOWN.speed['in Chinese']],
    ]) {
      const found = put(name);
      found.show(view);
      assert.equal(redrawn(found, selector, view), false, name);
      for (const other of others) {
        assert.equal(redrawn(found, selector, other), true, `${name}: ${JSON.stringify(other)}`);
      }
      look++;
      if (name !== 'tokens') assert.equal(redrawn(found, selector, view), true, name);
    }
  });

  test('speed: is drawn again when the panel is another size', async () => {
    const { one, show } = put('speed');
    await rest();
    show({ model: { speed: speed() } });
    const width = () => one('.model-speed svg').getAttribute('viewBox');
    const before = width();
    layOut({ width: 400, height: 300 });
    await rest();
    assert.notEqual(width(), before);
    layOut(SIZE);
  });
});

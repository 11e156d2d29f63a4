// What the parts of the panel of a trained model show, in a window without a browser: what each says of what is known.
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { float, partsOf } from '../support/model_parts.js';
import { openWindow, SIZE } from '../support/window.js';

const { layOut, leave, rest } = openWindow();
const { modules } = await import('../support/engine.js');
const web = await modules(
  'features/model/page/{description,tokens,next_token,lens,rollout,write,speed}_part',
  'features/model/{panel,shared/model_view}',
  'state/state',
  'ui/numbers',
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

const { put } = partsOf(web, INFO);

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

/** A part that is shown this. */
const shown = (name, view) => {
  const part = put(name);
  part.show(view);
  return part;
};

test('model: the description has what the file says of it', () => {
  const values = (info) => shown('description', { model: { info: { ...INFO, ...info } } }).texts('dd');
  const rows = ['trained with qkv/train', '813,952', '4 layers · 4 heads · d_model 128', '78', '256'];
  assert.deepEqual(values({}), [...rows, 'rotary', '883 kB · I8 810,000', '3.26 MB · f32', '123 ms']);
  const types = ['F32', 'I8', 'F16', 'BF16'].map((type, i) => [type, 4321 - i]);
  const own = values({ ...OWN, family: 'llama', types, fileBytes: 1e6, bytes: 999_499, time: 0.25 });
  assert.deepEqual([own[0], ...own.slice(6)], ['llama', '1.00 MB · F32 4,321 · I8 4,320 · F16 4,319', '999 kB · f32', '250 µs']);
  for (const [info, title, words] of [
    [{}, 'Loaded: Austen (English)', /^This model was trained before/],
    [OWN, 'Loaded: mine.gguf', /^Yours: the file was read here and was not uploaded\./],
    [{ ...OWN, tokenizer: 'none' }, 'Loaded: mine.gguf', /It came without a tokenizer/],
    [{ ...OWN, tokenizer: 'none', unread: 'tokenizer.json' }, 'Loaded: mine.gguf', /does not read tokenizer\.json/],
    [{ ...OWN, speaks: false }, 'Loaded: mine.gguf', /It is an encoder/],
    [{ ...OWN, notDrawn: 'alibi' }, 'Loaded: mine.gguf', /ALiBi slopes, which the map does not draw/],
    [{ ...OWN, notDrawn: 'softcap' }, 'Loaded: mine.gguf', /capped by tanh, which the map does not draw/],
    [{ ...OWN, notDrawn: 'window' }, 'Loaded: mine.gguf', /through a window, which the map does not draw/],
  ]) {
    const { text } = shown('description', { model: { info: { ...INFO, ...info } } });
    assert.equal(text('h3'), title);
    assert.match(text('.model-local'), words);
  }
  assert.equal(shown('description', { model: { info: null } }).one('.model-description').hidden, true);
  for (const failed of [failure, null]) {
    const { one } = shown('description', { model: { failed } });
    assert.deepEqual([one('.model-failed').hidden, one('.model-failed').textContent], [failed === null, failed?.message ?? '']);
  }
}); // prettier-ignore

test('model: each token is as dark as it was unexpected, and the chosen one is told', () => {
  const tokens = (of, state = {}) => shown('tokens', { answers: { reading: reading(of) }, state });
  const { all, texts } = tokens();
  assert.deepEqual(texts('.model-tokens label span'), reading().labels);
  const shares = all('.model-tokens span').map(({ style }) => style.getPropertyValue('--share'));
  assert.deepEqual(shares, ['0%', '0%', '25%', '100%', '100%'], 'six nats are dark');
  const names = all('input').map((input) => input.getAttribute('aria-label'));
  assert.deepEqual(names.slice(0, 3), ['0 ↵, surprise – nats', '1 a, surprise 0.00 nats', '2 <b>, surprise 1.50 nats']);
  const mean = 'The mean over 4 tokens, 4.125 nats, is the loss.';
  for (const [modelAt, at, words] of [
    [0, 0, 'Token 0, ↵: no token comes before it.'],
    [2, 2, 'Token 2, <b>: p = 22.3%, surprise 1.50 nats.'], // exp(-1.5)
    [99, 4, 'Token 4, z: p = 0.012%, surprise 9.00 nats.'],
    [null, 4, 'Token 4, z: p = 0.012%, surprise 9.00 nats.'],
  ]) {
    const chosen = tokens({}, { modelAt });
    assert.equal(chosen.one('input:checked').value, `${at}`);
    assert.equal(chosen.text('.model-chosen'), `${words} ${mean}`);
  }
  for (const [of, words] of [
    [{}, ''],
    [{ unknown: ['é'] }, /^Left out, because the model does not know them: é$/],
    [{ unknown: [...'abcdefghijklmnop'] }, /: a b c d e f g h i j k l$/],
    [{ total: 6, unknown: ['é'] }, /é.*The model reads 5 tokens here, the text has 6\.$/],
    [{ total: 4 }, ''],
  ]) {
    const { one, text } = tokens(of);
    assert.equal(one('.model-left-out').hidden, words === '');
    if (words) assert.match(text('.model-left-out'), words);
  }
  const one = { ids: [0], labels: ['a'], surprisal: float(NaN), total: 1 };
  assert.equal(tokens(one).text('.model-chosen'), 'Token 0, a: no token comes before it.');
  const none = { ids: [], labels: [], surprisal: float(), total: 0 };
  assert.equal(tokens(none).text('.model-chosen'), '');
  assert.equal(tokens().all('.model-examples button').length > 0, true);
  const own = shown('tokens', { model: { info: OWN }, answers: { reading: reading() } });
  assert.equal(own.all('.model-examples button').length, 0, 'a file has no examples');
}); // prettier-ignore

test('model: what follows has its probability after each step, and how many tokens each step keeps', () => {
  const { text, texts, all, one } = shown('next', {
    ...{ answers: { next: next() }, state: { modelTemperature: 1.25, modelTopK: 40, modelTopP: 0.5 } },
  });
  assert.equal(text('h3'), 'What follows z at position 4');
  const rows = all('tbody tr').map((row) => [...row.cells].map(({ textContent }) => textContent));
  assert.deepEqual(rows, [
    ['t1', '62.5%', '75.0%', '100.0%'],
    ['t2 in the text', '25.0%', '25.0%', 'dropped'],
    ['t3', '0.050%', 'dropped', 'dropped'],
  ]);
  assert.deepEqual(all('.bar i').map(({ style }) => style.width), ['62.5%', '75%', '100%', '25%', '25%', '0.05%']);
  assert.equal(text('.model-kept'), `Of 78 tokens top-k leaves 2, and top-p 1 of those. At temperature 1 the entropy is 0.876 nats, as of 2.40 equally likely tokens. The text continues with t2, to which the model gives 25.0%.`);
  assert.deepEqual([one('#model-temperature').value, one('#model-topK').value, one('#model-topP').value], ['1.25', '40', '0.5']);
  assert.deepEqual(texts('output'), ['1.25', '0.50']);
  assert.doesNotMatch(shown('next', { answers: { next: next({ actual: null }) } }).text('.model-kept'), /continues/);
  const cut = { heads: [[0, 1], [1, 2]], label: 't2', whole: 0.75, cut: 0.25 };
  assert.match(shown('next', { answers: { next: next({ cut }) } }).text('.model-kept'), /^Without 0\.1, 1\.2, t2 follows z with probability 25\.0%, with all heads 75\.0%; now the likeliest is t1\. Of/);
  const same = next({ cut: { ...cut, label: 't1' } });
  assert.match(shown('next', { answers: { next: same } }).text('.model-kept'), /t1 follows z .*; it is still the likeliest\. Of/);
  const none = shown('next', {});
  assert.deepEqual([none.one('h3').hidden, none.all('tbody tr').length], [true, 0]);
}); // prettier-ignore

test('model: the lens tells from which layer on the last guess is the first', () => {
  for (const [layers, told] of [
    [[layer(0.1, 1, 2), layer(0.2, 3, 1), layer(0.3, 3, 2)], ['t3', 2, 3, '10.0% → 20.0% → 30.0%']],
    [[layer(0.2, 3, 1), layer(0.3, 3, 2)], ['t3', 1, 2, '20.0% → 30.0%']],
    [[layer(0.2, 3), layer(0.2, 1), layer(1e-5, 3)], ['t3', 3, 3, '20.0% → 20.0% → 0.0010%']],
    [[layer(0.2, 3, 1)], ['t3', 1, 1, '20.0%']],
  ]) {
    const { text, all, texts } = shown('lens', { answers: { lens: { at: 1, layers } } });
    const [token, from, count, shares] = told;
    assert.equal(text('.model-settled'), `The final guess ${token} is first after ${from} of ${count} layers and stays first. Its probability after each layer: ${shares}.`);
    assert.deepEqual(texts('tbody th'), layers.map((_, i) => `after ${i + 1}`));
    assert.ok(all('.final').every(({ textContent }) => textContent.startsWith(token)));
    assert.deepEqual(texts('tbody bdi'), layers.flatMap(({ tokens }) => tokens.map(({ label }) => label)));
  }
  for (const lens of [null, { at: 1, layers: [] }]) {
    assert.equal(shown('lens', { answers: { lens } }).text('.model-settled'), '');
  }
}); // prettier-ignore

test('model: the rollout has the shares of tokens after all layers, and of the last alone', () => {
  const rollout = {
    ...{ at: 4, label: 'z', own: 0.5, rest: 0.0123 },
    sources: [
      { place: 4, label: 'z', share: 0.5, last: 0.25 },
      { place: 0, label: '<i>', share: 0.4, last: 0.001 },
    ],
  };
  const { all, text } = shown('rollout', { answers: { rollout } });
  const rows = all('tbody tr').map((row) => [...row.cells].map(({ textContent }) => textContent));
  assert.deepEqual(rows, [
    ['z', '4', '50.0%', '25.0%'],
    ['<i>', '0', '40.0%', '0.10%'],
  ]);
  const words = '50.0% of the vector at position 4 still comes from z itself; tokens beyond these 2 account for 1.2%.';
  assert.equal(text('.model-settled'), `After all layers, ${words}`);
  assert.equal(shown('rollout', { answers: { rollout: null } }).all('tbody tr').length, 0);
}); // prettier-ignore

test('model: what is written stands beside the cache that it fills, and is said when it is done', () => {
  const { one, text, show } = put('write');
  const generated = (more) => show({ model: { generated: written(more) } });
  show({});
  assert.deepEqual([one('.model-written').hidden, one('.model-cache').hidden, text('.write')], [true, true, 'Write']);
  generated();
  assert.deepEqual([text('.before'), text('.written'), text('.write')], ['It is', ' a truth', 'Stop']);
  assert.equal(text('.model-cache-text'), 'Cache: 14 of 256 tokens, 57.3 kB of 1.05 MB');
  assert.deepEqual([one('progress').value, one('progress').max], [14, 256]);
  assert.equal(text('.model-rate'), '8 tokens written. Computing one takes 1.50 ms (median, with the cache).');
  assert.equal(text('[data-said]'), '');
  generated({ tokens: 1, median: NaN });
  assert.match(text('.model-rate'), /takes – \(median/);
  generated({ running: false });
  assert.deepEqual([text('[data-said]'), text('.write')], ['8 tokens:  a truth', 'Write']);
  show({ state: { modelSeed: 9, modelSlow: false }, model: { generated: written() } });
  assert.deepEqual([one('#model-seed').value, one('#model-slow').checked], ['9', false]);
  show({});
  assert.deepEqual([one('.model-written').hidden, text('.model-rate')], [true, '']);
}); // prettier-ignore

test('model: the time that the cache saves is told of the longest text', async () => {
  const shownSpeed = async (more) => {
    const part = put('speed');
    await rest();
    part.show({ model: { speed: more && speed(more) } });
    return part;
  };
  for (const [more, words] of [
    [{}, 'After 128 tokens, the next one takes 1.00 ms with the cache and 10.0 ms without, 10.0 times as long. The two sets of logits differ by at most 9.5×10⁻⁷.'],
    [{ points: [point(8, 1, 10.01)] }, /10 times as long/],
    [{ difference: 0 }, /are the same, to the last bit\.$/],
    [{ points: [point(8, 0.5, 2)], running: true }, 'Measuring …'],
    [{ points: [], running: true }, ''],
  ]) {
    const { text, one, all } = await shownSpeed(more);
    if (typeof words === 'string') assert.equal(text('.model-speed-text'), words);
    else assert.match(text('.model-speed-text'), words);
    assert.equal(one('.measure').disabled, more.running ?? false);
    assert.equal(all('.model-speed svg').length, more.points?.length === 0 ? 0 : 1);
  }
  const { one, show } = await shownSpeed({});
  const width = () => one('.model-speed svg').getAttribute('viewBox');
  const before = width();
  layOut({ width: 400, height: 300 });
  await rest();
  assert.notEqual(width(), before, 'it is drawn again when the panel is another size');
  layOut(SIZE);
  show({});
  assert.equal(one('.model-speed-key').hidden, true);
}); // prettier-ignore

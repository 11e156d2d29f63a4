// A word in two contexts through a trained model, in Node: against the model's own pass over both texts.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { read } from '../../support/js/files.js';
import { modules, packageModule } from '../support/engine.js';

const web = await modules('features/model/worker/{open_model,contexts}');
const qkv = await (await packageModule('index')).init();
const url = URL.createObjectURL(new Blob([read('models/tang/tang.safetensors')]));
const files = { kind: 'address', name: 'tang', url };
const of = await web.open(qkv, files, { signal: new AbortController().signal, onProgress() {} });
/** What a generator returns. */
function contextsOf(word, ...texts) {
  const steps = web.contextsOf(of, { word, texts });
  let step = steps.next();
  while (!step.done) step = steps.next();
  return step.value;
}

test('contexts: the same row goes in, and after each layer the cosine is that of the model’s own vectors', () => {
  const texts = ['举头望明月，低头', '烟花三月'];
  const { labels, cosines, ask } = contextsOf('月', ...texts);
  assert.deepEqual([labels, ask.texts], [['月', '月'], texts]);
  assert.equal(cosines.length, 1 + of.info.numLayers);
  assert.ok(Math.abs(cosines[0] - 1) < 1e-6);
  // Of the whole texts, not of their beginnings; a text begins with a line break.
  const rows = [5, 4].map((at, i) => {
    const ids = [of.begin, ...of.encode(texts[i]).ids];
    const { layers } = of.model.forward(ids, { inspect: { residuals: true } });
    const width = of.info.dModel;
    return [...layers.values()].map(({ residual }) =>
      residual.data.slice(at * width, (at + 1) * width),
    );
  });
  const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);
  for (const [layer, a] of rows[0].entries()) {
    const b = rows[1][layer];
    const wanted = dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
    assert.ok(Math.abs(cosines[layer + 1] - wanted) < 1e-4, `${layer}`);
  }
  assert.ok(cosines.at(-1) < 0.6, 'the moon is not a month');
});

test('contexts: one text twice is the same, and a text without the word is none', () => {
  assert.ok(contextsOf('月', '明月', '明月').cosines.every((value) => Math.abs(value - 1) < 1e-6));
  for (const texts of [
    ['明月', '白日'],
    ['', '明月'],
    ['qqq月', '明月'],
  ]) {
    const { labels, cosines } = contextsOf('月', ...texts);
    assert.ok(labels.includes(null) && cosines.length === 0, texts.join());
  }
  assert.deepEqual(contextsOf('', '明月', '明月').cosines, []);
});

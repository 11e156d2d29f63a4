// @build any
// Files that version 0.2.0 wrote (written/make.js): a later version reads them, and they do what they were trained to do.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { load } from 'qkv/models';
import { init } from 'qkv/train';
import { read } from '../../support/js/files.js';
import { batch, config, count, pairs, seq2seqConfig, turned, words } from './written/make.js';

const engine = await init({ variant: 'simd' });
after(() => engine.dispose());

const written = (name) => new Uint8Array(read(`tests/package/train/written/${name}.safetensors`));

for (const name of ['counts', 'counts-bf16', 'counts-int8']) {
  test(`Trainer.load: ${name} of 0.2.0 counts`, () => {
    const trainer = engine.languageModel(config);
    trainer.load(written(name));
    const { loss, accuracy } = trainer.evaluate(batch);
    assert.ok(loss < 0.02 && accuracy === 1, `${loss}, ${accuracy}`);
    trainer.dispose();
  });

  test(`load: ${name} of 0.2.0 counts`, async () => {
    const model = await load(engine, { weights: written(name) });
    const { logits } = model.forward(Int32Array.from(count(3).slice(0, 4)));
    const last = logits.data.subarray(-config.vocabulary);
    assert.equal(last.indexOf(Math.max(...last)), 7);
    model.dispose();
  });
}

test('Trainer.load: a file of 0.2.0 with the optimizer goes on where it was', () => {
  const trainer = engine.languageModel(config, { learningRate: 1e-2 });
  trainer.load(written('counts'));
  assert.equal(trainer.steps, 100);
  const { loss } = trainer.evaluate(batch);
  trainer.step(batch);
  assert.equal(trainer.steps, 101);
  // A step of an optimizer without its moments, as of the first step, would be far larger.
  const after = trainer.evaluate(batch).loss;
  assert.ok(after < loss && after > 0.9 * loss, `${loss}, then ${after}`);
  trainer.dispose();
});

test('Trainer.load: turns of 0.2.0 says words from their end', () => {
  const trainer = engine.seq2seq(seq2seqConfig);
  trainer.load(written('turns'));
  assert.equal(trainer.evaluate(pairs).accuracy, 1);
  const how = { start: 4, end: 5, maxLength: 5 };
  const { ids } = trainer.model.translate(Int32Array.from(words[27]), how);
  assert.deepEqual([...ids[0]], turned[27]);
  trainer.dispose();
});

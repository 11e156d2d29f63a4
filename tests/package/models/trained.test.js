// @build any
// What Trainer.save() writes is what load() reads, in every format and with positions of every kind.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { init } from 'qkv/train';
import { load } from 'qkv/models';
import { boundOf, rowsOf, sizeIn } from '../../support/js/model-kinds.js';
import { expectClose } from '../../support/js/check.js';

const engine = await init({ deterministic: true });
after(() => engine.dispose());

const config = {
  ...{ vocabulary: 19, numLayers: 2, dModel: 40, numHeads: 4, dFeedForward: 48, maxLength: 37 },
};
const ids = rowsOf(config, 30);

for (const positions of ['learned', 'sinusoidal', 'rotary', 'alibi', 'none']) {
  for (const format of ['f32', 'bf16', 'int8']) {
    test(`load: a trainer's file in ${format}, with positions that are ${positions}`, async () => {
      const trainer = engine.languageModel({ ...config, positions }, { seed: 7, deviation: 0.2 });
      const bytes = trainer.save({ format });
      trainer.load(bytes);
      const model = await load(engine, { weights: new Blob([bytes]) }, { format: 'f32' });
      const expected = trainer.model.forward(ids).logits.data;
      const size = sizeIn(expected);
      expectClose(model.forward(ids).logits.data, expected, boundOf(config, size), { size });
      assert.equal(model.parameterCount, trainer.parameterCount);
      for (const one of [model, trainer]) one.dispose();
    });
  }
}

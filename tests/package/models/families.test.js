// @build any
// The families of the hub: from their config.json to ours, and each array from where the family has it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { models } from './support/bundle.js';
import { families, otherFamilies } from './support/families.js';
import { safetensors } from './support/files.js';
import { expectModel } from './support/truth.js';
import { typesOf } from './support/types-of.js';

const { openModel } = models;

for (const [name, make] of Object.entries({ ...families, ...otherFamilies })) {
  for (const type of typesOf(name, ['F32', 'F16', 'BF16'])) {
    test(`openModel: ${name} from safetensors of ${type}`, async () => {
      const { truth, tensors, config, expected } = make();
      const typed = Object.fromEntries(
        Object.entries(tensors).map(([key, tensor]) => [key, { ...tensor, type }]),
      );
      const opened = await openModel({ config, weights: safetensors(typed) });
      assert.deepEqual(opened.config, expected);
      assert.deepEqual(
        opened.parameters.map(({ name: own }) => own).sort(),
        Object.keys(truth.arrays).sort(),
      );
      await expectModel(opened, truth);
    });
  }
}

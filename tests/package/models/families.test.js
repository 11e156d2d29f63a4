// @build any
// The families of the hub: from their config.json to ours, and each array from where the family has it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { full, leaveToFullRun } from '../../support/js/full.js';
import { models } from './support/bundle.js';
import { families, otherFamilies } from './support/families.js';
import { safetensors } from './support/files.js';
import { expectModel } from './support/truth.js';

const { openModel } = models;

/** Which type an array has is none of a family's business, so an everyday run tries all types of one. */
const ofAllTypes = (name) => full || name === 'llama';
if (!full) leaveToFullRun('models of F16 and BF16 of all families but one');

for (const [name, make] of Object.entries({ ...families, ...otherFamilies })) {
  for (const type of ofAllTypes(name) ? ['F32', 'F16', 'BF16'] : ['F32']) {
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

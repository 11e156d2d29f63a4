// @build any
// Logits of small models of every family that loads, hidden states of encoders, against the formulas in float64.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { init } from 'qkv';
import { initAsTold } from '../../support/js/files.js';
import { boundOf } from '../../support/js/model-kinds.js';
import { loadable, measure } from './support/logits.js';

const engine = await initAsTold(init);
after(() => engine.dispose());

for (const each of loadable) {
  test(`load: ${each.type} from ${each.format} has the logits of its formula`, async () => {
    const { config, error, size } = await measure(engine, each);
    const bound = boundOf(config, size);
    assert.ok(error <= bound, `an error of ${error}, ${bound} may be`);
  });
}

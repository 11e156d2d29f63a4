// The package reads the tiny models of models.js: its logits against the formulas in float64, and against llama.cpp's.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { init } from 'qkv';
import { load } from 'qkv/models';
import { initAsTold } from '../../support/js/files.js';
import { boundOf, distance, exactOf, valuesOf } from './distance.js';
import { gelu } from './forward.js';
import { cases, file, tokens } from './models.js';

const engine = await initAsTold(init);

/** Distances to float64, measured: 2.2e-6 where numbers are float32; int8 rounds the other side of products too [0.13]. */
const ownBound = ({ format }) => (format === 'Q8_0' ? 0.2 : 4e-6);

/** Where the papers have x Phi(x), llama.cpp has the formula with tanh; 6e-4 lie between their logits. */
const changed = ({ family }) => (/^(gptneox|bert)/.test(family) ? { activation: gelu } : {});

function valuesOfPackage({ family }, model) {
  const [, pooling] = /^bert_(.*)/.exec(family) ?? [];
  return pooling
    ? model.embed([tokens], { pooling, normalize: false }).data
    : model.forward(tokens).logits.data;
}

for (const each of cases) {
  test(`the package reads ${each.family} ${each.format}`, async (t) => {
    const model = await load(engine, { weights: file(each).buffer });
    const values = Array.from(valuesOfPackage(each, model));
    model.dispose();
    const own = distance(values, exactOf(each, changed(each)));
    const other = distance(values, valuesOf(each));
    t.diagnostic(`${own.toExponential(1)} from float64, ${other.toExponential(1)} from llama.cpp`);
    assert.ok(own <= ownBound(each), `${own} from float64`);
    assert.ok(other <= ownBound(each) + boundOf(each), `${other} from llama.cpp`);
  });
}

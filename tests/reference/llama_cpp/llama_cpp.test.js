// @build each
// The package reads the files of tiny models (models.js) and has llama.cpp's logits of them (make_fixtures.js).
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { init } from 'qkv';
import { load } from 'qkv/models';
import { initAsTold } from '../../support/js/files.js';
import { cases, file, tokens } from './models.js';

const fixture = JSON.parse(readFileSync(new URL('fixtures/logits.json', import.meta.url), 'utf8'));
const engine = await initAsTold(init);
after(() => engine.dispose());

/**
 * How far llama.cpp may be from the package, in logits of up to 7, 1.5 times what was measured. It computes in float32, takes GELU from a
 * table of float16 (in the formula with tanh, also where the papers have x Phi(x)), and rounds the inputs of products to the format
 * of the weights.
 */
const bounds = { F32: 4e-6, F16: 4e-3, BF16: 3e-2, Q8_0: 0.1 };
const tabled = /^(gemma|gpt|bert)/;
const boundOf = ({ family, format }) => (tabled.test(family) ? 3e-3 : bounds[format]);

test('llama.cpp: the fixture has every case and these tokens', () => {
  const names = (list) => list.map(({ family, format }) => `${family} ${format}`);
  assert.deepEqual(names(fixture.cases), names(cases));
  assert.deepEqual(fixture.tokens, tokens);
});

for (const { values, ...each } of fixture.cases) {
  test(`load: ${each.family} in ${each.format} has the logits of llama.cpp`, async (t) => {
    const model = await load(engine, { weights: file(each) }, { format: 'f32' });
    const { data } = model.config.causal
      ? model.forward(tokens).logits
      : await model.embed([tokens], { normalize: false });
    model.dispose();
    assert.equal(data.length, values.length);
    const far = Math.max(...values.map((x, i) => Math.abs(x - data[i])));
    t.diagnostic(`${far.toExponential(1)} of ${boundOf(each)}`);
    assert.ok(far <= boundOf(each), `${far} > ${boundOf(each)}`);
  });
}

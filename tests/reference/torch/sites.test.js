// @build each
// Places of a pass, changes of them, and logits taken apart, against PyTorch, whose results in float64 with the same weights are in
// fixtures/sites.json (make_site_fixtures.py).
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { init } from 'qkv';
import { create } from 'qkv/models';
import { expectClose } from '../../support/js/check.js';
import { initAsTold } from '../../support/js/files.js';
import { models } from './support/models.js';
import { fixture, toArray } from './support/state.js';

const engine = await initAsTold(init);
after(() => engine.dispose());

/** The bound of a block (core/include/qkv/transformer.hpp), once for each of the two. */
const bound = 2 * 4e-6;
const expectTorch = (actual, expected, what) => {
  const bounds = Array.from(expected, (y) => (Number.isFinite(y) ? bound * Math.max(1, Math.abs(y)) : 0)); // prettier-ignore
  expectClose(actual, expected, bounds, { quantity: 'torch language model', what });
};

/** An edit of the fixture, whose -Infinity is a word. */
const toEdit = ({ value, add, ...edit }) => {
  const toGiven = (x) => (Array.isArray(x) ? Float32Array.from(x) : x === '-inf' ? -Infinity : x);
  return { ...edit, ...(value !== undefined && { value: toGiven(value) }), ...(add !== undefined && { add: toGiven(add) }) }; // prettier-ignore
};

const states = new Map(models().map((each) => [each.name, each]));

for (const { name, sites, edited, attribution } of fixture('sites').cases) {
  describe(`torch sites: ${name}`, () => {
    const { config, weights, ids } = states.get(name);
    const model = create(engine, config, weights);
    after(() => model.dispose());

    test('every place is what PyTorch has there', () => {
      const read = Object.keys(sites).map((site) => ({ site }));
      assert.equal(read.length, 14);
      const { activations } = model.forward(ids[0], { read });
      for (const [site, layers] of Object.entries(sites)) {
        for (const [n, expected] of Object.entries(layers)) {
          const layer = ['embed', 'final'].includes(site) ? undefined : Number(n);
          const { data, shape } = activations.get(site, layer);
          assert.deepEqual([...shape], expected.shape, site);
          expectTorch(data, toArray(expected).data, `${site} of layer ${n}`);
        }
      }
    });

    test('changes make of the logits what they make of those of PyTorch', () => {
      const plain = model.forward(ids.flat(), { batch: ids.length }).logits.data;
      for (const { edits, logits } of edited) {
        const edit = edits.map(toEdit);
        const { data } = model.forward(ids.flat(), { batch: ids.length, edit }).logits;
        expectTorch(data, logits.data, JSON.stringify(edits));
        const most = Math.max(...data.map((x, i) => Math.abs(x - plain[i])));
        assert.ok(most > 1e-3, `${JSON.stringify(edits)} changes no logit by more than ${most}`);
      }
    });

    test('parts give what PyTorch finds by the gradient of the last norm with its scale held', () => {
      const { answer, instead, total, parts } = attribution;
      const found = model.attribute(ids[0], { answer, instead });
      expectTorch([found.total], [total], 'total');
      const nameOf = ({ part, layer, head }) => JSON.stringify([part, layer, head]);
      assert.deepEqual(found.parts.map(nameOf).toSorted(), parts.map(nameOf).toSorted());
      const values = new Map(found.parts.map((each) => [nameOf(each), each.value]));
      const expected = parts.map(({ value }) => value);
      expectTorch(parts.map((each) => values.get(nameOf(each))), expected, 'parts'); // prettier-ignore
    });
  });
}

// @build each
// Gradients of a difference of logits by activations: what a small edit of the same weights does, and what a sweep measures.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { load } from 'qkv/models';
import { init } from 'qkv/train';
import { random } from '../../support/js/arrays.js';
import { expectSame, expectThrows } from '../../support/js/check.js';

const engine = await init();
after(() => engine.dispose());

const vocabulary = 12;
const llama = {
  ...{ vocabulary, numLayers: 2, dModel: 16, numHeads: 4, numKvHeads: 2, dFeedForward: 24 },
  ...{ maxLength: 12, normType: 'rms', activation: 'swiglu', positions: 'rotary', qkNorm: true },
};
const places = ['embed', 'q', 'k', 'v', 'z', 'attention', 'middle', 'neurons', 'feedForward', 'residual']; // prettier-ignore
const ids = [3, 1, 4, 1, 5, 9];

/** A trainer with random weights, and the model of qkv/models with the same. */
async function world(config = llama, change = () => {}) {
  const trainer = engine.languageModel(config, { seed: 7, deviation: 0.3 });
  change(trainer.parameters());
  const model = await load(engine, { weights: new Blob([trainer.save()]) }, { format: 'f32' });
  return { trainer, model, own: trainer.model };
}

describe('gradients', () => {
  test('gradients: value, activations, and what an edit along each gradient does', async () => {
    const { own, model } = await world();
    const [answer, instead, row] = [2, 7, 4];
    const difference = (edit) => {
      const { data } = model.forward(ids, { edit }).logits;
      return data[row * vocabulary + answer] - data[row * vocabulary + instead];
    };
    const read = [...places, 'final'].map((site) => ({ site }));
    const { value, activations, gradients } = own.gradients(ids, { answer, instead, row, read });
    const there = model.forward(ids, { read }).activations;
    // Logits of about 10, each a sum of some dozen roundings.
    assert.ok(Math.abs(value - difference([])) < 1e-4, `${value}`);
    for (const site of places) {
      for (const layer of site === 'embed' ? [undefined] : [0, 1]) {
        const name = `${site} ${layer}`;
        const x = activations.get(site, layer);
        const g = gradients.get(site, layer);
        assert.deepEqual([x.shape, g.shape], [x.shape, x.shape], name);
        const model32 = there.get(site, layer);
        assert.deepEqual(x.shape, model32.shape, name);
        x.data.forEach((a, i) => assert.ok(Math.abs(a - model32.data[i]) < 1e-4, `${name} ${i}`));
        const squares = g.data.reduce((sum, each) => sum + each * each, 0);
        const h = 0.01 / squares;
        const add = { data: g.data.map((each) => each * h), shape: g.shape };
        const edit = { site, add, ...(layer !== undefined && { layer }) };
        // A step of h |g|^2 = 0.01, but for its curvature and rounding.
        const changed = difference([edit]) - value;
        assert.ok(Math.abs(changed - 0.01) < 1e-3, `${name}: ${changed}`);
      }
    }
    assert.deepEqual(gradients.get('final').shape, [1, 6, 16]);
  });

  test('gradients: some layers and rows are parts of all', async () => {
    const { own } = await world();
    const ask = { answer: 2, instead: 7 };
    const all = own.gradients(ids, { ...ask, read: [{ site: 'residual' }, { site: 'z' }] });
    const read = [{ site: 'residual', layers: [1], rows: [2, 4] }, { site: 'z', rows: [5, 6] }]; // prettier-ignore
    const some = own.gradients(ids, { ...ask, row: 5, read });
    assert.equal(some.value, all.value);
    const residual = some.gradients.get('residual', 1);
    assert.deepEqual(residual.shape, [1, 2, 16]);
    expectSame(residual.data, all.gradients.get('residual', 1).data.slice(32, 64));
    const z = some.gradients.get('z', 0);
    assert.deepEqual(z.shape, [1, 4, 1, 4]);
    const whole = all.gradients.get('z', 0).data;
    expectSame(z.data, Float32Array.from({ length: 16 }, (_, i) => whole[(Math.floor(i / 4) * 6 + 5) * 4 + (i % 4)])); // prettier-ignore
    expectThrows(() => some.gradients.get('residual', 0), 'Activations.get', 'out_of_range', '"residual" of layer 0 was not read'); // prettier-ignore
  });

  test('gradients: those of parameters stay as they were, and steps learn the same', async () => {
    const batch = { ids, targets: [1, 4, 1, 5, 9, 2], batch: 1 };
    const [asked, other] = [await world(), await world()];
    const { names, gradient } = asked.trainer.parameters();
    asked.trainer.differentiate(batch);
    const before = names.map((name) => gradient(name).data);
    asked.own.gradients(ids, { answer: 1, read: [{ site: 'embed' }] });
    names.forEach((name, i) => expectSame(gradient(name).data, before[i]));
    for (const { trainer } of [asked, other]) trainer.step(batch);
    assert.deepEqual(asked.trainer.save({ optimizer: true }), other.trainer.save({ optimizer: true })); // prettier-ignore
  });

  test('gradients: what is wrong is refused by its name', async () => {
    const { own, trainer } = await world({ ...llama, dFeedForward: 0 });
    const right = { answer: 1, instead: 2, read: [{ site: 'z' }] };
    const cases = [
      [[], right, 'shape_mismatch', 'ids has 0 elements'],
      [[12], right, 'out_of_range', 'ids[0] is 12'],
      [Array(13).fill(1), right, 'out_of_range', 'ids has rows of 13 tokens'],
      [ids, { ...right, answer: 12 }, 'out_of_range', 'answer is 12'],
      [ids, { ...right, answer: undefined }, 'invalid_argument', 'answer is undefined'],
      [ids, { ...right, instead: -1 }, 'out_of_range', 'instead is -1'],
      [ids, { ...right, row: 6 }, 'out_of_range', 'row is 6'],
      [ids, { ...right, read: undefined }, 'invalid_argument', 'read is undefined'],
      [ids, { ...right, read: 'z' }, 'invalid_argument', 'read is "z"'],
      [ids, { ...right, reed: [] }, 'invalid_argument', 'read'],
      [ids, { ...right, read: [{ site: 'weights' }] }, 'invalid_argument', 'read[0].site is "weights"'],
      [ids, { ...right, read: [{ site: 'middle' }] }, 'unsupported', "read[0].site is 'middle'"],
      [ids, { ...right, read: [{ site: 'z', layers: [2] }] }, 'out_of_range', 'read[0].layers[0] is 2'],
      [ids, { ...right, read: [{ site: 'embed', layers: [0] }] }, 'invalid_argument', 'read[0].layers'],
      [ids, { ...right, read: [{ site: 'z', rows: [3, 7] }] }, 'out_of_range', 'read[0].rows[1] is 7'],
      [ids, { ...right, read: [{ site: 'z' }, { site: 'z', layers: [1] }] }, 'invalid_argument', "asks for 'z' of layer 1"],
    ]; // prettier-ignore
    for (const [tokens, options, code, text] of cases) {
      expectThrows(() => own.gradients(tokens, options), 'TrainedModel.gradients', code, text);
    }
    trainer.dispose();
    expectThrows(() => own.gradients(ids, right), 'TrainedModel.gradients', 'disposed', 'disposed'); // prettier-ignore
  });
});

describe('attributionPatching', () => {
  /** Tokens 4 and 5 have embeddings that differ little, so that what a patch does is almost linear. */
  function bringTogether({ value, set }) {
    const { data, shape } = value('embedding');
    const next = random(3);
    const [, width] = shape;
    for (let i = 0; i < width; ++i) data[5 * width + i] = data[4 * width + i] + 0.003 * next();
    set('embedding', { data, shape });
  }
  const asked = { clean: [3, 1, 4, 1, 9], corrupt: [3, 1, 5, 1, 9], answer: 2, instead: 7 };

  for (const site of ['residual', 'attention', 'feedForward', 'z']) {
    test(`attributionPatching: prompts that differ little have the grid of a sweep: ${site}`, async () => {
      const { own, model } = await world(llama, bringTogether);
      const estimate = own.attributionPatching({ ...asked, site });
      const { grid, clean, corrupt } = await model.sweep({ ...asked, site });
      assert.ok(Math.abs(estimate.clean - clean) < 1e-4 && Math.abs(estimate.corrupt - corrupt) < 1e-4); // prettier-ignore
      assert.deepEqual(estimate.grid.shape, grid.shape);
      const most = Math.max(...grid.data.map(Math.abs));
      assert.ok(most > 0.1, `${most}`);
      // Logits of size 3 round by 1e-6, of a span of some hundredths; the rest is curvature.
      const allowed = 0.01 * most + 1e-5 / Math.abs(clean - corrupt);
      assert.ok(allowed < 0.1 * most, `${allowed}`);
      grid.data.forEach((x, i) => assert.ok(Math.abs(x - estimate.grid.data[i]) < allowed, `${i}: ${estimate.grid.data[i]} for ${x}`)); // prettier-ignore
    });
  }

  test('attributionPatching: what is wrong is refused by its name', async () => {
    const { own } = await world({ ...llama, dFeedForward: 0 });
    const right = { ...asked, site: 'z' };
    const cases = [
      [{ ...right, clean: [1, 2] }, 'shape_mismatch', 'corrupt has 5 tokens and clean 2'],
      [{ ...right, clean: 'text' }, 'invalid_argument', 'clean'],
      [{ ...right, corrupt: [12, 1, 1, 1, 1] }, 'out_of_range', 'ids[0] is 12'],
      [{ ...right, answer: 12 }, 'out_of_range', 'answer is 12'],
      [{ ...right, instead: undefined }, 'invalid_argument', 'instead is undefined'],
      [{ ...right, site: 'neurons' }, 'invalid_argument', 'site is "neurons"'],
      [{ ...right, site: 'feedForward' }, 'unsupported', "site is 'feedForward'"],
      [{ ...right, with: 'zero' }, 'invalid_argument', 'with'],
      [{ ...right, corrupt: right.clean }, 'invalid_argument', 'expected two numbers that differ'],
      [{ ...right, instead: 2 }, 'invalid_argument', 'expected two numbers that differ'],
    ];
    for (const [options, code, text] of cases) {
      expectThrows(() => own.attributionPatching(options), 'TrainedModel.attributionPatching', code, text); // prettier-ignore
    }
  });
});

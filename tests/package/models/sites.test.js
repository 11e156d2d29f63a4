// @build each
// Places of a pass: what is read there, and what a change of it does, against the formulas in float64.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { init } from 'qkv';
import { create } from 'qkv/models';
import { random } from '../../support/js/arrays.js';
import { expectClose, expectSame, expectThrows } from '../../support/js/check.js';
import { initAsTold } from '../../support/js/files.js';
import { boundOf, kinds, pairs, rowsOf, sizeIn } from '../../support/js/model-kinds.js';
import { modelForward, randomWeights } from '../../support/js/model-oracle.js';
import { unreadable } from '../../support/js/unreadable.js';

const engine = await initAsTold(init);
after(() => engine.dispose());

const [batch, tokens] = [2, 9];

const ofLayers = [
  ...['q', 'k', 'v', 'scores', 'weights', 'z', 'heads', 'attention', 'middle', 'neurons'],
  ...['feedForward', 'residual', 'cross'],
];

/** The places that a model has. */
const placesOf = ({ parallelResidual, dFeedForward, numExperts = 0, encoderLayers = 0 }) =>
  ofLayers.filter((site) => {
    if (site === 'middle') return dFeedForward > 0 && !parallelResidual;
    if (site === 'neurons') return dFeedForward > 0 && numExperts === 0;
    return { feedForward: dFeedForward > 0, cross: encoderLayers > 0 }[site] ?? true;
  });

/** The shape that is at a place. */
function shapeAt(site, { numHeads, numKvHeads, dK, dModel, dFeedForward }) {
  const rows = (width) => [batch, tokens, width];
  const heads = (count, width) => [batch, count, tokens, width];
  const ofSite = {
    ...{ q: heads(numHeads, dK), k: heads(numKvHeads, dK), v: heads(numKvHeads, dK) },
    ...{ scores: heads(numHeads, tokens), weights: heads(numHeads, tokens) },
    ...{ z: heads(numHeads, dK), heads: heads(numHeads, dModel), neurons: rows(dFeedForward) },
  };
  return ofSite[site] ?? rows(dModel);
}

/** Every place, of all layers, is what the formulas say. */
function expectSites(activations, sites, config, filled) {
  const layers = Array.from({ length: config.numLayers }, (_, layer) => layer);
  const places = [...placesOf(config).flatMap((site) => layers.map((layer) => [site, layer])), ['embed'], ['final']]; // prettier-ignore
  for (const [site, layer] of places) {
    const { data, shape } = activations.get(site, layer);
    const expected = sites.arrays.get(`${site} ${layer ?? 0}`);
    assert.deepEqual(shape, shapeAt(site, filled), site);
    const size = sizeIn(Array.from(expected).filter(Number.isFinite));
    const what = `${site} of layer ${layer}`;
    expectClose(data, expected, boundOf(config, Math.max(size, 1)), {
      size: Math.max(size, 1),
      what,
    });
  }
}

const next = random(3);
const numbers = (length) => Float32Array.from({ length }, () => next());

/** Changes of every place of layer 0 or 1 that a model has: numbers, vectors and arrays; of parts, and of all. */
function editsOf(config, { dK, numKvHeads, dModel, dFeedForward }) {
  const all = [
    { site: 'embed', rows: [0, 2], columns: [1, 5], add: numbers(4) },
    { site: 'q', layer: 0, head: 3, scale: 0.5, add: 0.25 },
    { site: 'k', layer: 0, head: numKvHeads - 1, rows: [2, 4], value: numbers(dK) },
    { site: 'v', layer: 1, batch: [1, 2], add: { data: numbers(numKvHeads * tokens * dK), shape: [numKvHeads, tokens, dK] } },
    { site: 'scores', layer: 0, head: 1, rows: [5, 6], keys: [2, 3], value: -Infinity },
    { site: 'scores', layer: 1, head: 2, keys: [0, 3], add: numbers(3) },
    { site: 'weights', layer: 1, head: 0, rows: [4, 6], scale: 0.5 },
    { site: 'z', layer: 0, head: 2, value: 0 },
    { site: 'z', layer: 1, head: 1, rows: [3, 5], value: numbers(batch * 2 * dK) },
    { site: 'attention', layer: 0, rows: [1, 2], scale: 2, add: 0.125 },
    { site: 'middle', layer: 1, batch: [0, 1], add: numbers(dModel) },
    { site: 'neurons', layer: 0, columns: [3, 9], rows: [0, 4], value: 0.5 },
    { site: 'neurons', layer: 1, scale: 0.5 },
    { site: 'feedForward', layer: 1, rows: [8, 9], add: { data: numbers(dModel), shape: [dModel] } },
    { site: 'residual', layer: 0, rows: [2, 3], batch: [1, 2], value: numbers(dModel) },
    { site: 'residual', layer: 0, add: numbers(dModel) },
    { site: 'cross', layer: 1, rows: [0, 3], scale: 0.5 },
  ]; // prettier-ignore
  const has = ['embed', ...placesOf(config)];
  return all.filter(({ site }) => has.includes(site) && (site !== 'neurons' || dFeedForward > 0));
}

for (const [name, config] of Object.entries({ ...kinds, ...pairs })) {
  describe(`places of a model as ${name}`, () => {
    const weights = randomWeights(config, 5);
    const model = create(engine, config, weights);
    after(() => model.dispose());
    const ids = rowsOf(config, batch * tokens);
    const source = config.encoderLayers > 0 ? rowsOf(config, batch * 5, 2) : undefined;
    const sessionOf = () => source && model.session({ batch, source });
    const read = [...placesOf(config), 'embed', 'final'].map((site) => ({ site }));

    test(`${name}: every place is what the formulas say`, () => {
      const session = sessionOf();
      const { activations } = model.forward(ids, { batch, read, session });
      const { sites } = modelForward(config, weights, ids, { batch, source });
      expectSites(activations, sites, config, model.config);
      session?.dispose();
    });

    test(`${name}: changes of every place, alone and together, do what the formulas say`, () => {
      const edits = editsOf(config, model.config);
      for (const edit of [...edits.map((one) => [one]), edits]) {
        const session = sessionOf();
        const { hidden, activations } = model.forward(ids, { batch, read, edit, session, hidden: true }); // prettier-ignore
        const expected = modelForward(config, weights, ids, { batch, source, edit });
        expectSites(activations, expected.sites, config, model.config);
        const size = sizeIn(expected.hidden);
        expectClose(hidden.data, expected.hidden, boundOf(config, size), { size });
        session?.dispose();
      }
    });
  });
}

for (const [name, config] of Object.entries(pairs)) {
  describe(`places of the encoder of ${name}`, () => {
    const weights = randomWeights(config, 5);
    const model = create(engine, config, weights);
    after(() => model.dispose());
    const ids = rowsOf(config, batch * 3);
    const source = rowsOf(config, batch * tokens, 2);
    const alone = { ...config, numLayers: config.encoderLayers, encoderLayers: 0 };
    const read = [...placesOf(alone), 'embed', 'final'].map((site) => ({ site }));

    test(`${name}: what the encoder does for a session is what the formulas say`, () => {
      const session = model.session({ batch, source, read });
      const { sourceSites } = modelForward(config, weights, ids, { batch, source });
      expectSites(session.activations, sourceSites, alone, model.config);
      session.dispose();
    });

    test(`${name}: changes of the encoder's pass, alone and together, reach the decoder`, () => {
      const edits = editsOf(alone, model.config).filter(({ layer = 0 }) => layer < alone.numLayers);
      for (const edit of [...edits.map((one) => [one]), edits]) {
        const session = model.session({ batch, source, read, edit });
        const { hidden } = model.forward(ids, { batch, session, hidden: true });
        const expected = modelForward(config, weights, ids, { batch, source, sourceEdit: edit });
        expectSites(session.activations, expected.sourceSites, alone, model.config);
        const size = sizeIn(expected.hidden);
        expectClose(hidden.data, expected.hidden, boundOf(config, size), { size });
        session.dispose();
      }
    });

    test(`${name}: without read a session has no activations, and readings change no bit`, () => {
      const [plain, session] = [model.session({ batch, source }), model.session({ batch, source, read })]; // prettier-ignore
      assert.equal('activations' in plain, false);
      const [one, other] = [plain, session].map((each) =>
        model.forward(ids, { batch, session: each }),
      );
      expectSame(other.logits.data, one.logits.data);
      for (const each of [plain, session]) each.dispose();
    });
  });
}

describe('places of a pass', () => {
  const config = kinds.gpt2;
  const weights = randomWeights(config, 5);
  const model = create(engine, config, weights);
  after(() => model.dispose());
  const ids = rowsOf(config, batch * tokens);

  test('inspect has the bits of read, and heads that it takes out those of an edit', () => {
    const inspect = { weights: true, residuals: true, projections: true, ablate: [[0, 1]] };
    const { layers, logits } = model.forward(ids, { batch, inspect });
    const edit = [{ site: 'z', layer: 0, head: 1, value: 0 }];
    const places = { weights: 'weights', residual: 'residual', q: 'q', k: 'k', v: 'v' };
    const read = Object.values(places).map((site) => ({ site }));
    const own = model.forward(ids, { batch, read, edit });
    expectSame(own.logits.data, logits.data);
    for (const [name, site] of Object.entries(places)) {
      for (const layer of [0, 1]) {
        expectSame(own.activations.get(site, layer).data, layers.get(layer)[name].data, name);
      }
    }
  });

  test('readings change no bit, and rows are those that are asked for', () => {
    const plain = model.forward(ids, { batch });
    const read = [{ site: 'z', layers: [1], rows: [4, 6] }, { site: 'residual' }];
    const { logits, activations } = model.forward(ids, { batch, read });
    expectSame(logits.data, plain.logits.data);
    const all = model.forward(ids, { batch, read: [{ site: 'z' }] }).activations.get('z', 1);
    const part = activations.get('z', 1);
    assert.deepEqual(part.shape, [batch, 4, 2, 4]);
    const row = (b, h, i) => ((b * 4 + h) * tokens + i) * 4;
    for (let n = 0; n < batch * 4; ++n) {
      const from = row(Math.floor(n / 4), n % 4, 4);
      expectSame(part.data.slice(n * 8, n * 8 + 8), all.data.slice(from, from + 8));
    }
  });

  test('an edge that is cut without a head is cut in all, by scores and by weights', () => {
    const edge = { layer: 1, rows: [6, 7], keys: [2, 3] };
    const read = [{ site: 'weights', layers: [1] }];
    const plain = model.forward(ids, { batch, read }).activations.get('weights', 1).data;
    const cuts = [{ ...edge, site: 'scores', value: -Infinity }, { ...edge, site: 'weights', value: 0 }]; // prettier-ignore
    for (const cut of cuts) {
      const edit = [cut];
      const { activations, logits } = model.forward(ids, { batch, read, edit });
      const { data, shape } = activations.get('weights', 1);
      assert.deepEqual(shape, [batch, 4, tokens, tokens]);
      data.forEach((w, at) => {
        const [key, row] = [at % tokens, Math.floor(at / tokens) % tokens];
        if (row !== 6) assert.equal(w, plain[at]);
        else if (key === 2) assert.equal(w, 0);
        else if (key < 6)
          assert.ok(
            cut.site === 'scores' ? w > plain[at] : Math.abs(w - plain[at]) < 1e-6,
            `${at}`,
          );
      });
      const expected = modelForward(config, weights, ids, { batch, edit }).logits;
      const size = sizeIn(expected);
      expectClose(logits.data, expected, boundOf(config, size), { size });
    }
  });

  test('a later edit of one place is made of what the earlier one left', () => {
    const site = 'residual';
    const two = [{ site, layer: 0, add: 1 }, { site, layer: 0, scale: 2 }]; // prettier-ignore
    const read = [{ site, layers: [0] }];
    const plain = model.forward(ids, { batch, read }).activations.get(site, 0).data;
    const both = model.forward(ids, { batch, read, edit: two }).activations.get(site, 0).data;
    const other = model.forward(ids, { batch, read, edit: two.reverse() }).activations.get(site, 0);
    expectSame(both, plain.map((x) => Math.fround(x + 1) * 2)); // prettier-ignore
    expectSame(other.data, plain.map((x) => Math.fround(x * 2) + 1)); // prettier-ignore
  });

  test('a value that cannot be read is refused by name', () => {
    const edit = [{ site: 'z', layer: 0, value: unreadable() }];
    expectThrows(() => model.forward(ids, { edit }), 'LanguageModel.forward', 'invalid_argument', 'edit[0].value cannot be read'); // prettier-ignore
  });

  test('the loss of a changed model is that of its logits', () => {
    const edit = [{ site: 'z', layer: 1, head: 2, value: 0 }];
    const { logits } = modelForward(config, weights, ids, { batch, edit });
    const width = config.vocabulary;
    let nats = 0;
    for (let b = 0; b < batch; ++b) {
      for (let i = 0; i + 1 < tokens; ++i) {
        const row = logits.slice((b * tokens + i) * width, (b * tokens + i + 1) * width);
        const sum = row.reduce((total, x) => total + Math.exp(x), 0);
        nats += Math.log(sum) - row[ids[b * tokens + i + 1]];
      }
    }
    const expected = nats / batch / (tokens - 1);
    assert.ok(Math.abs(model.loss(ids, { batch, edit }) - expected) < 1e-5);
    assert.ok(Math.abs(model.loss(ids, { batch }) - expected) > 1e-4);
  });

  test('what is asked for of no layer, or not at all, is not there', () => {
    const { activations } = model.forward(ids, { batch, read: [] });
    assert.throws(() => activations.get('z', 0), {
      code: 'out_of_range',
      message: /"z" of layer 0/,
    });
    assert.equal('activations' in model.forward(ids, { batch }), false);
  });
});

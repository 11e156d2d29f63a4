// @build each
// What takes a model apart: attribution, sweeps, scores of heads, weights by what they bring, and the lens, against formulas in float64.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { init } from 'qkv';
import { charactersTokenizer, create } from 'qkv/models';
import { expectClose, expectRejects, expectThrows } from '../../support/js/check.js';
import { initAsTold } from '../../support/js/files.js';
import { boundOf, kinds, pairs, rowsOf, sizeIn } from '../../support/js/model-kinds.js';
import { modelForward, randomWeights } from '../../support/js/model-oracle.js';

const engine = await initAsTold(init);
after(() => engine.dispose());

/** A small model, its weights, and a row of tokens for it. */
function world(name, changes = {}) {
  const config = { ...kinds[name], ...changes };
  const weights = randomWeights(config, 5);
  return { config, weights, model: create(engine, config, weights), ids: rowsOf(config, 9) };
}

const withHead = Object.keys(kinds).filter((name) => kinds[name].head !== false);
const sum = (list) => list.reduce((total, x) => total + x, 0);

describe('attribute', () => {
  for (const name of withHead) {
    test(`${name}: the parts add up to the difference of two logits`, () => {
      const { config, weights, model, ids } = world(name, { logitSoftcap: 0 });
      const [answer, instead, row] = [3, 8, 5];
      const { parts, total } = model.attribute(ids, { answer, instead, row });
      const { logits } = modelForward(config, weights, ids);
      const at = (id) => logits[row * config.vocabulary + id];
      const size = sizeIn(logits);
      expectClose([total], [at(answer) - at(instead)], 2 * boundOf(config, size), { size });
      const values = parts.map(({ value }) => value);
      // Of the bound 2^-51 (n + 8) S, with the sizes of the parts in place of S, which is at least that; the worst of 20 models of each kind
      // is 0.016 of it.
      const n = (config.numLayers + 2) * Math.max(config.dModel, 4 * model.config.dK);
      const bound = 0.024 * 2 ** -51 * (n + 8) * sum(values.map(Math.abs));
      assert.ok(Math.abs(sum(values) - total) <= bound, `${sum(values)} ${total}`);
      const heads = parts.filter(({ part }) => part === 'head');
      assert.deepEqual(
        heads.map(({ layer, head }) => [layer, head]),
        [0, 1].flatMap((layer) => [0, 1, 2, 3].map((head) => [layer, head])),
      );
      model.dispose();
    });
  }

  test('a head gives its z W_O through the last norm, whose scale is held', () => {
    const { config, weights, model, ids } = world('llama');
    const [answer, instead] = [3, 8];
    const { parts } = model.attribute(ids, { answer, instead });
    const { sites } = modelForward(config, weights, ids);
    const { dModel, vocabulary } = config;
    const [last, heads] = [sites.arrays.get('residual 1').slice(8 * dModel), 4];
    const scale = Math.sqrt(sum(Array.from(last, (x) => x * x)) / dModel + Math.fround(1e-6));
    const { gamma, head } = { gamma: weights['norm.gamma'].data, head: weights.head.data };
    const down = Array.from(gamma, (g, i) => {
      return (g * (head[i * vocabulary + answer] - head[i * vocabulary + instead])) / scale;
    });
    const dot = (x) => sum(Array.from(x, (each, i) => each * down[i]));
    for (const [layer, h] of [
      [0, 1],
      [1, 3],
    ]) {
      // prettier-ignore
      const given = sites.arrays.get(`heads ${layer}`);
      const from = (h * 9 + 8) * dModel;
      const expected = dot(given.slice(from, from + dModel));
      const { value } = parts.find((each) => each.layer === layer && each.head === h);
      expectClose([value], [expected], boundOf(config, 1), { size: 1 });
    }
    const embed = dot(sites.arrays.get('embed 0').slice(8 * dModel));
    expectClose([parts[0].value], [embed], boundOf(config, 1), { size: 1 });
    const ofLayer = sites.arrays.get('feedForward 1').slice(8 * dModel);
    const { value } = parts.find((each) => each.part === 'feedForward' && each.layer === 1);
    expectClose([value], [dot(ofLayer)], boundOf(config, 1), { size: 1 });
    assert.equal(heads, config.numHeads);
    model.dispose();
  });

  test('edits count, one logit is one, and a head that is taken out gives nothing', () => {
    const { model, ids } = world('gpt2');
    const edit = [{ site: 'z', layer: 1, head: 2, value: 0 }];
    const { parts, total } = model.attribute(ids, { answer: 4, edit });
    const { logits } = model.forward(ids, { rows: 'last', edit });
    assert.ok(Math.abs(total - logits.data[4]) < 1e-5);
    assert.equal(parts.find(({ layer, head }) => layer === 1 && head === 2).value, 0);
    model.dispose();
  });

  test('a model with an encoder needs a session, and has cross-attention', () => {
    const config = pairs['flan-t5'];
    const model = create(engine, config, randomWeights(config, 5));
    const session = model.session({ source: [3, 4, 5] });
    const { parts, total } = model.attribute([0, 7], { answer: 1, instead: 2, session });
    assert.equal(parts.filter(({ part }) => part === 'cross').length, 2);
    assert.ok(Math.abs(sum(parts.map(({ value }) => value)) - total) < 1e-9);
    assert.equal(session.length, 2);
    model.dispose();
  });
});

describe('sweep', () => {
  /** Where each cell of the grid changes a pass, by the words of the documentation. */
  function cellsOf({ site, layer: own }, { numLayers, numHeads, dFeedForward }, tokens, block) {
    const upTo = (n) => Array.from({ length: n }, (_, i) => i);
    if (site === 'neurons')
      return upTo(tokens).map((t) =>
        upTo(Math.ceil(dFeedForward / block)).map((i) => {
          const columns = [i * block, Math.min(dFeedForward, (i + 1) * block)];
          return { site, layer: own, rows: [t, t + 1], columns };
        }),
      );
    return upTo(numLayers).map((layer) =>
      site === 'z'
        ? upTo(numHeads).map((head) => ({ site, layer, head }))
        : upTo(tokens).map((t) => ({ site, layer, rows: [t, t + 1] })),
    );
  }

  /** The numbers of a place [1, heads, T, width] or [1, T, width] that a cell changes. */
  function partOf(
    { data, shape },
    { head, rows = [0, shape.at(-2)], columns = [0, shape.at(-1)] },
  ) {
    const [tokens, width] = shape.slice(-2);
    const numbers = [];
    for (let i = rows[0]; i < rows[1]; ++i) {
      const at = ((head ?? 0) * tokens + i) * width;
      numbers.push(...data.slice(at + columns[0], at + columns[1]));
    }
    return Float32Array.from(numbers);
  }

  for (const name of ['gpt2', 'llama', 'gpt-neox', 'sinusoidal', 'gemma3', 'olmo2', 'experts']) {
    const sites = ['residual', 'attention', 'feedForward', 'z', 'neurons'];
    for (const site of sites.filter((each) => each !== 'neurons' || name !== 'experts')) {
      test(`${name}: a sweep of ${site} equals as many plain passes`, async () => {
        const { config, model, ids: clean } = world(name);
        const corrupt = clean.map((id, i) => (i === 3 ? (id + 1) % config.vocabulary : id));
        const options = { clean, corrupt, answer: 3, instead: 8, site };
        const more = site === 'neurons' ? { layer: 1, block: 10 } : {};
        const measureOf = (ids, edit) => {
          const { data } = model.forward(ids, { rows: 'last', edit }).logits;
          return data[3] - data[8];
        };
        const [high, low] = [measureOf(clean), measureOf(corrupt)];
        const other = rowsOf(config, 5, 4);
        for (const stands of ['clean', 'zero', { mean: other }]) {
          const done = [];
          const onProgress = (progress) => done.push(progress);
          const swept = await model.sweep({ ...options, ...more, with: stands, onProgress });
          assert.deepEqual([swept.clean, swept.corrupt], [high, low]);
          const from = stands === 'clean' ? clean : other;
          const { activations } = model.forward(from, { read: [{ site }] });
          const cells = cellsOf({ site, ...more }, config, clean.length, 10);
          assert.deepEqual(swept.grid.shape, [cells.length, cells[0].length]);
          const expected = cells.flat().map((cell) => {
            const read = activations.get(site, cell.layer);
            const meanOf = () => {
              const all = partOf(read, { ...cell, rows: undefined });
              const width = all.length / other.length;
              return Float32Array.from({ length: width }, (_, i) => {
                return sum(Array.from(other, (_, t) => all[t * width + i])) / other.length;
              });
            };
            const value =
              stands === 'zero' ? 0 : stands === 'clean' ? partOf(read, cell) : meanOf();
            return (measureOf(corrupt, [{ ...cell, value }]) - low) / (high - low);
          });
          const size = sizeIn(expected);
          const bound = 4 * boundOf(config, sizeIn([high, low, 1]) / Math.abs(high - low));
          expectClose(swept.grid.data, expected, bound, { size: Math.max(size, 64 * bound) });
          const { length } = swept.grid.data;
          assert.deepEqual(done.at(-1), { done: length, of: length });
          assert.ok(done.every((each, i) => i === 0 || each.done > done[i - 1].done));
        }
        model.dispose();
      });
    }
  }

  /** Changes that act before, at and after what a sweep restores, of all kinds of operands. */
  const changesOf = ({ dModel }, length) => [
    { site: 'embed', rows: [1, 3], scale: 2 },
    { site: 'attention', layer: 0, add: Float32Array.from({ length: dModel }, (_, i) => i / 32) },
    { site: 'scores', layer: 0, rows: [5, 6], keys: [2, 3], value: -Infinity },
    { site: 'residual', layer: 0, rows: [0, 4], scale: 0.5 },
    { site: 'z', layer: 1, head: 2, value: 0 },
    ...(length > 0
      ? [{ site: 'residual', layer: 1, add: Float32Array.from({ length: length * dModel }, (_, i) => (i % 7) / 16) }]
      : []),
  ]; // prettier-ignore

  for (const site of ['residual', 'attention', 'feedForward', 'z', 'neurons']) {
    test(`a sweep of ${site} with edits is that of the changed model: as many passes with the edits before the patch`, async () => {
      const { config, model, ids: clean } = world('gpt2');
      const corrupt = clean.map((id, i) => (i === 3 ? (id + 1) % config.vocabulary : id));
      const more = site === 'neurons' ? { layer: 1, block: 10 } : {};
      const other = rowsOf(config, 5, 4);
      for (const stands of ['clean', 'zero', { mean: other }]) {
        const edit = changesOf(config, stands.mean ? 0 : clean.length);
        const measureOf = (ids, added = []) => {
          const { logits } = model.forward(ids, { rows: 'last', edit: [...edit, ...added] });
          return logits.data[3] - logits.data[8];
        };
        const [high, low] = [measureOf(clean), measureOf(corrupt)];
        const swept = await model.sweep({ clean, corrupt, answer: 3, instead: 8, site, ...more, with: stands, edit }); // prettier-ignore
        assert.deepEqual([swept.clean, swept.corrupt], [high, low]);
        const cut = (each) => ({ ...each, ...(each.rows && { rows: [each.rows[0], Math.min(each.rows[1], 5)] }) }); // prettier-ignore
        const own = stands.mean ? edit.filter(({ rows }) => !rows || rows[0] < 5).map(cut) : edit;
        const from = stands.mean ? other : clean;
        const { activations } = model.forward(from, { read: [{ site }], edit: own });
        const cells = cellsOf({ site, ...more }, config, clean.length, 10).flat();
        const expected = cells.map((cell) => {
          const read = activations.get(site, cell.layer);
          const all = stands.mean && partOf(read, { ...cell, rows: undefined });
          const value = stands === 'zero' ? 0 : !stands.mean ? partOf(read, cell)
            : Float32Array.from({ length: all.length / 5 }, (_, i, width = all.length / 5) =>
                sum(Array.from(other, (_, t) => all[t * width + i])) / 5); // prettier-ignore
          return (measureOf(corrupt, [{ ...cell, value }]) - low) / (high - low);
        });
        const bound = 4 * boundOf(config, sizeIn([high, low, 1]) / Math.abs(high - low));
        expectClose(swept.grid.data, expected, bound, {
          size: Math.max(sizeIn(expected), 64 * bound),
        });
      }
      model.dispose();
    });
  }

  test('the last token of the stream after the last layer restores everything, the others nothing', async () => {
    const { config, model, ids: clean } = world('gpt2');
    const corrupt = clean.map((id, i) => (i === 0 ? (id + 1) % config.vocabulary : id));
    const { grid } = await model.sweep({ clean, corrupt, answer: 3, instead: 8, site: 'residual' });
    assert.deepEqual([...grid.data.slice(9)], [0, 0, 0, 0, 0, 0, 0, 0, 1]);
    model.dispose();
  });

  test('it ends when it is aborted, before a pass and between two', async () => {
    const { model, ids } = world('gpt2', { maxLength: 300 });
    const long = Array.from({ length: 300 }, (_, i) => ids[i % 9]);
    const corrupt = [...long];
    corrupt[290] = (corrupt[290] + 1) % 19;
    const options = { clean: long, corrupt, answer: 3, instead: 8, site: 'residual' };
    const aborted = AbortSignal.abort(new Error('not at all'));
    await assert.rejects(model.sweep({ ...options, signal: aborted }), /not at all/);
    const stop = new AbortController();
    let passes = 0;
    const onProgress = () => {
      passes += 1;
      if (passes === 2) stop.abort(new Error('enough'));
    };
    await assert.rejects(model.sweep({ ...options, signal: stop.signal, onProgress }), /enough/);
    assert.equal(passes, 2);
    const thrown = () => {
      throw new Error('of the caller');
    };
    await assert.rejects(model.sweep({ ...options, onProgress: thrown }), /of the caller/);
    const disposing = model.sweep({ ...options, onProgress: () => model.dispose() });
    await expectRejects(disposing, 'LanguageModel.sweep', 'disposed');
  });

  const { config, model, ids: clean } = world('gpt2');
  after(() => model.dispose());
  const corrupt = clean.map((id, i) => (i === 3 ? (id + 1) % config.vocabulary : id));
  const good = { clean, corrupt, answer: 3, instead: 8, site: 'z' };
  const wrong = [
    [{ corrupt: corrupt.slice(0, 7) }, 'shape_mismatch', 'corrupt has 7 tokens and clean 9', 'first differ at token 3'],
    [{ corrupt: [...clean, 1] }, 'shape_mismatch', 'corrupt has 10 tokens', 'token 9', 'no token in clean'],
    [{ corrupt: clean }, 'invalid_argument', 'the measure is', 'two numbers that differ'],
    [{ answer: 19 }, 'out_of_range', 'answer is 19'],
    [{ answer: undefined }, 'invalid_argument', 'answer is undefined'],
    [{ instead: -1 }, 'out_of_range', 'instead is -1'],
    [{ instead: 3 }, 'invalid_argument', 'instead is 3'],
    [{ site: 'q' }, 'invalid_argument', "site is \"q\", expected 'residual'"],
    [{ site: 'neurons' }, 'invalid_argument', 'layer is undefined'],
    [{ site: 'neurons', layer: 2 }, 'out_of_range', 'layer is 2, expected 0 to 1'],
    [{ site: 'neurons', layer: 0, block: 25 }, 'out_of_range', 'block is 25, expected 1 to 24'],
    [{ layer: 1 }, 'invalid_argument', "layer is 1, expected none: site is 'z'"],
    [{ block: 1 }, 'invalid_argument', 'block is 1, expected none'],
    [{ with: 'dirty' }, 'invalid_argument', 'with is "dirty"', "'clean' or 'zero'"],
    [{ with: { median: [1] } }, 'invalid_argument', "with has the unknown key 'median'"],
    [{ with: { mean: [99] } }, 'out_of_range', 'with.mean[0] is 99'],
    [{ clean: [99, 1], corrupt: [1, 2] }, 'out_of_range', 'clean[0] is 99'],
    [{ clean: 'ab' }, 'invalid_argument', 'the model has no tokenizer'],
    [{ signal: 1 }, 'invalid_argument', 'signal is 1'],
    [{ onProgress: 1 }, 'invalid_argument', 'onProgress is 1'],
    [{ edit: [{}] }, 'invalid_argument', 'edit[0].site'],
    [{ edit: [{ site: 'residual', layer: 0, rows: [3, 10], scale: 2 }] }, 'out_of_range', 'edit[0].rows[1] is 10, expected 4 to 9'],
    [{ edit: [{ site: 'residual', layer: 0, add: new Float32Array(9 * 16) }], with: { mean: [1] } }, 'shape_mismatch', 'edit[0].add has 144 elements, expected 16'],
    [{ sites: 'z' }, 'invalid_argument', "unknown key 'sites'"],
  ]; // prettier-ignore
  for (const [changes, code, ...says] of wrong) {
    test(`it refuses ${JSON.stringify(changes)}`, async () => {
      await expectRejects(
        model.sweep({ ...good, ...changes }),
        'LanguageModel.sweep',
        code,
        ...says,
      );
    });
  }
});

describe('lens', () => {
  for (const name of withHead) {
    test(`${name}: the likeliest tokens of every layer, as the formulas have them`, () => {
      const { config, weights, model, ids } = world(name);
      const guesses = model.lens(ids, { top: 4 });
      const { layers } = modelForward(config, weights, ids);
      assert.equal(guesses.length, 2);
      guesses.forEach((rows, layer) => {
        assert.equal(rows.length, ids.length);
        rows.forEach((told, t) => {
          const at = t * config.vocabulary;
          const logits = [...layers[layer].logits.slice(at, at + config.vocabulary)];
          const total = sum(logits.map(Math.exp));
          const order = logits.map((x, id) => [x, id]).sort(([a], [b]) => b - a);
          const expected = order.slice(0, 4).map(([x]) => Math.exp(x) / total);
          expectClose(
            told.map(({ probability }) => probability),
            expected,
            1e-4,
            { size: 1 },
          );
          for (const { id, probability, text } of told) {
            assert.ok(Math.abs(Math.exp(logits[id]) / total - probability) < 1e-4);
            assert.equal(text, '');
          }
        });
      });
      model.dispose();
    });
  }

  test('guesses of a changed model are those of the changed stream', () => {
    const { config, weights, model, ids } = world('llama');
    const edit = [
      { site: 'z', layer: 0, head: 1, value: 0 },
      { site: 'residual', layer: 1, rows: [4, 6], scale: -2 },
    ];
    const guesses = model.lens(ids, { top: 1, edit });
    const { layers } = modelForward(config, weights, ids, { edit });
    guesses.forEach((rows, layer) => {
      rows.forEach(([{ probability }], t) => {
        const logits = [
          ...layers[layer].logits.slice(t * config.vocabulary, (t + 1) * config.vocabulary),
        ];
        const [most, total] = [Math.max(...logits), sum(logits.map(Math.exp))];
        assert.ok(Math.abs(Math.exp(most) / total - probability) < 1e-4, `${layer} ${t}`);
      });
    });
    const plain = model.lens(ids, { top: 1 });
    const likely = (list, layer, t) => list[layer][t][0].probability;
    for (const [layer, t] of [[0, 8], [1, 4], [1, 5]]) {
      assert.ok(Math.abs(likely(plain, layer, t) - likely(guesses, layer, t)) > 1e-4);
    } // prettier-ignore
    model.dispose();
  });

  test('layers are in the order that is asked for, and tokens have texts', () => {
    const config = { ...kinds.gpt2, vocabulary: 4 };
    const tokenizer = charactersTokenizer(['a', 'b', 'c', 'd']);
    const model = create(engine, config, randomWeights(config, 5), { tokenizer });
    const [first, second] = model.lens('abca');
    assert.deepEqual(model.lens('abca', { layers: [1, 0] }), [second, first]);
    assert.deepEqual(model.lens('abca', { layers: [] }), []);
    assert.equal(first[0].length, 4);
    for (const { id, text } of first[0]) assert.equal(text, 'abcd'[id]);
    model.dispose();
  });
});

describe('normWeights', () => {
  test('weights times the length of what they bring', () => {
    for (const name of ['gpt2', 'llama', 'bert', 't5 decoder']) {
      const { config, weights, model, ids } = world(name);
      const { data, shape } = model.normWeights(ids, { layer: 1, rows: [4, 8] });
      assert.deepEqual(shape, [4, 4, 9]);
      const { sites } = modelForward(config, weights, ids);
      const [w, v] = ['weights 1', 'v 1'].map((place) => sites.arrays.get(place));
      const out = weights['layers.1.attention.wo'].data;
      const { dK, dModel } = model.config;
      const shared = 4 / (config.numKvHeads ?? 4);
      const lengthOf = (h, j) => {
        const from = (Math.floor(h / shared) * 9 + j) * dK;
        const y = Array.from({ length: dModel }, (_, i) => {
          return sum(Array.from({ length: dK }, (_, d) => v[from + d] * out[(h * dK + d) * dModel + i])); // prettier-ignore
        });
        return Math.hypot(...y);
      };
      const expected = Array.from({ length: 4 * 4 * 9 }, (_, n) => {
        const [h, i, j] = [Math.floor(n / 36), 4 + (Math.floor(n / 9) % 4), n % 9];
        return w[(h * 9 + i) * 9 + j] * lengthOf(h, j);
      });
      const size = sizeIn(expected);
      expectClose(data, expected, boundOf(config, size), { size });
      model.dispose();
    }
  });
});

describe('headScores', () => {
  /** The scores of a head by their definitions, of weights [T, T]. */
  function scoresOf(ids, weights) {
    const { length } = ids;
    const at = (i, j) => weights[i * length + j];
    const mean = (keysOf) => {
      const rows = ids.map((_, i) => keysOf(i)).map((keys, i) => keys.map((j) => at(i, j)));
      const there = rows.filter((row) => row.length > 0);
      return there.length > 0 ? sum(there.map(sum)) / there.length : 0;
    };
    const before = (i) => ids.map((_, j) => j).filter((j) => j < i);
    const rows = ids.map((_, i) => i).slice(1);
    const entropy = (i) => -sum(before(length).map((j) => (at(i, j) > 0 ? at(i, j) * Math.log(at(i, j)) : 0))); // prettier-ignore
    return {
      previous: mean((i) => (i > 0 ? [i - 1] : [])),
      first: mean((i) => (i > 0 ? [0] : [])),
      duplicate: mean((i) => before(i).filter((j) => ids[j] === ids[i])),
      induction: mean((i) => before(i).filter((j) => j > 0 && ids[j - 1] === ids[i])),
      evenness: sum(rows.map(entropy)) / sum(rows.map((i) => Math.log(i + 1))),
    };
  }

  for (const name of ['gpt2', 'llama', 'gpt-neox']) {
    test(`${name}: every score is what its definition says`, () => {
      const { config, weights, model } = world(name);
      const text = [4, 7, 1, 9, 4, 7, 1, 9, 9, 2];
      const scores = model.headScores({ text });
      const { sites } = modelForward(config, weights, text);
      assert.equal(scores.length, 8);
      scores.forEach(({ layer, head, copying, ...rest }, n) => {
        assert.deepEqual([layer, head], [Math.floor(n / 4), n % 4]);
        const all = sites.arrays.get(`weights ${layer}`);
        const expected = scoresOf(text, all.slice(head * 100, (head + 1) * 100));
        assert.deepEqual(Object.keys(rest).sort(), Object.keys(expected).sort());
        for (const [each, value] of Object.entries(expected)) {
          assert.ok(Math.abs(rest[each] - value) < 1e-5, `${each}: ${rest[each]} ${value}`);
        }
        assert.ok(Math.abs(copying) <= 1);
      });
      model.dispose();
    });
  }

  test('copying is the place of the own logit among all, over the different tokens', () => {
    const config = { ...kinds['attention alone'], numLayers: 1, biases: false, normType: 'rms' };
    const weights = randomWeights(config, 5);
    const model = create(engine, config, weights);
    const text = [4, 7, 4, 11];
    const { dModel: d, vocabulary: V } = config;
    const through = (x, { data, shape: [, to] }) =>
      Array.from({ length: to }, (_, o) => sum(x.map((each, i) => each * data[i * to + o])));
    const only = (x, h) => x.map((each, i) => (Math.floor(i / 4) === h ? each : 0));
    for (const { head, copying } of model.headScores({ text })) {
      const places = [4, 7, 11].map((id) => {
        const x = [...weights.embedding.data.slice(id * d, (id + 1) * d)];
        // The scale of a norm changes no place; its gains do.
        const read = x.map((each, i) => each * weights['layers.0.norm1.gamma'].data[i]);
        const z = only(through(read, weights['layers.0.attention.wv']), head);
        const given = through(z, weights['layers.0.attention.wo']);
        const scaled = given.map((each, i) => each * weights['norm.gamma'].data[i]);
        const logits = through(scaled, weights.head);
        return 1 - (2 * logits.filter((logit) => logit > logits[id]).length) / (V - 1);
      });
      assert.ok(Math.abs(copying - sum(places) / 3) < 1e-6, `head ${head}`);
    }
    model.dispose();
  });

  test('even weights have evenness 1, within a window too, and one key 0', () => {
    const config = { ...kinds.mistral, numLayers: 1 };
    const weights = randomWeights(config, 5);
    weights['layers.0.attention.wq'].data.fill(0);
    const model = create(engine, config, weights);
    for (const { evenness, previous } of model.headScores({ text: rowsOf(config, 20) })) {
      assert.ok(Math.abs(evenness - 1) < 1e-5, `${evenness}`);
      assert.ok(previous > 1 / 6 && previous < 1 / 4, `${previous}`);
    }
    model.dispose();
    const alone = create(engine, { ...config, window: 0 }, weights);
    for (const { evenness, previous } of alone.headScores({ text: [1, 2, 3] })) {
      assert.deepEqual([evenness, previous], [0, 0]);
    }
    alone.dispose();
  });

  test('without a text the tokens are random ones twice: the same of a seed, others of another', () => {
    const { model } = world('gpt2');
    const one = model.headScores({ tokens: 6, seed: 1 });
    assert.deepEqual(model.headScores({ tokens: 6, seed: 1 }), one);
    assert.notDeepEqual(model.headScores({ tokens: 6, seed: 2 }), one);
    assert.deepEqual(model.headScores(), model.headScores({ tokens: 12, seed: 0 }));
    // In the second half every token has one before it that is the same.
    assert.ok(one.every(({ duplicate, induction }) => duplicate > 0 && induction > 0));
    model.dispose();
  });
});

describe('what cannot be taken apart', () => {
  const { model, ids } = world('gpt2');
  const encoder = world('bert').model;
  const pair = create(engine, pairs['flan-t5'], randomWeights(pairs['flan-t5'], 5));
  after(() => [model, encoder, pair].forEach((each) => each.dispose()));
  const sweepable = { clean: ids, corrupt: ids, answer: 1, instead: 2, site: 'z' };
  const cases = [
    ['attribute', () => encoder.attribute(ids, { answer: 1 }), 'unsupported', 'no head'],
    ['attribute', () => model.attribute(ids, { answer: 19 }), 'out_of_range', 'answer is 19'],
    ['attribute', () => model.attribute(ids, { answer: 1, instead: 1.5 }), 'invalid_argument', 'instead is 1.5'],
    ['attribute', () => model.attribute(ids, { answer: 1, row: 9 }), 'out_of_range', 'row is 9'],
    ['attribute', () => model.attribute(ids, { anwser: 1 }), 'invalid_argument', "'answer'"],
    ['attribute', () => model.attribute([], { answer: 1 }), 'shape_mismatch', 'at least one token'],
    ['attribute', () => model.attribute(ids, { answer: 1, edit: [{}] }), 'invalid_argument', 'edit[0].site'],
    ['lens', () => encoder.lens(ids), 'unsupported', 'no head'],
    ['lens', () => model.lens(ids, { top: 20 }), 'out_of_range', 'top is 20, expected 1 to 19'],
    ['lens', () => model.lens(ids, { layers: [2] }), 'out_of_range', 'layers[0] is 2'],
    ['lens', () => model.lens(ids, { layers: [1, 1] }), 'invalid_argument', 'layers has 1 twice'],
    ['lens', () => model.lens(ids, { edit: [{ site: 'final', value: 0 }] }), 'invalid_argument', 'edit[0].site is'],
    ['lens', () => model.lens('text'), 'invalid_argument', 'no tokenizer'],
    ['normWeights', () => model.normWeights(ids, { layer: 2 }), 'out_of_range', 'layer is 2'],
    ['normWeights', () => model.normWeights(ids, {}), 'invalid_argument', 'layer is undefined'],
    ['normWeights', () => model.normWeights(ids, { layer: 0, rows: [3, 3] }), 'out_of_range', 'rows[1] is 3, expected 4 to 9'],
    ['headScores', () => model.headScores({ text: [1] }), 'shape_mismatch', 'text has 1 token'],
    ['headScores', () => model.headScores({ tokens: 13 }), 'out_of_range', 'tokens is 13, expected 1 to 12'],
    ['headScores', () => model.headScores({ seed: -1 }), 'out_of_range', 'seed is -1'],
    ['headScores', () => pair.headScores(), 'invalid_argument', 'has an encoder'],
  ]; // prettier-ignore
  for (const [name, call, code, says] of cases) {
    test(`${name}: ${says}`, () => expectThrows(call, `LanguageModel.${name}`, code, says));
  }
  test('sweep: a model without a head, and one with an encoder', async () => {
    const fn = 'LanguageModel.sweep';
    await expectRejects(encoder.sweep(sweepable), fn, 'unsupported', 'no head');
    await expectRejects(pair.sweep(sweepable), fn, 'invalid_argument', 'has an encoder');
  });
});

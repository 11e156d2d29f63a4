// What the panel of a trained model computes, in Node: scores of heads, steps of a selection, planes and embeddings, each
// against the formula, and against what the package itself does with the same model.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import { root } from '../../support/js/files.js';
import { tickingClock } from '../support/clock.js';
import { modules, resultOf } from '../support/engine.js';
import { randomOf } from '../support/random.js';

const feature = (name) => `features/model/${name}`;
const web = await modules(
  ...[
    'selection',
    'scores',
    'plane',
    'file',
    'open',
    'answers',
    'generation',
    'host',
    'store',
    'log',
  ].map(feature),
  ...[
    'features/model/state',
    'features/row/request',
    'worker/pipeline',
    'worker/background',
    'app/request',
    'state/state',
  ],
);
/** The same where a worker can fetch it. */
const addressOf = (name) => URL.createObjectURL(new Blob([fileOf(name)]));
const fileOf = (name) => readFileSync(join(root, `models/${name}/${name}.safetensors`));
const packageModule = (name) => import(pathToFileURL(join(root, `dist/${name}.js`)).href);

function numbers(count, seed = 1) {
  const random = randomOf(seed);
  return Float32Array.from({ length: count }, () => random() * 2 - 1);
}
const close = (a, b, most, what) =>
  assert.ok(Math.abs(a - b) <= most, `${what}: ${a} and ${b} differ by more than ${most}`);

let qkv;
before(async () => {
  const { init } = await packageModule('index');
  qkv = await init();
});

describe('selection', () => {
  const logits = numbers(40).map((x) => 4 * x);
  const softmax = (temperature) => {
    const powers = Array.from(logits, (x) => Math.exp(x / temperature));
    const sum = powers.reduce((a, b) => a + b);
    return powers.map((power) => power / sum);
  };

  test('probabilities are those of the formula, likeliest first', () => {
    const { order, p } = web.select(qkv, logits, { temperature: 0.7, topK: 0, topP: 1 });
    const wanted = softmax(0.7);
    wanted.forEach((value, id) => close(p[id], value, 1e-6, `token ${id}`));
    for (let i = 1; i < order.length; i++) assert.ok(p[order[i - 1]] >= p[order[i]]);
  });

  test('top-k leaves k, top-p of those the fewest that reach it', () => {
    for (const topK of [0, 1, 5, 100]) {
      for (const topP of [0.1, 0.5, 0.9, 1]) {
        const found = web.select(qkv, logits, { temperature: 1, topK, topP });
        const ranked = softmax(1).sort((a, b) => b - a);
        const left = ranked.slice(0, topK || 40);
        const sum = left.reduce((a, b) => a + b);
        let [kept, before] = [0, 0];
        while (kept < left.length && before < topP) before += left[kept++] / sum;
        assert.equal(found.keptK, left.length);
        assert.equal(found.keptP, kept, `top-k ${topK}, top-p ${topP}`);
      }
    }
  });

  test('temperature 0 leaves the likeliest token', () => {
    const { order, p, keptP } = web.select(qkv, logits, { temperature: 0, topK: 5, topP: 0.9 });
    assert.deepEqual([keptP, p[order[0]]], [1, 1]);
    assert.equal(order[0], logits.indexOf(Math.max(...logits)));
  });
});

describe('scores of heads', () => {
  test('heads that do what the scores are named after have 1, and uniform ones what is left', () => {
    const count = 9; // a begin and four tokens that are there twice
    const head = (keyOf) =>
      Float32Array.from({ length: count ** 2 }, (_, at) => {
        const [t, key] = [Math.floor(at / count), at % count];
        return keyOf(t) === key ? 1 : 0;
      });
    assert.equal(web.previousScore(head((t) => t - 1)), 1);
    assert.equal(web.firstScore(head(() => 0)), 1);
    assert.equal(
      web.inductionScore(
        head((t) => t - 3),
        4,
        1,
      ),
      1,
    );
    assert.equal(
      web.inductionScore(
        head((t) => t - 4),
        4,
        1,
      ),
      0,
    );
    const uniform = Float32Array.from({ length: count ** 2 }, (_, at) => {
      const t = Math.floor(at / count);
      return at % count <= t ? 1 / (t + 1) : 0;
    });
    const mean = Array.from({ length: 8 }, (_, i) => 1 / (i + 2)).reduce((a, b) => a + b) / 8;
    close(web.previousScore(uniform), mean, 1e-7, 'previous');
    close(web.firstScore(uniform), mean, 1e-7, 'first');
  });
});

test('what is read twice is as long as the model allows, behind what it begins with', () => {
  const twice = (maxLength, begin) =>
    web.repeatedIds({ info: { maxLength, vocabulary: 9 }, begin });
  for (const [maxLength, begin, repeated] of [
    [1000, null, 50],
    [1000, 3, 50],
    [20, null, 10],
    [20, 3, 9],
    [21, 3, 10],
  ]) {
    const { ids, repeated: told } = twice(maxLength, begin);
    assert.equal(told, repeated);
    const lead = begin === null ? [] : [begin];
    const once = ids.slice(lead.length, lead.length + repeated);
    assert.deepEqual(ids, [...lead, ...once, ...once]);
    assert.ok(once.every((id) => Number.isInteger(id) && id >= 0 && id < 9));
  }
  assert.equal(new Set(twice(1000, null).ids).size, 9, 'any token');
});

describe('the plane', () => {
  /** All eigenvalues of a symmetric matrix and their vectors, by Jacobi's rotations. */
  function jacobi(matrix) {
    const n = matrix.length;
    const a = matrix.map((row) => [...row]);
    const v = a.map((_, i) => a.map((__, j) => (i === j ? 1 : 0)));
    for (let sweep = 0; sweep < 60; sweep++) {
      for (let p = 0; p < n; p++) {
        for (let q = p + 1; q < n; q++) {
          const angle = Math.atan2(2 * a[p][q], a[q][q] - a[p][p]) / 2;
          const [c, s] = [Math.cos(angle), Math.sin(angle)];
          for (let i = 0; i < n; i++) {
            [a[i][p], a[i][q]] = [c * a[i][p] - s * a[i][q], s * a[i][p] + c * a[i][q]];
          }
          for (let i = 0; i < n; i++) {
            [a[p][i], a[q][i]] = [c * a[p][i] - s * a[q][i], s * a[p][i] + c * a[q][i]];
            [v[i][p], v[i][q]] = [c * v[i][p] - s * v[i][q], s * v[i][p] + c * v[i][q]];
          }
        }
      }
    }
    return a.map((row, i) => ({ value: row[i], vector: v.map((line) => line[i]) }));
  }
  const last = (steps) => {
    for (;;) {
      const { done, value } = steps.next();
      if (done) return value;
    }
  };

  test('points and shares are those of the two largest eigenvectors', () => {
    const [rows, width] = [60, 8];
    const data = numbers(rows * width, 5).map((x, i) => x * (1 + (i % width)) + (i % width));
    const mean = Array.from(
      { length: width },
      (_, c) =>
        Array.from({ length: rows }, (__, r) => data[r * width + c]).reduce((a, b) => a + b) / rows,
    );
    const centred = (r, c) => data[r * width + c] - mean[c];
    const scatter = mean.map((_, a) =>
      mean.map((__, b) =>
        Array.from({ length: rows }, (___, r) => centred(r, a) * centred(r, b)).reduce(
          (x, y) => x + y,
        ),
      ),
    );
    const found = jacobi(scatter).sort((a, b) => b.value - a.value);
    const total = found.reduce((sum, { value }) => sum + value, 0);
    const { points, shares } = last(web.principalPlane(data, width));
    for (const axis of [0, 1]) {
      const { value, vector } = found[axis];
      close(shares[axis], value / total, 1e-9, `share ${axis}`);
      const along = (r) => vector.reduce((sum, x, c) => sum + x * centred(r, c), 0);
      const sign = Math.sign(along(0)) * Math.sign(points[axis]);
      for (let r = 0; r < rows; r++) close(points[2 * r + axis], sign * along(r), 1e-4, `row ${r}`);
    }
  });

  test('neighbours are those of the largest cosine', () => {
    const [rows, width] = [50, 6];
    const data = numbers(rows * width, 3);
    const row = (r) => Array.from(data.subarray(r * width, (r + 1) * width));
    const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);
    const cosine = (a, b) => dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
    const wanted = Array.from({ length: rows }, (_, id) => ({
      id,
      cosine: cosine(row(7), row(id)),
    }))
      .filter(({ id }) => id !== 7)
      .sort((a, b) => b.cosine - a.cosine)
      .slice(0, 5);
    const found = web.nearest(data, width, { of: 7, count: 5 });
    assert.deepEqual(
      found.map(({ id }) => id),
      wanted.map(({ id }) => id),
    );
    found.forEach((each, i) => close(each.cosine, wanted[i].cosine, 1e-6, `neighbour ${i}`));
  });

  test('a row of zeros is as far from all others as one at a right angle', () => {
    const data = Float32Array.of(1, 0, 0, 0, -1, 0, 2, 1);
    const at = (of) => web.nearest(data, 2, { of, count: 3 });
    assert.deepEqual(
      at(0).map(({ id }) => id),
      [3, 1, 2],
    );
    assert.deepEqual(
      at(1).map(({ cosine }) => Math.abs(cosine)),
      [0, 0, 0],
    );
  });
});

describe('files', () => {
  test('which file is what', () => {
    const files = [
      'model.safetensors',
      'config.json',
      'tokenizer.bin',
      'generation_config.json',
    ].map((name) => new File(['x'], name));
    const { weights, config, tokenizer } = web.sortFiles(files);
    assert.deepEqual(
      [weights.map(({ name }) => name), config.name, tokenizer.name],
      [['model.safetensors'], 'config.json', 'tokenizer.bin'],
    );
  });

  test('the embeddings of the file are those of the model: its logits are products with them', async () => {
    const file = new Blob([fileOf('austen')]);
    const header = await web.headerOf(file);
    assert.equal(web.charactersOf(header).length, 78);
    const embedding = await web.embeddingOf(file, header, [78, 128]);
    const { load } = await packageModule('models');
    const model = await load(qkv, { weights: file }, { format: 'f32' });
    const { logits, hidden } = model.forward([3, 4, 5], { hidden: true });
    for (let id = 0; id < 78; id++) {
      let sum = 0;
      for (let c = 0; c < 128; c++) sum += hidden.data[256 + c] * embedding[id * 128 + c];
      close(logits.data[2 * 78 + id], sum, 1e-4, `logit ${id}`);
    }
    model.dispose();
  });
});

describe('the host', () => {
  const TEXT = 'She was tired. She was';
  const ask = {
    text: TEXT,
    length: null,
    at: null,
    sampling: { temperature: 0.8, topK: 5, topP: 0.9 },
    ablated: [[1, 2]],
    near: null,
  };
  /** A host with a model, and everything that it says; `until(kind, test)` waits for one of its messages. */
  async function hosted(files) {
    const said = [];
    let wake = () => {};
    const host = new web.ModelHost(qkv, (message) => {
      said.push(message);
      wake();
    });
    const until = async (test) => {
      for (;;) {
        const found = said.find(test);
        if (found) return found;
        await new Promise((resolve) => (wake = resolve));
      }
    };
    host.receive({ kind: 'load', files });
    return { host, said, until };
  }
  const answer = (name) => (message) => message.kind === 'answers' && name in message.news;
  let austen;
  let model;
  let ids;
  before(async () => {
    const bytes = fileOf('austen');
    austen = await hosted({ kind: 'address', name: 'austen', url: addressOf('austen') });
    await austen.until(({ kind }) => kind === 'loaded');
    austen.host.receive({ kind: 'ask', ask });
    const { load } = await packageModule('models');
    const characters = web.charactersOf(await web.headerOf(new Blob([bytes])));
    model = await load(qkv, { weights: new Blob([bytes]) }, { format: 'f32' });
    ids = Array.from(`\n${TEXT}`, (character) => characters.indexOf(character));
  });
  const told = async (name) => (await austen.until(answer(name))).news[name];

  test('tells how much has arrived thirty times in a second at most, and the whole of it', async (t) => {
    let now = 1000;
    t.mock.method(performance, 'now', () => now);
    const bytes = fileOf('austen');
    const parts = [1000, 1010, 1029, 1030, 1045, 1061, 1070];
    const size = Math.ceil(bytes.length / parts.length);
    let part = 0;
    const body = new ReadableStream(
      {
        pull(controller) {
          if (part === parts.length) return controller.close();
          now = parts[part];
          controller.enqueue(new Uint8Array(bytes.subarray(part * size, (part + 1) * size)));
          part++;
        },
      },
      { highWaterMark: 0 },
    );
    const headers = { 'content-length': String(bytes.length) };
    t.mock.method(globalThis, 'fetch', async () => new Response(body, { headers }));
    const { said, until } = await hosted({
      kind: 'address',
      name: 'austen',
      url: 'https://a.example/m',
    });
    await until(({ kind }) => kind === 'loaded' || kind === 'refused');
    const told = said.filter(({ kind }) => kind === 'progress');
    assert.ok(told.every(({ total }) => total === bytes.length));
    assert.deepEqual(
      told.map(({ loaded }) => Math.ceil(loaded / size)),
      [1, 4, 6, 7],
    );
  });

  test('says what was loaded', async () => {
    const { info } = await austen.until(({ kind }) => kind === 'loaded');
    assert.equal(info.parameters, 813952);
    assert.equal(info.tokenizer, 'characters');
    assert.deepEqual([info.numLayers, info.numHeads, info.vocabulary], [4, 4, 78]);
    assert.equal(info.types[0][0], 'I8');
  });

  test('reads a text as the package does: tokens, surprise, loss with and without a head', async () => {
    const reading = await told('reading');
    assert.deepEqual([...reading.ids], ids);
    assert.equal(reading.labels[0], '↵');
    const surprises = [...reading.surprisal].slice(1);
    const losses = await told('losses');
    const mean = surprises.reduce((a, b) => a + b) / surprises.length;
    close(mean, model.loss(ids), 1e-5, 'mean surprise');
    close(losses.whole, model.loss(ids), 1e-6, 'loss');
    const ablated = model.loss(ids, { inspect: { ablate: [[1, 2]] } });
    close(losses.ablated, ablated, 1e-6, 'loss without a head');
    assert.ok(Math.abs(losses.ablated - losses.whole) > 1e-3, 'the head does something');
  });

  test('scores are means over the weights of the pass', async () => {
    const scores = await told('scores');
    const { layers } = model.forward(ids, { inspect: { weights: true } });
    const T = ids.length;
    for (const [layer, { weights }] of layers) {
      for (let head = 0; head < 4; head++) {
        const w = (t, key) => weights.data[(head * T + t) * T + key];
        let [previous, first] = [0, 0];
        for (let t = 1; t < T; t++) [previous, first] = [previous + w(t, t - 1), first + w(t, 0)];
        close(scores.previous[layer * 4 + head], previous / (T - 1), 1e-5, 'previous');
        close(scores.first[layer * 4 + head], first / (T - 1), 1e-5, 'first');
      }
    }
    assert.ok(scores.difference < 1e-5, `${scores.difference}`);
    assert.equal(scores.repeated, 50);
    const { ids: twice } = web.repeatedIds({ info: model.config, begin: ids[0] });
    const again = model.forward(twice, { inspect: { weights: true, layers: [1] } });
    const { data } = again.layers.get(1).weights;
    let sum = 0;
    for (let t = 51; t < 101; t++) sum += data[(3 * 101 + t) * 101 + t - 49];
    close(scores.induction[7], sum / 50, 1e-5, 'induction of head 1.3');
  });

  test('the tokens that the package draws are those that the selection leaves, as often as the bars say', async () => {
    const { bars, keptP, label, entropy } = await told('next');
    assert.equal(label, 's');
    const counts = new Map();
    const draws = 600;
    for (let seed = 0; seed < draws; seed++) {
      const options = { ...ask.sampling, maxTokens: 1, seed };
      for await (const { id } of model.generate(ids, options))
        counts.set(id, (counts.get(id) ?? 0) + 1);
    }
    const left = bars.filter(({ topP }) => topP !== null);
    assert.equal(left.length, keptP);
    assert.deepEqual(
      [...counts.keys()].filter((id) => !left.some((bar) => bar.id === id)),
      [],
    );
    for (const { id, topP: p } of left) {
      const deviation = Math.sqrt((p * (1 - p)) / draws);
      close((counts.get(id) ?? 0) / draws, p, 5 * deviation + 1e-9, `token ${id}`);
    }
    const { logits } = model.forward(ids, { rows: 'last' });
    const powers = Array.from(logits.data, (x) => Math.exp(x));
    const sum = powers.reduce((a, b) => a + b);
    const wanted = powers.reduce((h, x) => h - (x / sum) * Math.log(x / sum), 0);
    close(entropy, wanted, 1e-5, 'entropy');
  });

  test('the lens ends with what the model says', async () => {
    const { layers } = await told('lens');
    const next = await told('next');
    assert.equal(layers.length, 4);
    assert.equal(layers[3].tokens[0].id, next.bars[0].id);
    const { logits } = model
      .forward(ids, { inspect: { logitLens: true, layers: [1] } })
      .layers.get(1);
    const row = logits.data.slice((ids.length - 1) * 78);
    assert.equal(layers[1].tokens[0].id, row.indexOf(Math.max(...row)));
  });

  test('rollout multiplies the layers, each half of itself', async () => {
    const { at, sources, own, rest } = await told('rollout');
    const { layers } = model.forward(ids, { inspect: { weights: true } });
    const count = ids.length;
    let row = Array.from({ length: count }, (_, j) => Number(j === at));
    // out = A_L ... A_1: the row of the last layer times the layers below.
    for (const { weights } of [...layers.values()].reverse()) {
      const heads = weights.shape[1];
      row = row.map((_, j) =>
        row.reduce((sum, share, i) => {
          let mean = 0;
          for (let h = 0; h < heads; h++) mean += weights.data[(h * count + i) * count + j] / heads;
          return sum + share * ((mean + Number(i === j)) / 2);
        }, 0),
      );
    }
    close(own, row[at], 1e-5, 'its own share');
    const listed = sources.reduce((sum, { place, share }) => {
      close(share, row[place], 1e-5, `place ${place}`);
      return sum + share;
    }, 0);
    close(listed + rest, 1, 1e-5, 'all shares');
    assert.ok(sources.every(({ share }, i) => i === 0 || share <= sources[i - 1].share));
    assert.equal(sources[0].share, Math.max(...sources.map(({ share }) => share)));
  });

  test('writes what the package writes, and counts what the cache holds', async () => {
    austen.host.receive({ kind: 'generate', seed: 3, tokens: 20, pace: null });
    const { generated } = await austen.until((m) => m.kind === 'generated' && !m.generated.running);
    const drawn = [];
    const options = { ...ask.sampling, maxTokens: 20, seed: 3, inspect: { ablate: ask.ablated } };
    for await (const { id } of model.generate(ids, options)) drawn.push(id);
    const characters = web.charactersOf(await web.headerOf(new Blob([fileOf('austen')])));
    assert.equal(generated.text, drawn.map((id) => characters[id]).join(''));
    assert.equal(generated.tokens, 20);
    assert.equal(generated.cached, ids.length + 20);
    assert.equal(generated.capacity, 256);
    assert.equal(generated.bytesPerToken, 4 * 2 * 128 * 4);
    assert.ok(generated.median > 0);
  });

  test('what a model writes is told no more when another one has taken its place', async () => {
    const pace = 20;
    const name = 'austen';
    const files = { kind: 'address', name, url: addressOf(name) };
    const { host, said, until } = await hosted(files);
    await until(({ kind }) => kind === 'loaded');
    host.receive({ kind: 'ask', ask });
    host.receive({ kind: 'generate', seed: 1, tokens: 200, pace });
    await until(({ kind }) => kind === 'generated');
    host.receive({ kind: 'load', files });
    await until(({ kind, info }) => kind === 'loaded' && info.id === 2);
    // Its last pause ends before these, which are as long and begin later.
    for (let i = 0; i < 4; i++) await new Promise((resolve) => setTimeout(resolve, 1000 / pace));
    const at = said.findLastIndex(({ kind }) => kind === 'loaded');
    const [before, after] = [said.slice(0, at), said.slice(at)];
    assert.ok(before.findLast(({ kind }) => kind === 'generated').generated.running);
    assert.equal(
      after.find(({ kind }) => kind === 'generated'),
      undefined,
    );
  });

  test('what the loss changes by without each head, and the time of both ways', async (t) => {
    austen.host.receive({ kind: 'changes' });
    const { changes } = await austen.until((m) => m.kind === 'changes' && !m.changes.running);
    const whole = model.loss(ids);
    for (const at of [0, 6, 15]) {
      const ablate = [[at >> 2, at & 3]];
      close(
        changes.changes[at],
        model.loss(ids, { inspect: { ablate } }) - whole,
        1e-5,
        `head ${at}`,
      );
    }
    t.mock.method(performance, 'now', tickingClock()); // a millisecond for the eight tokens of a measurement
    austen.host.receive({ kind: 'speed' });
    const { speed } = await austen.until((m) => m.kind === 'speed' && !m.speed.running);
    assert.ok(speed.difference < 1e-3, `${speed.difference}`);
    assert.ok(speed.points.every(({ cached, whole: all }) => cached === 1 / 8 && all === 1));
    assert.equal(speed.points.at(-1).length, 248);
  });

  test('the time of a token is the median of seven spans of eight, after a pass that does not count', (t) => {
    // Between looks n - 1 and n at this clock n milliseconds go by.
    let [now, looks] = [0, 0];
    t.mock.method(performance, 'now', () => (now += ++looks));
    const steps = web.speedOf({ model }, ids);
    const { points } = steps.next().value;
    steps.return();
    // The first pass takes seven looks, so spans take 9, 11 .. 21 ms, and the pass without a cache 23.
    assert.deepEqual(points, [{ length: 8, cached: 15 / 8, whole: 23 }]);
  });

  test('a file that says it reads a million tokens has no cache for them', async () => {
    const { init } = await packageModule('train');
    const engine = await init();
    const sizes = { vocabulary: 5, numLayers: 1, dModel: 8, numHeads: 2, dFeedForward: 0 };
    const trainer = engine.languageModel({ ...sizes, positions: 'rotary', maxLength: 2 ** 20 });
    const file = new File([trainer.save()], 'endless.safetensors');
    engine.dispose();
    const { host, until } = await hosted({ kind: 'files', files: [file] });
    await until(({ kind }) => kind === 'loaded');
    host.receive({ kind: 'ask', ask: { ...ask, text: '1 2 3', ablated: [] } });
    host.receive({ kind: 'generate', seed: 1, tokens: 4, pace: null });
    const { generated } = await until((m) => m.kind === 'generated' && !m.generated.running);
    assert.deepEqual([generated.tokens, generated.capacity], [4, 2048]);
  });

  test('what followed from a text is taken back when nothing of the next one can be read', async () => {
    const { init } = await packageModule('train');
    const engine = await init();
    const sizes = { vocabulary: 5, numLayers: 1, dModel: 8, numHeads: 2, dFeedForward: 0 };
    const trainer = engine.languageModel({ ...sizes, positions: 'rotary', maxLength: 64 });
    const file = new File([trainer.save()], 'numbers.safetensors'); // no tokenizer: it reads numbers
    engine.dispose();
    const { host, said, until } = await hosted({ kind: 'files', files: [file] });
    await until(({ kind }) => kind === 'loaded');
    const follow = ['next', 'losses', 'lens', 'rollout', 'scores'];
    let view = web.NO_MODEL;
    /** How many tokens the page has after this text, and what of it follows from them. */
    const shown = async (text) => {
      said.length = 0;
      host.receive({ kind: 'ask', ask: { ...ask, text, ablated: [] } });
      await until(({ kind }) => kind === 'answered');
      view = said.reduce(web.afterMessage, view);
      return [view.answers.reading.ids.length, follow.filter((name) => view.answers[name])];
    };
    assert.deepEqual(await shown('1 2 3'), [3, follow]);
    assert.deepEqual(await shown('words'), [0, []]);
    assert.deepEqual(await shown(''), [0, []]);
    assert.deepEqual(await shown('1 2 3'), [3, follow]);
  });

  test('what cannot be read is refused with the sentence of the package', async () => {
    const files = [new File([new Uint8Array(100)], 'photo.safetensors')];
    const { until } = await hosted({ kind: 'files', files });
    const { failure } = await until(({ kind }) => kind === 'refused');
    assert.equal(failure.code, 'invalid_argument');
    assert.match(failure.message, /expected safetensors, GGUF or a llama2\.c checkpoint/);
    const other = await hosted({ kind: 'files', files: [new File(['{}'], 'config.json')] });
    assert.equal((await other.until(({ kind }) => kind === 'refused')).failure.code, 'no_weights');
  });
});

describe('a source of the other panels', () => {
  const TEXT = 'She was tired.';
  let frame;
  let pipeline;
  let request;
  let model;
  let ids;
  before(async () => {
    const bytes = fileOf('austen');
    pipeline = new web.Pipeline(qkv);
    const said = [];
    pipeline.model = new web.ModelHost(qkv, (message) => said.push(message));
    const files = { kind: 'address', name: 'austen', url: addressOf('austen') };
    pipeline.model.receive({ kind: 'load', files });
    while (!said.some(({ kind }) => kind === 'loaded')) await new Promise(setImmediate);
    const { load } = await packageModule('models');
    const characters = web.charactersOf(await web.headerOf(new Blob([bytes])));
    ids = Array.from(`\n${TEXT}`, (character) => characters.indexOf(character));
    model = await load(qkv, { weights: new Blob([bytes]) }, { format: 'f32' });
    const state = {
      ...web.initialState('en'),
      source: 'trained',
      head: 14,
      temperature: 1,
      mask: 'none',
    };
    const tokens = ids.map(String);
    const visible = {
      query: 9,
      told: 4,
      dragging: false,
      sees: () => false,
      surfaces: {},
      ratio: 1,
    };
    request = web.requestOf(state, tokens, {
      ...visible,
      trained: { text: { model: 1, ids }, mask: 'causal' },
    });
    request = { ...request, view: { ...request.view, head: 14, matrix: true } };
    frame = pipeline.run(1, request).frame;
  });

  test('the map has the weights of the model’s own pass, of every head', () => {
    assert.equal(frame.numHeads, 16);
    assert.equal(request.layer.mask, 'causal', 'the mask is the model’s own');
    const { layers } = model.forward(ids, { inspect: { weights: true } });
    const T = ids.length;
    const { heads } = new web.Background(pipeline).tensors(request);
    heads.forEach(({ weights }, at) => {
      const { data } = layers.get(at >> 2).weights;
      const wanted = data.subarray((at & 3) * T * T, ((at & 3) + 1) * T * T);
      weights.forEach((weight, i) => close(weight, wanted[i], 2e-6, `head ${at}, cell ${i}`));
    });
    frame.matrix.forEach((weight, i) => assert.equal(weight, heads[14].weights[i]));
  });

  test('rows, temperatures and the check against float64 hold as for the other sources', () => {
    const T = ids.length;
    frame.query.weights.forEach((weight, i) => close(weight, frame.matrix[9 * T + i], 1e-7, 'row'));
    const at = { ...request, layer: { ...request.layer, temperature: 0.5 } };
    const cold = pipeline.run(2, at).frame;
    const { scores } = frame.query;
    const powers = Array.from(scores, (s) => Math.exp(s / 0.5));
    const sum = powers.reduce((a, b) => a + b);
    cold.query.weights.forEach((weight, i) => close(weight, powers[i] / sum, 1e-6, 'colder'));
    const { report } = resultOf(new web.Background(pipeline).work(at));
    assert.equal(report.check.heads, 16);
    assert.ok(report.check.weights > 0 && report.check.weights < 2e-6, `${report.check.weights}`);
    assert.ok(report.check.entropy < 1e-5, `${report.check.entropy}`);
  });

  test('a row is told step by step: its products add up to the scores, and its weights are those of the core', () => {
    const asked = web.rowRequest(web.initialState('en'));
    const { row } = pipeline.run(5, { ...request, row: asked }).frame;
    const { learned } = row;
    assert.equal(learned.width, 32);
    assert.equal(learned.allowed, 10, 'a causal query reads itself and what is before it');
    const { query } = frame;
    learned.keys.forEach((key, i) => {
      const sum = learned.terms[i].reduce((a, b) => a + b, 0);
      close(sum / Math.sqrt(32), query.scores[key], 1e-4, `score of key ${key}`);
      close(learned.weights[i], query.weights[key], 1e-6, `weight of key ${key}`);
    });
    const least = Math.min(...learned.keys.map((key) => query.weights[key]));
    const others = Array.from({ length: 10 }, (_, key) => key).filter(
      (key) => !learned.keys.includes(key),
    );
    assert.ok(
      others.every((key) => query.weights[key] <= least),
      'no other key has more',
    );
    assert.ok(learned.error < 1e-4, `${learned.error}`);
  });

  test('a row is told at the temperature of the map', () => {
    const asked = web.rowRequest(web.initialState('en'));
    const layer = { ...request.layer, temperature: 2.5 };
    const { row, query } = pipeline.run(6, { ...request, layer, row: asked }).frame;
    const { learned } = row;
    learned.keys.forEach((key, i) => {
      close(learned.scaled[i], query.scores[key], 1e-6, `score of key ${key}`);
      close(learned.tempered[i], query.scores[key] / 2.5, 1e-6, `divided, of key ${key}`);
      close(learned.weights[i], query.weights[key], 1e-6, `weight of key ${key}`);
      close(learned.exps[i] / learned.sum, query.weights[key], 1e-6, `share of key ${key}`);
    });
    assert.ok(learned.error < 1e-4, `${learned.error}`);
  });

  test('another model, or none, has no heads', () => {
    const other = { ...request, layer: { ...request.layer, trained: { model: 9, ids } } };
    assert.equal(pipeline.run(3, other).frame.numHeads, 0);
    const none = { ...request, layer: { ...request.layer, trained: null, tokens: [] } };
    assert.equal(pipeline.run(4, none).frame.query, null);
  });
});

describe('what the page keeps', () => {
  test('the link carries heads that are taken out', () => {
    const state = {
      ...web.initialState('en'),
      modelOut: [
        [0, 3],
        [2, 1],
      ],
      modelTopK: 5,
    };
    const again = web.parseFragment(web.formatFragment(state), 'en');
    assert.deepEqual(again.modelOut, state.modelOut);
    assert.equal(again.modelTopK, 5);
    assert.deepEqual(web.parseFragment('#v=1&lmo=0.x', 'en').modelOut, []);
    assert.equal(web.modelOf(web.initialState('zh'), 'zh'), 'tang');
  });

  test('a load that is refused leaves the model that was there', () => {
    const info = { id: 1 };
    let view = web.afterMessage(web.NO_MODEL, { kind: 'loaded', info });
    view = web.loadBegins(view, 'photo.png');
    view = web.afterMessage(view, { kind: 'progress', loaded: 1, total: 2 });
    assert.deepEqual(view.loading, { what: 'photo.png', loaded: 1, total: 2 });
    const failure = { code: 'invalid_argument', message: 'load: no' };
    view = web.afterMessage(view, { kind: 'refused', failure });
    assert.equal(view.info, info);
    assert.deepEqual(view.refused, { what: 'photo.png', failure });
  });

  test('the log of a run', () => {
    const csv = '# recipe\nstep,loss,accuracy,heldOutLoss\n80,2.5,0.3,2.25\n160,2,0.4,1.75\n';
    const { steps, loss, heldOut } = web.readLog(csv);
    assert.deepEqual(
      [steps, loss, heldOut],
      [
        [80, 160],
        [2.5, 2],
        [2.25, 1.75],
      ],
    );
  });
});

// How a run of the panel "Watch it learn" goes on in its worker, in Node, with an engine that answers what is said here: what
// its trainer is asked, what is told of each step, and when.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { modules } from '../support/engine.js';

const web = await modules(
  ...[
    'worker/run',
    'shared/tasks',
    'worker/free_running_sample',
    'worker/attention_temperature',
    'shared/head_scores',
  ].map((name) => `features/learn/${name}`),
);

let now = 0;
beforeEach(() => mock.method(performance, 'now', () => now));
afterEach(() => mock.restoreAll());

function settingsFor(task, patch = {}) {
  const { defaults } = web.taskOf(task, 'abcdefghijklmno');
  const { layers, heads, width, positions, causal } = defaults;
  return {
    ...{ task, seed: 3, layers, heads, width, positions, causal },
    ...{ norm: 'pre', temperature: 1, samples: null, text: 'abcdefghijklmno', ...patch },
  };
}

/**
 * An engine with one kind of model. `weights(layer, head, query, key, steps)` are those of its heads, `cost` the milliseconds of
 * a step; `asked` is all that it was asked for.
 */
function fakeEngine({ cost = () => 10, weights = () => 0.1 } = {}) {
  const asked = [];
  const languageModel = (config, options) => {
    asked.push(['made', config], ['as', options]);
    const { vocabulary, numLayers, numHeads } = config;
    const numbers = new Map(
      ['embedding', 'layers.0.attention.wq', 'layers.0.attention.bq', 'layers.0.attention.wk'].map(
        (name, i) => [name, { data: Float32Array.of(i + 1, 8), shape: [2, 1] }],
      ),
    );
    const parameters = () => ({
      names: [...numbers.keys()],
      value: (name) => ({ data: numbers.get(name).data.slice(), shape: numbers.get(name).shape }),
      set: (name, value) => numbers.set(name, { ...value }),
    });
    const forward = (ids, options) => {
      asked.push(['forward', ids.length, options]);
      const data = Float32Array.from({ length: ids.length * vocabulary }, (_, i) => {
        const [place, token] = [Math.floor(i / vocabulary), i % vocabulary];
        return ((5 * ids[place] + 3 * token + trainer.steps + place) % 17) / 4;
      });
      if (!options?.inspect) return { logits: { data } };
      const layers = Array.from({ length: numLayers }, (_, layer) => {
        const square = ids.length ** 2;
        const at = (i) => [i % square, Math.floor(i / square)];
        const read = Float32Array.from({ length: numHeads * square }, (_each, i) => {
          const [cell, head] = at(i);
          const [query, key] = [Math.floor(cell / ids.length), cell % ids.length];
          return weights(layer, head, query, key, trainer.steps);
        });
        return [layer, { weights: { data: read } }];
      });
      return { logits: { data }, layers: new Map(layers) };
    };
    const trainer = {
      ...{ steps: 0, parameterCount: 1234, parameters, model: { forward } },
      step({ ids, targets, batch }) {
        now += cost(trainer.steps);
        asked.push(['step', ids.length, targets.length, batch]);
        trainer.steps += 1;
        return { loss: 4 / trainer.steps, accuracy: 1 - 1 / trainer.steps, learningRate: 1 };
      },
      evaluate({ batch }) {
        asked.push(['evaluate', batch]);
        return { loss: 5 / (trainer.steps + 1), accuracy: trainer.steps / 1000 };
      },
      dispose: () => asked.push(['disposed', config.vocabulary]),
    };
    return trainer;
  };
  return { asked, languageModel };
}

const begun = (engine, settings) =>
  new web.Run(engine, settings, {
    ...{ rate: 1, dropout: 0 },
    batch: web.taskOf(settings.task, settings.text).defaults.batch,
  });

// ---- one run ----

test('learn: what the trainer of a run is made with, and what the first weights tell', () => {
  for (const [task, patch] of [
    ...['copy', 'reverse', 'induction', 'addition', 'histogram', 'names', 'characters'].map((id) => [id, {}]),
    ['copy', { causal: false, norm: 'post', positions: 'none', layers: 3, heads: 8, width: 16 }],
  ]) {
    const engine = fakeEngine();
    const settings = settingsFor(task, patch);
    const run = begun(engine, settings);
    const [[, config], [, options], [, batch]] = engine.asked;
    const { vocabulary, length, defaults, prompt } = run.task;
    const { layers, heads, width, positions, causal, norm, seed } = settings;
    assert.deepEqual(config, {
      ...{ vocabulary, maxLength: length, dFeedForward: defaults.feedForward },
      ...{ numLayers: layers, numHeads: heads, dModel: width, positions, causal, norm },
    });
    // A temperature is exact without clipping and decay.
    const { learningRate, deviation } = defaults;
    const always = { clipNorm: 0, weightDecay: 0, dropout: 0 };
    assert.deepEqual(options, { seed, learningRate, deviation, ...always });
    assert.equal(batch, web.heldOut(run.task).batch);
    const { step, judged, births, parameters, loss, writing } = run.news(run.writing());
    assert.deepEqual([step, births, parameters, loss.length], [0, [], 1234, 0]);
    const best = judged[0].best.map((score) => score >= 0 && score <= 1);
    assert.deepEqual(judged, [{ step: 0, loss: 5, accuracy: 0, best: judged[0].best }]);
    assert.deepEqual(best, web.SCORES_OF[task].map(() => true));
    assert.equal(writing === null, prompt === null);
    run.dispose();
    assert.equal(engine.asked.at(-1)[0], 'disposed');
  }
}); // prettier-ignore

test('learn: a head that passes a half is told of once, at the judgement that saw it', () => {
  const mirror = { 0: 0.1, 5: 0.5, 10: 0.75, 15: 0.9 };
  const engine = fakeEngine({
    weights: (layer, head, query, key, steps) =>
      layer === 1 && head === 2 && query + key === 15 ? mirror[steps - (steps % 5)] : 0.125,
  });
  const run = begun(engine, settingsFor('reverse', { layers: 2, heads: 3 }));
  const told = () => run.news(null).births;
  assert.deepEqual(told(), []);
  for (let i = 0; i < 9; i += 1) run.step();
  assert.deepEqual(told(), [], 'a half is not more than a half');
  run.step();
  assert.deepEqual(told(), [{ score: 'mirror', layer: 1, head: 2, step: 10 }]);
  for (let i = 0; i < 5; i += 1) run.step();
  assert.deepEqual(told(), []);
});

test('learn: of a model that has come to NaN no head is told of, and it goes on writing tokens that there are', () => {
  const run = begun(fakeEngine({ weights: () => NaN }), settingsFor('reverse'));
  for (let i = 0; i < 5; i += 1) run.step();
  assert.deepEqual(run.news(null).births, []);
  const task = web.taskOf('addition', '');
  const forward = (ids) => {
    for (const id of ids) assert.ok(id >= 0 && id < task.vocabulary, `it reads ${id}`);
    return { logits: { data: new Float32Array(ids.length * task.vocabulary).fill(NaN) } };
  };
  assert.equal(web.write({ forward }, task, 1).rows, 16);
});

test('learn: each score has its heads, and the head that has most of it', () => {
  const engine = fakeEngine({
    weights(layer, head, query, key, steps) {
      if (steps < 5) return 0;
      if (key === query - 1) return [0.25, 0.75, 0.625, 0.7][2 * layer + head];
      return steps >= 10 && layer === 1 && head === 0 ? 0.0625 : 0;
    },
  });
  const settings = settingsFor('induction', { layers: 2, heads: 2 });
  const run = begun(engine, settings);
  for (let i = 0; i < 10; i += 1) run.step();
  const { births, snapshot } = run.news(null);
  assert.deepEqual(births, [{ score: 'previous', layer: 0, head: 1, step: 5 }]);
  assert.deepEqual(
    Array.from(snapshot.scores.slice(0, 4), (score) => Number(score.toFixed(4))),
    [0.25, 0.75, 0.625, 0.7],
  );
  const keys = web.probe(run.task).ids;
  assert.equal(snapshot.scores.length, 8);
  assert.equal(snapshot.weights.length, 4 * keys.length ** 2);
  assert.ok(snapshot.scores[6] > snapshot.scores[4] && snapshot.scores[7] === 0);
});

test('learn: news are of the steps since the last, and a snapshot only of new ones', () => {
  const engine = fakeEngine({ cost: (step) => [10, 20, 5, 8, 4, 2, 16][step] });
  const run = begun(engine, settingsFor('copy'));
  const tell = (steps) => {
    for (let i = 0; i < steps; i += 1) run.step();
    const { step, loss, accuracy, judged, snapshot } = run.news(null);
    assert.equal(loss.length, accuracy.length);
    return [step, Array.from(loss), judged.map((each) => each.step), snapshot?.step ?? null];
  };
  const lossesAt = (...steps) => steps.map((step) => Math.fround(4 / step));
  assert.deepEqual(tell(1), [1, lossesAt(1), [0], 1]);
  assert.deepEqual(tell(0), [1, [], [], null]);
  assert.deepEqual(tell(2), [3, lossesAt(2, 3), [], 3]);
  assert.deepEqual(tell(4), [7, lossesAt(4, 5, 6, 7), [5], 7]);
});

test('learn: steps a second are a mean that forgets a tenth with each step', () => {
  const run = begun(fakeEngine({ cost: (step) => [10, 20][step] }), settingsFor('copy'));
  run.step();
  assert.equal(run.news(null).rate, 100);
  run.step();
  assert.ok(Math.abs(run.news(null).rate - (0.9 * 100 + 0.1 * 50)) < 1e-9);
});

test('learn: an answer is the likeliest token, with its probability', () => {
  const run = begun(fakeEngine(), settingsFor('copy'));
  const { answers, certainty } = run.snapshot();
  const { ids } = web.probe(run.task);
  ids.forEach((id, place) => {
    const logits = Array.from({ length: run.task.vocabulary }, (_, token) => ((5 * id + 3 * token + place) % 17) / 4);
    const most = Math.max(...logits);
    const total = logits.reduce((sum, logit) => sum + Math.exp(logit - most), 0);
    assert.equal(answers[place], logits.indexOf(most));
    assert.ok(Math.abs(certainty[place] - 1 / total) < 1e-6);
  });
}); // prettier-ignore

test('learn: a run keeps 96 moments, and looks at no others', () => {
  const engine = fakeEngine();
  const run = begun(engine, settingsFor('reverse'));
  const looks = () => engine.asked.filter(([what]) => what === 'forward').length;
  for (let i = 0; i < 95; i += 1) run.step();
  assert.equal(run.history.steps.length, 96);
  assert.equal(looks(), 96);
  run.step();
  assert.deepEqual(
    run.history.steps,
    Array.from({ length: 49 }, (_, i) => 2 * i),
  );
  const before = looks();
  for (let i = 0; i < 10; i += 1) run.step();
  assert.equal(looks() - before, 5 + 1, 'each second one, and step 105, which is judged');
  assert.deepEqual(run.history.steps.slice(-5), [98, 100, 102, 104, 106]);
  assert.equal(run.history.nearest(97).step, 96, 'the earlier of two');
});

test('learn: what is written reads its own answers', () => {
  const read = [];
  // The next token is the sum of all before it and their number.
  const nextOf = (text) => (text.reduce((a, b) => a + b, 0) + text.length) % 12;
  const forward = (ids, { batch }) => {
    const length = ids.length / batch;
    read.push([batch, length]);
    const data = new Float32Array(ids.length * 12).fill(-1);
    for (let row = 0; row < batch; row += 1) {
      for (let place = 0; place < length; place += 1) {
        const text = ids.slice(row * length, row * length + place + 1);
        data[(row * length + place) * 12 + nextOf(text)] = 2;
      }
    }
    return { logits: { data } };
  };
  const task = web.taskOf('addition', '');
  const writing = web.write({ forward }, task, 42);
  assert.deepEqual(
    read,
    [6, 7, 8].map((length) => [16, length]),
  );
  const rows = web.prompts(task, 16);
  assert.deepEqual(rows[0], web.probe(task));
  const wanted = rows.map(({ ids, targets }) => {
    const text = ids.slice(0, 6);
    while (text.length < 9) text.push(nextOf(text));
    return { given: text.slice(0, 6), written: text.slice(6), right: targets.slice(5) };
  });
  const hits = wanted.flatMap(({ written, right }) => right.map((id, i) => id === written[i]));
  const accuracy = hits.filter(Boolean).length / hits.length;
  assert.deepEqual(writing, { step: 42, ...wanted[0], accuracy, rows: 16 });
  assert.ok(accuracy > 0 && accuracy < 1);
  assert.equal(web.write({ forward }, web.taskOf('reverse', ''), 1), null);
});

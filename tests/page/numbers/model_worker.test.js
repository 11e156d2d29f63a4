// What the worker of a trained model answers, in Node: everything that the panel shows of a text, against what the package does with the
// same model; what it writes; and what it cannot read.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { austen, charactersOf, files } from '../support/austen.js';
import { tickingClock } from '../support/clock.js';
import { close } from '../support/close.js';
import { modules, packageModule } from '../support/engine.js';

const web = await modules(
  'features/model/worker/{analyses,safetensors,generation,model_host,open_model,head_scores}',
  'features/model/shared/model_view',
);
const qkv = await (await packageModule('index')).init();

describe('the host', () => {
  const TEXT = 'She was tired. She was';
  const ask = {
    text: TEXT,
    length: null,
    at: null,
    sampling: { temperature: 0.8, topK: 5, topP: 0.9 },
    ablated: [[1, 2]],
    near: null,
    head: null,
    brought: false,
  };
  /** A host with a model, and everything that it says; `until(kind, test)` waits for one of its messages. */
  async function hosted(from) {
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
    host.receive({ kind: 'load', files: from });
    return { host, said, until };
  }
  const answer = (name) => (message) => message.kind === 'answers' && name in message.news;
  let page;
  let model;
  let ids;
  before(async () => {
    page = await hosted(files);
    await page.until(({ kind }) => kind === 'loaded');
    page.host.receive({ kind: 'ask', ask });
    ({ model, ids } = await austen(qkv, web, TEXT));
  });
  const told = async (name) => (await page.until(answer(name))).news[name];

  test('says what was loaded', async () => {
    const { info } = await page.until(({ kind }) => kind === 'loaded');
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
    let [sum, queries] = [0, 0];
    for (let t = 0; t < 101; t++) {
      const after = twice.flatMap((id, s) => (s < t && id === twice[t] ? [s + 1] : []));
      if (after.length > 0) queries++;
      for (const key of after) sum += data[(3 * 101 + t) * 101 + key];
    }
    assert.ok(queries >= 50);
    close(scores.induction[7], sum / queries, 1e-5, 'induction of head 1.3');
  });

  test('the tokens that the package draws are those that the selection leaves, as often as the bars say', async () => {
    const { bars, keptP, label, entropy, cut } = await told('next');
    assert.equal(label, 's');
    const counts = new Map();
    const draws = 600;
    for (let seed = 0; seed < draws; seed++) {
      const options = { ...ask.sampling, maxTokens: 1, seed, inspect: { ablate: ask.ablated } };
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
    const shares = (inspect) => {
      const { logits } = model.forward(ids, { rows: 'last', inspect });
      const powers = Array.from(logits.data, (x) => Math.exp(x));
      const sum = powers.reduce((a, b) => a + b);
      return powers.map((x) => x / sum);
    };
    const [p, whole] = [shares({ ablate: ask.ablated }), shares({})];
    close(entropy, -p.reduce((h, x) => h + x * Math.log(x), 0), 1e-5, 'entropy');
    const likeliest = whole.indexOf(Math.max(...whole));
    assert.deepEqual(cut.heads, ask.ablated);
    close(cut.whole, whole[likeliest], 1e-5, 'the likeliest token of the whole model');
    close(cut.cut, p[likeliest], 1e-5, 'the same token without the head');
    assert.ok(Math.abs(cut.cut - cut.whole) > 1e-4, 'the head does something');
  });

  test('the lens ends with what the model says', async () => {
    const { layers } = await told('lens');
    const next = await told('next');
    assert.equal(layers.length, 4);
    assert.equal(layers[3].tokens[0].id, next.bars[0].id);
    const { logits } = model
      .forward(ids, { inspect: { logitLens: true, layers: [1], ablate: ask.ablated } })
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
    page.host.receive({ kind: 'generate', seed: 3, tokens: 20, pace: null });
    const { generated } = await page.until((m) => m.kind === 'generated' && !m.generated.running);
    const drawn = [];
    const options = { ...ask.sampling, maxTokens: 20, seed: 3, inspect: { ablate: ask.ablated } };
    for await (const { id } of model.generate(ids, options)) drawn.push(id);
    const characters = await charactersOf(web);
    assert.equal(generated.text, drawn.map((id) => characters[id]).join(''));
    assert.equal(generated.tokens, 20);
    assert.equal(generated.cached, ids.length + 20);
    assert.equal(generated.capacity, 256);
    assert.equal(generated.bytesPerToken, 4 * 2 * 128 * 4);
    assert.ok(generated.median > 0);
  });

  test('what a model writes is told no more when another one has taken its place', async () => {
    const pace = 20;
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
    page.host.receive({ kind: 'changes' });
    const { changes } = await page.until((m) => m.kind === 'changes' && !m.changes.running);
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
    page.host.receive({ kind: 'speed' });
    const { speed } = await page.until((m) => m.kind === 'speed' && !m.speed.running);
    assert.ok(speed.difference < 1e-3, `${speed.difference}`);
    assert.ok(speed.points.every(({ cached, whole: all }) => cached === 1 / 8 && all === 1));
    assert.equal(speed.points.at(-1).length, 248);
  });

  test('a file that says it reads a million tokens has no cache for them', async () => {
    const { init } = await packageModule('train');
    const engine = await init();
    const sizes = { vocabulary: 5, numLayers: 1, dModel: 8, numHeads: 2, dFeedForward: 0 };
    const trainer = engine.languageModel({ ...sizes, positions: 'rotary', maxLength: 2 ** 20 });
    const own = new File([trainer.save()], 'endless.safetensors');
    engine.dispose();
    const { host, until } = await hosted({ kind: 'files', files: [own] });
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
    const own = new File([trainer.save()], 'numbers.safetensors'); // no tokenizer: it reads numbers
    engine.dispose();
    const { host, said, until } = await hosted({ kind: 'files', files: [own] });
    await until(({ kind }) => kind === 'loaded');
    const follow = ['next', 'losses', 'lens', 'rollout', 'scores', 'grid', 'reads'];
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
    const photo = new File([new Uint8Array(100)], 'photo.safetensors');
    const { until } = await hosted({ kind: 'files', files: [photo] });
    const { failure } = await until(({ kind }) => kind === 'refused');
    assert.equal(failure.code, 'invalid_argument');
    assert.match(failure.message, /expected safetensors, GGUF or a llama2\.c checkpoint/);
    const other = await hosted({ kind: 'files', files: [new File(['{}'], 'config.json')] });
    assert.equal((await other.until(({ kind }) => kind === 'refused')).failure.code, 'no_weights');
  });
});

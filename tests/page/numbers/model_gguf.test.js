// GGUF files of 4 bits, in Node: chosen or dropped, and by an address; what is said of them, and that every part of the panel has
// numbers of them.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { gguf } from '../../support/js/gguf.js';
import { until } from '../../support/js/patience.js';
import { answer, serve } from '../../support/js/server.js';
import { modules, packageModule } from '../support/engine.js';

const web = await modules('features/model/worker/{model_host,open_model}', 'app/trained_model');

const WIDTH = 256;
const VOCABULARY = 24;

/** A Llama of two layers with a tokenizer of letters, its matrices in the types that `typeOf` gives for their names. */
function llama(typeOf) {
  const shapes = { 'token_embd.weight': [VOCABULARY, WIDTH], 'output_norm.weight': [WIDTH] };
  for (const layer of [0, 1]) {
    const at = `blk.${layer}.`;
    for (const name of ['attn_norm', 'ffn_norm']) shapes[`${at}${name}.weight`] = [WIDTH];
    for (const name of ['q', 'k', 'v', 'output']) {
      shapes[`${at}attn_${name}.weight`] = [WIDTH, WIDTH];
    }
    for (const name of ['gate', 'up', 'down']) shapes[`${at}ffn_${name}.weight`] = [WIDTH, WIDTH];
  }
  let state = 7;
  const next = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 31 - 1;
  const tensors = Object.entries(shapes).map(([name, shape]) => {
    const isGain = shape.length === 1;
    const count = shape.reduce((n, extent) => n * extent);
    const data = Float32Array.from({ length: count }, () => (isGain ? 1 : next() / 8));
    return { name, shape, type: isGain ? 'F32' : typeOf(name), data };
  });
  const tokens = ['<unk>', '<s>', '</s>', '▁', ...'abcdefghijklmnopqrst'];
  const metadata = {
    'general.architecture': 'llama',
    ...{ 'llama.block_count': 2, 'llama.embedding_length': WIDTH, 'llama.context_length': 32 },
    ...{ 'llama.feed_forward_length': WIDTH, 'llama.attention.head_count': 4 },
    'llama.attention.layer_norm_rms_epsilon': { float: 1e-5 },
    'tokenizer.ggml.model': 'llama',
    'tokenizer.ggml.tokens': tokens,
    'tokenizer.ggml.scores': new Float32Array(tokens.length),
    'tokenizer.ggml.token_type': Int32Array.from(tokens, (_, id) => [2, 3, 3][id] ?? 1),
    ...{ 'tokenizer.ggml.bos_token_id': 1, 'tokenizer.ggml.eos_token_id': 2 },
  };
  return gguf({ metadata, tensors });
}

const FILES = {
  Q4_0: [llama(() => 'Q4_0'), 'int4'],
  // As llama-quantize mixes them: the embedding and some maps in six bits.
  Q4_K_M: [llama((name) => (/embd|attn_v/.test(name) ? 'Q6_K' : 'Q4_K')), 'q4_k'],
};

describe('model: 4-bit GGUF files', () => {
  let qkv;
  let server;
  before(async () => {
    qkv = await (await packageModule('index')).init();
    server = await serve((path) => {
      const [bytes] = FILES[/(\w+)\.gguf$/.exec(path)?.[1]] ?? [];
      return bytes && answer(bytes, 'application/octet-stream');
    });
  });
  after(() => server.close());

  /** A host with what was loaded of these files, and its view as the page has it. */
  async function loaded(files) {
    const host = new web.ModelHost(qkv, (message) => trained.receive(message));
    const trained = new web.TrainedModel((message) => host.receive(message));
    const state = { text: 'abc cab abc', length: null, modelAt: null, modelNear: null };
    const more = { modelOut: [[1, 2]], modelHead: [1, 1], modelReads: 'brought' };
    const sampling = { modelTemperature: 1, modelTopK: 0, modelTopP: 1 };
    trained.tell({ kind: 'load', files }, { ...state, ...more, ...sampling });
    const called = trained.view.loading.what;
    await until(() => trained.view.refused ?? trained.view.failed ?? trained.view.answers.near !== undefined);
    return { trained, host, called, view: () => trained.view };
  }

  for (const [name, [bytes, format]] of Object.entries(FILES)) {
    const sources = {
      dropped: () => ({ kind: 'files', files: [new File([bytes], `${name}.gguf`)] }),
      'by its address': () => ({ kind: 'web', url: `${server.url}/models/${name}.gguf?download=true` }),
    };
    for (const [how, files] of Object.entries(sources)) {
      test(`${name}, ${how}: is loaded in its format, and every part has numbers`, async () => {
        const { called, host, view } = await loaded(files());
        assert.equal(called, `${name}.gguf`);
        const { refused, failed, info, answers } = view();
        assert.deepEqual([refused, failed], [null, null]);
        const { file, fileBytes, tokenizer, speaks } = info;
        assert.deepEqual(
          { file, fileBytes, tokenizer, speaks, name: info.name, format: info.format },
          {
            ...{ file: `${name}.gguf`, fileBytes: bytes.length, tokenizer: 'file', speaks: true },
            ...{ name: null, format },
          },
        );
        const { reading, next, losses, lens, rollout, scores, grid, reads } = answers;
        assert.deepEqual(reading.labels.slice(0, 5), ['∅', '␣', 'a', 'b', 'c']);
        const all = [
          ...[reading.surprisal.subarray(1), losses.ablated, next.entropy, scores.previous],
          ...[scores.difference, lens.layers[1].last, rollout.own, reads.rows, reads.map],
          grid.layers.flatMap((row) => row.map(({ p }) => p)),
        ];
        assert.ok(all.flatMap((part) => (typeof part === 'number' ? part : [...part])).every(Number.isFinite));
        host.receive({ kind: 'changes' });
        await until(() => view().changes?.running === false);
        assert.ok(view().changes.changes.every(Number.isFinite));
        host.receive({ kind: 'generate', seed: 1, tokens: 4, pace: null });
        await until(() => view().generated?.running === false);
        assert.equal(view().generated.tokens, 4);
        const heads = host.heads({ model: info.id, ids: reading.ids });
        assert.equal(heads.list.length, 8);
      });
    }
  }

  test('an address without a file is refused with the reason', async () => {
    const { view } = await loaded({ kind: 'web', url: `${server.url}/none.gguf` });
    const { what, failure } = view().refused;
    assert.equal(what, 'none.gguf');
    assert.deepEqual([failure.code, failure.message], ['address_failed', `${server.url}/none.gguf: status 404, expected 200`]);
  });
}); // prettier-ignore

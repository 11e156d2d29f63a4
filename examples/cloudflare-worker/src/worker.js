// A worker of Cloudflare with a language model of one megabyte in it. These hosts compile no WebAssembly while a program runs, evaluate
// no text, and a worker cannot fetch its own files: so the .wasm and the weights are modules.
//
//   GET /attention?text=...   which letters the last letter attends to, by every head
//   GET /continue?text=...    what may come next, as it is said; &tokens=200 &temperature=0.8 &seed=1
import { init } from 'qkv';
import { load } from 'qkv/models';
import wasm from 'qkv/qkv-simd.wasm';
import weights from '../../../models/austen/austen.safetensors';

const model = await load(await init({ wasm }), { weights });

/** What a person asks for wrongly, with what is wrong. */
const refuse = (what) => new Response(`${what}\n`, { status: 400 });

function attention(text) {
  const ids = model.encode(text);
  const last = [ids.length - 1, ids.length];
  const { layers } = model.forward(ids, { rows: 'last', inspect: { weights: true, rows: last } });
  const heads = Array.from(layers, ([layer, { weights }]) =>
    Array.from({ length: weights.shape[1] }, (_, head) => {
      const row = weights.data.subarray(head * ids.length, (head + 1) * ids.length);
      return { layer, head, weights: Array.from(row) };
    }),
  );
  return Response.json({
    tokens: Array.from(ids, (id) => model.decode([id])),
    heads: heads.flat(),
  });
}

function goOn(text, params) {
  const number = (name, otherwise) => Number(params.get(name) ?? otherwise);
  const seed = params.has('seed') ? number('seed') : undefined;
  const options = {
    maxTokens: number('tokens', 200),
    temperature: number('temperature', 0.8),
    seed,
  };
  const tokens = model.generate(text, options); // what is wrong with them is thrown here
  const utf8 = new TextEncoder();
  const body = new ReadableStream({
    async pull(controller) {
      const { done, value } = await tokens.next();
      if (done) controller.close();
      else controller.enqueue(utf8.encode(value.text));
    },
    cancel: () => tokens.return(), // the reader has gone
  });
  return new Response(body, { headers: { 'content-type': 'text/plain; charset=utf-8' } });
}

export default {
  fetch(request) {
    const { pathname, searchParams: params } = new URL(request.url);
    const text = params.get('text');
    if (!text) return refuse('expected ?text=');
    try {
      if (pathname === '/attention') return attention(text);
      if (pathname === '/continue') return goOn(text, params);
    } catch (error) {
      return refuse(error.message);
    }
    return new Response('expected /attention or /continue\n', { status: 404 });
  },
};

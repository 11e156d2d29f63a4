// The types of qkv/models, checked by the compiler alone: every option and no other, what follows from options, and misuse that is refused.
import type { NdArray, Qkv } from 'qkv';
import * as models from 'qkv/models';
import type { LanguageModel, Session, Token } from 'qkv/models';
import { regularExpression } from 'qkv/constraints';
import type { TrainQkv } from 'qkv/train';

import { every, same, type Same } from './same.js';

declare const floats: NdArray;

/** Every option of every function, and what the function returns. */
export async function returns(engine: Qkv, signal: AbortSignal): Promise<unknown[]> {
  const config = every<models.LanguageModelConfig>()({
    ...{ family: 'x', vocabulary: 1, numLayers: 1, dModel: 1, numHeads: 1, numKvHeads: 1, dK: 1 },
    ...{ dFeedForward: 1, maxLength: 1, causal: true, norm: 'post', normType: 'rms', epsilon: 1 },
    ...{ activation: 'geglu', positions: 'alibi', qkNorm: true, parallelResidual: true },
    ...{ tiedEmbeddings: true, biases: true, embeddingScale: 1, window: [1, null] },
    ...{ attentionSoftcap: 1, logitSoftcap: 1, attentionScale: 1, qkvBiases: true },
    ...{ tokenTypes: 1, postNorms: true, embeddingNorm: true, head: true as const },
    ...{ headBias: true, qkNormOf: 'whole', firstNorm: true, symmetricWindow: true },
    ...{ relativeBuckets: 8, relativeMaxDistance: 16, encoderLayers: 1, startToken: 0 },
    ...{ numExperts: 2, expertsPerToken: 1, normalizedExperts: true },
    ...{ headTransform: 'tanh', headNorm: true, classes: 2, headPooling: 'mean' },
    rotary: { base: 1, rotaryDim: 2, interleaved: true, scaling: { type: 'linear', factor: 2 } },
  });
  const tokenizer = every<models.Tokenizer>()({
    ...{ encode: () => [1], encodePlain: () => [1], decode: () => '', begin: 1, mask: 2 },
    encodeBare: (text, escape) => [text.length, escape === undefined ? 0 : 1],
    bytesOf: (id) => (id > 0 ? Uint8Array.of(id) : undefined),
    controls: ['x'],
    toJSON: () => ({ type: 'pieces', tokens: ['x'] }),
    encodePair: (first, second, most) => ({
      ...{ ids: [first.length], types: [second.length], isCut: most === 1 },
    }),
  });
  const source = every<models.Source>()({
    ...{ config: 'x', weights: ['x', new URL('x:y'), new Blob(), new ArrayBuffer(1)], tokenizer },
    ...{ generation: 'x', pooling: {}, tokenizerConfig: new URL('x:y'), chatTemplate: 'x' },
  });
  const json: models.TokenizerJson = { model: {} };
  await models.load(engine, { weights: 'x', tokenizer: json });
  await models.load(engine, { weights: 'x', tokenizer: new URL('x:y') });
  console.log(models.jsonTokenizer(json).encode('x').length);
  const loading = every<models.LoadOptions>()({
    ...{
      format: 'int8',
      maxLength: 1,
      head: false,
      signal,
      onProgress: ({ loaded, rate, file, cacheProblem = '' }) =>
        loaded.toFixed() + rate.toFixed() + file + cacheProblem,
      headers: (address) => (address === '' ? undefined : { a: address }),
      hub: { host: 'https://a.test', token: 'x', headers: { a: 'b' } },
      fetch: (address, init) => fetch(address, init),
      tries: 2,
      sha256: { 'model.gguf': 'x' },
      cache: models.modelCache({ folder: 'x', maxBytes: 1 }),
    },
    ...{ sha256: { x: 'y' }, cache: models.modelCache({ folder: 'x' }), tries: 1 },
    ...{ hub: every<models.HubOptions>()({ host: 'x:y', token: 'x', headers: { x: 'y' } }) },
    ...{ headers: (address) => ({ x: address }), fetch: (address) => fetch(address) },
  });
  await models.load(engine, 'hub:a/b', { fetch, headers: { a: 'b' }, cache: { name: 'x' } });
  const kept: Promise<models.KeptFile[]> = models.modelCache().list();
  console.log((await kept)[0]?.used.getTime());
  const creating = every<models.CreateOptions>()({ format: 'bf16', maxLength: 1, tokenizer });
  const made = models.create(engine, config, { x: floats }, creating);
  const model: LanguageModel = await models.load(engine, source, loading);
  const inspect = every<models.Inspect>()({
    ...{ layers: [1], weights: true, entropy: true, residuals: true, logitLens: true },
    ...{ projections: true, ablate: [[0, 1] as const], rows: [0, 1] as const },
  });
  const { rows, ...single } = inspect;
  const ofSession = every<models.SessionOptions>()({
    ...{ batch: 1, capacity: 1, format: 'bf16', source: [1], plain: true },
    ...{ read: [{ site: 'q' as const }], edit: [{ site: 'embed' as const, scale: 2 }] },
    ...{ from: new Uint8Array(1), shift: every<models.SessionShift>()({ keep: 1 }) },
  });
  const session: Session = model.session(ofSession);
  const read = every<models.Read>()({ site: 'z', layers: [0], rows: [0, 1] as const });
  const edit = every<models.Edit>()({
    ...{ site: 'scores', layer: 0, head: 0, value: floats, add: floats.data, scale: 1 },
    ...{ batch: [0, 1] as const, rows: [0, 1] as const, keys: [0, 1] as const },
    columns: [0, 1] as const,
  });
  const passing = every<models.ForwardOptions>()({
    ...{ batch: 1, rows: 'last', hidden: true, session, inspect, plain: true },
    ...{ keyLengths: [1], tokenTypes: [1], read: [read], edit: [edit] },
  });
  const { logits, hidden, layers } = model.forward('x', passing);
  const constraint = regularExpression('x');
  const sampling = every<models.GenerateOptions>()({
    ...{ temperature: 1, topK: 1, topP: 1, minP: 1, repetitionPenalty: 1, seed: 1, maxTokens: 1 },
    ...{ stop: ['x'], stopTokens: [1], session, inspect: single, signal, plain: true },
    ...{ frequencyPenalty: 1, presencePenalty: 1, logitBias: { 1: -Infinity }, banned: [1] },
    ...{ forced: [1], mask: (answer) => answer, constraint, topLogprobs: 1, reuse: true },
    ...{ read: [read], edit: [edit] },
  });
  const tokens = model.generate([1], sampling);
  const embedding = every<models.EmbedOptions>()({
    ...{ pooling: 'cls', normalize: true, truncate: true, plain: true, signal },
    onProgress: ({ done, of }: models.TextProgress) => console.log(done / of),
  });
  const vectors: models.Embeddings = await model.embed(['x', [1]], embedding);
  const near: models.Neighbour | undefined = models.nearest(vectors, floats, 1)[0];
  const cosines: readonly [number, number] = models.cosineSimilarity(vectors).shape;
  const scoring = every<models.ScoreOptions>()({
    ...{ truncate: true, plain: false, signal },
    onProgress: ({ done, of }: models.TextProgress) => console.log(done / of),
  });
  const scores: models.Scores = await model.score(['x', ['x', 'y'], [1]], scoring);
  const filling = every<models.FillMaskOptions>()({ top: 1, mask: 2 });
  const fill: models.Guess | undefined = model.fillMask('x', filling)[0]?.[0];
  console.log(scores.data[0], scores.truncated[0], scores.shape[1], fill?.text);
  console.log(vectors.truncated.length, near?.index, near?.similarity, cosines);
  const ofLoss = every<models.LossOptions>()({ batch: 1, inspect: {}, plain: true, edit: [edit] });
  const nats: number = made.loss('x', ofLoss);
  const counts: number[] = [model.parameterCount, model.bytes, session.length, session.bytes];
  const texts: readonly (string | undefined)[] = [...model.ignored, model.tokenizerProblem];
  const pooling: 'mean' | 'cls' | 'last' | undefined = model.pooling;
  session.truncate(1);
  return [logits, hidden, layers, rows, tokens, vectors, nats, counts, texts, pooling];
}

export async function use(engine: Qkv, train: TrainQkv, model: LanguageModel): Promise<void> {
  // An engine that trains is one that runs models, and what a trainer is made of a model is made of too.
  const config = train.languageModel({ ...model.config, head: true }).model.config;
  using made = models.create(train, config, {});
  const session: Session = made.session();
  for await (const token of made.generate([1], { session })) {
    const { id, text }: Token = token;
    console.log(id.toFixed(), text.trim());
    // @ts-expect-error without `inspect` nobody knows that there are layers
    token.layers.get(0);
  }
  // What a pass or a draw has given is a list of tokens as it is, and a tokenizer of arrays alone will do.
  console.log(made.tokenizer?.decode(new Int32Array(2)).trim());
  const ofArrays = { encode: () => [1], decode: (ids: readonly number[]) => ids.join() };
  models.create(train, config, {}, { tokenizer: ofArrays });
  // @ts-expect-error a model has no vocabulary of its own
  console.log(model.vocabulary);
  // @ts-expect-error an activation that there is not
  models.create(engine, { ...config, activation: 'tanh' }, {});
  // @ts-expect-error a format that there is not
  await models.load(engine, { weights: 'x' }, { format: 'f8' });
  // Bytes, of one file or of several, and a Buffer of Node is a Uint8Array.
  await models.load(engine, { weights: new Uint8Array(9), generation: {}, pooling: 'x' });
  await models.load(engine, { weights: [new Uint8Array(9), new ArrayBuffer(9)] });
  // @ts-expect-error nothing to load
  await models.load(engine, {});
  // @ts-expect-error rows have no meaning for single tokens
  made.generate([1], { inspect: { rows: [0, 1] } });
  // @ts-expect-error configs are not changed
  made.config.dModel = 3;
  // @ts-expect-error a misspelt option
  made.forward([1], { row: 'last' });
}

/** What a pass returns follows from what was asked, and from whether the model has a head. */
export function follows(engine: Qkv, model: LanguageModel): unknown[] {
  const read = { weights: true, projections: true } as const;
  const { logits, layers } = model.forward([1], { inspect: read });
  const of = layers.get(0);
  const width: number | undefined = of && of.weights.shape[3] + of.q.shape[3] + of.v.shape[3];
  const shape: readonly [batch: number, tokens: number, vocabulary: number] = logits.shape;
  const stream: NdArray = model.forward([1], { hidden: true }).hidden;
  const config = { vocabulary: 2, numLayers: 1, dModel: 2, numHeads: 1, dFeedForward: 2 } as const;
  const encoder = models.create(engine, { ...config, maxLength: 2, head: false }, {});
  const only: NdArray = encoder.forward([1]).hidden;
  // @ts-expect-error an encoder without a head has no logits
  encoder.forward([1]).logits.data;
  // @ts-expect-error entropy that nobody asked for
  of?.entropy.data;
  // @ts-expect-error without `inspect` there are no layers
  model.forward([1]).layers.get(0);
  // @ts-expect-error the stream is there if asked for
  model.forward([1], { hidden: Math.random() > 0.5 }).hidden.data;
  // @ts-expect-error a misspelt reading
  model.forward([1], { inspect: { wieghts: true } });
  return [width, shape, stream, only];
}

/** Tokens have what was read of their pass; bytes may come as they are, whole or in shards. */
export async function told(engine: Qkv, bytes: Uint8Array): Promise<unknown> {
  const model = await models.load(engine, { weights: [bytes, bytes.slice().buffer] });
  const tokens = model.generate([1], { inspect: { logitLens: true } });
  const { value, done } = await tokens.next();
  await tokens.return(undefined);
  const encoder = await models.load<false>(engine, { weights: bytes });
  return [done || value.layers.get(0)?.logits.shape[2], encoder.forward([1]).hidden.data];
}

/** What is read follows from what was asked for, and what takes a model apart has every option. */
export async function places(model: LanguageModel, session: Session): Promise<unknown[]> {
  const { activations } = model.forward('x', {
    read: [{ site: 'z', layers: [1] }, { site: 'final' }],
  });
  const z: readonly [number, number, number, number] = activations.get('z', 1).shape;
  const final: readonly [number, number, number] = activations.get('final').shape;
  const own = model.session({ source: 'x', read: [{ site: 'weights' }], edit: [] });
  const seen: readonly [number, number, number, number] = own.activations.get('weights', 0).shape;
  // @ts-expect-error what was not asked for is not there
  own.activations.get('q', 0);
  // @ts-expect-error a session without `read` may have nothing
  model.session({ source: 'x' }).activations.get('z', 0);
  console.log(seen, own.capacity);
  // @ts-expect-error what was not asked for is not there
  activations.get('q', 0);
  // @ts-expect-error without `read` there is nothing
  model.forward('x').activations.get('z', 0);
  // @ts-expect-error a place that there is not
  model.forward('x', { read: [{ site: 'Z' }] });
  // @ts-expect-error a misspelt field
  model.forward('x', { read: [{ site: 'z', layer: 1 }] });
  // @ts-expect-error what each head gives is read alone
  model.forward('x', { edit: [{ site: 'heads', value: 0 }] });
  // @ts-expect-error a misspelt field
  model.loss('x', { edit: [{ site: 'z', layer: 1, heads: 1, value: 0 }] });
  // @ts-expect-error a misspelt field
  model.generate('x', { edit: [{ site: 'z', layer: 1, heads: 1, value: 0 }] });
  const listed: readonly models.Read[] = [{ site: 'q' }];
  const q: NdArray = model.forward('x', { read: listed }).activations.get('k', 0);
  const tokens = model.generate('x', {
    read: [{ site: 'q' }],
    edit: [{ site: 'embed', scale: 2 }],
  });
  for await (const { activations: own } of tokens) console.log(own.get('q', 0).shape[3]);
  const attributing = every<models.AttributeOptions<Session>>()({
    ...{ answer: 1, instead: 2, row: 0, edit: [{ site: 'embed' as const, scale: 2 }], session },
  });
  const { parts, total } = model.attribute('x', attributing);
  const value: number | undefined = parts[0]?.value;
  const sweeping = every<models.SweepOptions>()({
    ...{ clean: 'x', corrupt: [1], answer: 1, instead: 2, site: 'neurons', layer: 0, block: 4 },
    ...{ with: { mean: 'x' }, edit: [], signal: new AbortController().signal },
    onProgress: ({ done, of }: models.SweepProgress) => console.log(done / of),
  });
  const { grid, clean, corrupt } = await model.sweep(sweeping);
  const shape: readonly [rows: number, columns: number] = grid.shape;
  const scoring = every<models.HeadScoresOptions>()({ text: 'x', tokens: 1, seed: 1 });
  const [head] = model.headScores(scoring);
  const numbers = [head?.previous, head?.duplicate, head?.induction, head?.first, head?.copying];
  const weighing = every<models.NormWeightsOptions<Session>>()({
    ...{ layer: 0, rows: [0, 1] as const, session },
  });
  const [heads] = model.normWeights('x', weighing).shape;
  const looking = every<models.LensOptions<Session>>()({
    ...{ top: 1, layers: [0], edit: [], session },
  });
  const guess: models.Guess | undefined = model.lens('x', looking)[0]?.[0]?.[0];
  return [z, final, q, value, total, shape, clean, corrupt, numbers, heads, guess];
}

/** What `sample` tells follows from its options. */
export function sampled(engine: Qkv, logits: models.TokenLogits, count: number | undefined): void {
  const chosen = models.sample(engine, logits, { temperature: 1, topLogprobs: 2 });
  same<Same<typeof chosen.topLogprobs, readonly models.TokenProbability[]>>('same');
  const perhaps = models.sample(engine, logits, { topLogprobs: count });
  same<Same<typeof perhaps.topLogprobs, readonly models.TokenProbability[] | undefined>>('same');
  const plain = models.sample(engine, logits);
  same<Same<typeof plain.id, number>>('same');
  // @ts-expect-error: a typo
  models.sample(engine, logits, { topLogProbs: 2 });
}

/** Messages as programs have them: an interface of their own, fields for a template, what `ChatMessage` says. */
interface Said {
  role: 'user' | 'assistant';
  content: string;
}
export function talks(model: LanguageModel, said: readonly Said[]): unknown[] {
  const called = { role: 'assistant', content: null, tool_calls: [{ name: 'clock' }] } as const;
  const history: models.ChatMessage[] = [...said, called];
  history.push({ role: 'tool', content: 'noon', tool_call_id: 'a' });
  // @ts-expect-error -- a message has a role
  model.chat([{ content: 'noon' }]);
  // @ts-expect-error -- a text is a string
  model.chat([{ role: 'user', content: 1 }]);
  return [model.chat(said), model.chatPrompt(said), model.chat(history)];
}

// What options and results promise, checked by the compiler alone: what was asked for is there, what may be missing
// says so, and a misspelt option is refused.
import { init } from 'qkv';
import type {
  AttentionOptions,
  Destination,
  NdArray,
  NdMask,
  OwnedArray,
  Qkv,
  SoftmaxOptions,
  Tensor,
} from 'qkv';
import type { AsyncAttentionOptions, AsyncQkv, AsyncTensor } from 'qkv/worker';

declare const engine: Qkv;
declare const away: AsyncQkv;
declare const q: NdArray;
declare const tensor: Tensor;
declare const far: AsyncTensor;
declare const asked: { flag: boolean; weights: true | undefined };

/** What was asked for is there, and what may be missing says so. */
export function extras(): unknown[] {
  const all = engine.attention(q, q, q, {
    ...{ causal: true, window: [1, 0], dropout: { rate: 0.5, seed: 1 } },
    ...{ returnWeights: true, returnLogits: 'raw', returnLse: true, returnEntropy: true },
  } as const);
  const literal = engine.attention(q, q, q, { returnLogits: 'biased', returnLse: true });
  const layer = engine.multiHeadAttention({ dModel: 8, numHeads: 2 }, { wqkv: q, wo: q });
  const written = layer.forward(q, { returnEntropy: true, out: tensor });
  const sure: OwnedArray[] = [
    ...[all.output, all.weights, all.logits, all.lse, all.entropy, literal.logits, literal.lse],
    ...[written.entropy, engine.attention(q, q, q).output],
  ];

  const none = engine.attention(q, q, q, { numHeads: 1 });
  const flag = engine.attention(q, q, q, { returnWeights: asked.flag });
  const undefinedOr = engine.attention(q, q, q, { returnWeights: asked.weights });
  const options: AttentionOptions = { out: tensor };
  const unknown = engine.attention(q, q, q, options);
  const perhaps: (OwnedArray | undefined)[] = [
    ...[none.weights, flag.weights, undefinedOr.weights, unknown.output, unknown.weights],
  ];
  const either = engine.attention(q, q, q, asked.flag ? { returnWeights: true } : {});
  // @ts-expect-error: weights are there only if asked for
  none.weights.data;
  // @ts-expect-error: not for certain if asked for by a boolean
  flag.weights.data;
  // @ts-expect-error: nor by true or undefined
  undefinedOr.weights.data;
  // @ts-expect-error: nor by one of two sets of options
  either.weights.data;
  // @ts-expect-error: logits that nobody asked for
  all.logits && literal.weights.data;
  // @ts-expect-error: these options may hold an out, as they do here
  unknown.output.data;
  // @ts-expect-error: nor is there an output with a known one
  written.output;
  return [sure, perhaps];
}

/** What functions return goes where only memory of one thread may go. */
export function owned(): unknown[] {
  const { output } = engine.attention(q, q, q);
  const blob = new Blob([output.data, engine.alibiSlopes(2), tensor.toNdArray().data]);
  const bytes: BufferSource = engine.gelu(q).data;
  const { entropy } = engine.headStatistics(q);
  return [blob, bytes, new Blob([entropy.data])];
}

declare const maybe: {
  mask: NdMask | undefined;
  number: number | undefined;
  lengths: readonly number[] | undefined;
};

/** Undefined is as good as nothing, for every option. */
export function leftOut(): void {
  const { mask, number, lengths } = maybe;
  engine.attention(q, q, q, { mask, scale: number, keyLengths: lengths, causalOffset: number });
  engine.softmax(q, { axis: number, out: undefined });
  engine.rotaryEmbedding(q, { positions: lengths, scaling: undefined });
  engine.multiHeadAttention({ dModel: 8, numHeads: 2, dK: number }, { wo: q, bo: undefined });
  engine.kvCache({ numKvHeads: 1, capacity: 1, dK: 1, dV: number, format: undefined });
  void init({ variant: undefined, threads: number, wasm: undefined });
}

/** Tensors are read in place wherever arrays are read, and whole numbers come in plain arrays too. */
export function tensorsAndNumbers(): void {
  engine.embedding(tensor, [1, 2, 3]);
  engine.embedding(q, Int32Array.of(1));
  engine.learnedEncoding(tensor, 4);
  engine.t5RelativeBias(tensor, 4, 4);
  engine.transformerXlBias(tensor, tensor, tensor);
  engine.attention(q, q, q, { bias: tensor, mask: tensor, keyLengths: [3], causalOffset: [0] });
  // @ts-expect-error: no text among the numbers
  engine.embedding(q, ['1']);
  // @ts-expect-error: nor numbers of another kind
  engine.embedding(q, Float32Array.of(1));
}

declare const softmaxOptions: SoftmaxOptions & Partial<Destination>;

export function misuses(): void {
  // @ts-expect-error: a typo beside options that are right
  engine.attention(q, q, q, { causal: true, returnWieghts: true });
  const typo = { causal: true, returnWieghts: true };
  // @ts-expect-error: also in a variable: the engine refuses it as well
  engine.attention(q, q, q, typo);
  // @ts-expect-error: a typo in a layer's options
  engine.multiHeadAttention({ dModel: 8, numHeads: 2 }, { wo: q }).forward(q, { casual: true });
  // @ts-expect-error: a typo in ALiBi
  engine.attention(q, q, q, { bias: { kind: 'alibi', slops: new Float32Array(1) } });
  // @ts-expect-error: and in dropout
  engine.attention(q, q, q, { dropout: { rate: 0.5, seed: 1, sede: 1 } });
  // @ts-expect-error: if out may be there, nobody knows whether there is a result
  engine.softmax(q, softmaxOptions).data;
}

/** The same in a worker. */
export async function inWorker(): Promise<unknown[]> {
  const { output, weights } = await away.attention(q, far, q, { returnWeights: true });
  const options: AsyncAttentionOptions = { out: far };
  const unknown = await away.attention(q, q, q, options);
  const layer = await away.multiHeadAttention({ dModel: 8, numHeads: 2 }, { wqkv: q, wo: q });
  const written = await layer.forward(q, { returnLse: true, out: far, signal: undefined });
  const sure: OwnedArray[] = [output, weights, written.lse];
  const bytes = new Blob([output.data, (await away.gelu(q)).data, await away.alibiSlopes(2)]);
  await away.embedding(far, [1, 2]);
  await away.attention(q, q, q, { bias: far, keyLengths: [1], transfer: undefined });
  // @ts-expect-error: these options may hold an out
  unknown.output.data;
  // @ts-expect-error: nor is there an output with a known one
  written.output;
  // @ts-expect-error: a typo beside options that are right
  await away.attention(q, q, q, { causal: true, returnWieghts: true });
  return [sure, bytes];
}

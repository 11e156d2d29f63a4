import type { NdArray } from 'qkv';
import type { TrainQkv } from 'qkv/train';
import { mean } from '../../../domain/averages';
import { hashText, normals } from '../../../engine/random';
import { added, glorot, normed, tapOf } from './block_taps';
import { EPSILON, PROBES, WIDER } from '../shared/constants';
import type { StackOptions } from '../shared/protocol';

/** Heads of a block in the stack. */
export const STACK_HEADS = 4;
/** Along a stack; entry l belongs to what block l reads, the last one to the output. */
export interface StackCurves {
  /** Mean norm of a row of the residual stream. */
  readonly stream: readonly number[];
  /**
   * Norm of the gradient of the output's component along a random direction, with respect to this input: the root
   * of the mean square over PROBES directions of length 1, which is |J| / sqrt(T d) for the Jacobian J.
   */
  readonly gradient: readonly number[];
}

interface Weights {
  readonly wq: NdArray;
  readonly wk: NdArray;
  readonly wv: NdArray;
  readonly wo: NdArray;
  readonly w1: NdArray;
  readonly w2: NdArray;
}

/** Glorot's rule, and with 'scaled' the two maps that add to the stream are divided by sqrt(2 depth), as in GPT-2. */
export function weightsOf(
  layer: number,
  dModel: number,
  { depth, seed, rule }: StackOptions,
): Weights {
  const draw = (name: string, rows: number, cols: number) =>
    glorot(`stack ${layer} ${name}`, seed, [rows, cols]);
  const factor = rule === 'scaled' ? 1 / Math.sqrt(2 * depth) : 1;
  const less = ({ data, shape }: NdArray) => ({ data: data.map((w) => w * factor), shape });
  return {
    wq: draw('wq', dModel, dModel),
    wk: draw('wk', dModel, dModel),
    wv: draw('wv', dModel, dModel),
    wo: less(draw('wo', dModel, dModel)),
    w1: draw('w1', dModel, WIDER * dModel),
    w2: less(draw('w2', WIDER * dModel, dModel)),
  };
}

/** One block, and what its gradient needs: x -> sub(norm(x)) + x, or norm(x + sub(x)), twice. */
class Block {
  readonly #qkv: TrainQkv;
  readonly #weights: Weights;
  readonly #options: StackOptions;
  #saved: ReturnType<Block['run']> | undefined;

  constructor(qkv: TrainQkv, weights: Weights, options: StackOptions) {
    this.#qkv = qkv;
    this.#weights = weights;
    this.#options = options;
  }

  forward(x: NdArray): NdArray {
    this.#saved = this.run(x);
    return this.#saved.output;
  }

  private run(x: NdArray) {
    const qkv = this.#qkv;
    const { place, type, attention } = this.#options;
    const { wq, wk, wv, wo, w1, w2 } = this.#weights;
    const pre = place === 'pre';
    const norm = (of: NdArray) => normed(qkv, type, of);
    const read = pre ? norm(x) : x;
    const [q, k, v] = [qkv.linear(read, wq), qkv.linear(read, wk), qkv.linear(read, wv)];
    const options = { numHeads: STACK_HEADS, ...attention };
    const attended = qkv.attention(q, k, v, { ...options, returnLse: true as const });
    const sum1 = added(x, qkv.linear(attended.output, wo));
    const middle = pre ? sum1 : norm(sum1);
    const inside = pre ? norm(middle) : middle;
    const before = qkv.linear(inside, w1);
    const hidden = qkv.gelu(before);
    const sum2 = added(middle, qkv.linear(hidden, w2));
    const output = pre ? sum2 : norm(sum2);
    return { x, read, q, k, v, options, attended, sum1, inside, before, hidden, sum2, output };
  }

  /** The gradient with respect to what forward() last read. */
  backward(dOutput: NdArray): NdArray {
    const saved = this.#saved;
    if (!saved) throw new Error('backward() before forward()');
    const pre = this.#options.place === 'pre';
    const dSum2 = pre ? dOutput : this.#normBackward(dOutput, saved.sum2);
    const dInside = this.#feedForwardBackward(dSum2, saved);
    const dMiddle = added(dSum2, pre ? this.#normBackward(dInside, saved.sum1) : dInside);
    const dSum1 = pre ? dMiddle : this.#normBackward(dMiddle, saved.sum1);
    const dRead = this.#attentionBackward(dSum1, saved);
    return added(dSum1, pre ? this.#normBackward(dRead, saved.x) : dRead);
  }

  #normBackward(dOutput: NdArray, x: NdArray): NdArray {
    const options = { epsilon: EPSILON };
    return this.#options.type === 'layer'
      ? this.#qkv.layerNormBackward(dOutput, x, options).dx
      : this.#qkv.rmsNormBackward(dOutput, x, options).dx;
  }

  #feedForwardBackward(dOutput: NdArray, saved: ReturnType<Block['run']>): NdArray {
    const { w1, w2 } = this.#weights;
    const dHidden = this.#qkv.linearBackward(dOutput, saved.hidden, w2).dx;
    const dBefore = this.#qkv.activationBackward(dHidden, saved.before, 'gelu');
    return this.#qkv.linearBackward(dBefore, saved.inside, w1).dx;
  }

  #attentionBackward(dOutput: NdArray, saved: ReturnType<Block['run']>): NdArray {
    const { q, k, v, options, attended, read } = saved;
    const { wq, wk, wv, wo } = this.#weights;
    const dConcat = this.#qkv.linearBackward(dOutput, attended.output, wo).dx;
    const { dq, dk, dv } = this.#qkv.attentionBackward(dConcat, q, k, v, attended, options);
    const back = (d: NdArray, w: NdArray) => this.#qkv.linearBackward(d, read, w).dx;
    return added(added(back(dq, wq), back(dk, wk)), back(dv, wv));
  }
}

/** A direction of length 1, the same for every stack of this shape and seed. */
export function direction(shape: readonly number[], seed: number, probe: number): NdArray {
  const size = shape.reduce((a, b) => a * b, 1);
  const drawn = new Float32Array(size + (size % 2));
  normals(hashText(`direction ${probe}`, seed))(drawn);
  const data = drawn.subarray(0, size);
  const length = Math.sqrt(data.reduce((sum, value) => sum + value * value, 0));
  return { data: data.map((value) => value / length), shape };
}

/** A stack of random blocks on x, forward and back. Yields after every block and every gradient. */
export function* stackCurves(
  qkv: TrainQkv,
  x: NdArray,
  options: StackOptions,
): Generator<undefined, StackCurves> {
  const dModel = x.shape[1]!;
  const { depth, seed } = options;
  const blocks: Block[] = [];
  const stream = [mean(tapOf(x).norms)];
  let at = x;
  for (let layer = 0; layer < depth; layer++) {
    const block = new Block(qkv, weightsOf(layer, dModel, options), options);
    at = block.forward(at);
    blocks.push(block);
    stream.push(mean(tapOf(at).norms));
    yield;
  }
  const squares = new Array<number>(depth + 1).fill(0);
  for (let probe = 0; probe < PROBES; probe++) {
    let gradient = direction(at.shape, seed, probe);
    for (let layer = depth; layer >= 0; layer--) {
      squares[layer]! += gradient.data.reduce((sum, value) => sum + value * value, 0);
      if (layer > 0) gradient = blocks[layer - 1]!.backward(gradient);
    }
    yield;
  }
  return { stream, gradient: squares.map((sum) => Math.sqrt(sum / PROBES)) };
}

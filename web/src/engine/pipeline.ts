import type { MultiHeadAttention, Qkv } from 'qkv';
import { checkLayer, exactScores, shiftResidual } from './check';
import { Stopwatch } from './clock';
import { D_MODEL, embedToken, NUM_HEADS, randomProjections, type Projections } from './model';
import type { Frame, LayerRequest, ShiftCheck } from './protocol';
import { stage, type StageLog } from './stage';

/** The picture of the encoding shows at least this many positions. */
const MIN_ENCODING = 64;

interface LayerResult {
  readonly weights: Float32Array;
  readonly entropy: Float32Array;
  readonly output: Float32Array;
}

/**
 * From tokens to a frame, in stages that run only when something before them changed: a new
 * temperature touches the forward pass and its check, a new k nothing but the shift.
 */
export class Pipeline {
  readonly #qkv: Qkv;
  readonly #log: StageLog = [];
  readonly #stopwatch = new Stopwatch();
  #layer: MultiHeadAttention | undefined;

  constructor(qkv: Qkv) {
    this.#qkv = qkv;
  }

  run(id: number, request: LayerRequest): Frame {
    this.#log.length = 0;
    const { tokens, causal, temperature, seed } = request;
    const length = Math.max(MIN_ENCODING, tokens.length);
    const encoding = this.#encoding(length);
    // One string instead of the array: requests arrive as copies, which are never identical.
    const embedded = this.#embedding(tokens.join('\0'), tokens.length, seed);
    const x = request.positions ? this.#addPositions(embedded, encoding.data) : embedded;
    const projections = this.#projections(seed);
    const result = this.#forward(x, projections, causal, temperature);
    const scores = this.#scores(x, projections);
    const check = this.#check(scores, result, causal, temperature);
    const shift = this.#shift(encoding.data, request.shift);
    const { heapBytes, usedBytes } = this.#qkv.memory();
    return {
      id,
      request,
      x,
      projections,
      ...result,
      encoding,
      shift,
      check,
      timing: this.#stopwatch.reading(),
      memory: { heapBytes, usedBytes },
      info: this.#qkv.info,
      ran: [...this.#log],
    };
  }

  readonly #encoding = stage('encoding', this.#log, (length: number) => {
    return { data: this.#qkv.sinusoidalEncoding(length, D_MODEL).data, length };
  });

  readonly #embedding = stage(
    'embedding',
    this.#log,
    (joined: string, count: number, seed: number) => {
      const x = new Float32Array(count * D_MODEL);
      if (count === 0) return x;
      joined.split('\0').forEach((token, t) => x.set(embedToken(token, seed), t * D_MODEL));
      return x;
    },
  );

  readonly #addPositions = stage(
    'positions',
    this.#log,
    (embedded: Float32Array, encoding: Float32Array) => {
      return embedded.map((value, i) => value + (encoding[i] ?? NaN));
    },
  );

  readonly #projections = stage('projections', this.#log, (seed: number) => {
    const projections = randomProjections(seed);
    const square = (data: Float32Array) => ({ data, shape: [D_MODEL, D_MODEL] });
    const layer = this.#qkv.multiHeadAttention(
      { dModel: D_MODEL, numHeads: NUM_HEADS },
      {
        wq: square(projections.wq),
        wk: square(projections.wk),
        wv: square(projections.wv),
        wo: square(projections.wo),
      },
    );
    this.#layer?.dispose(); // only now: had the new layer failed, the old one would still serve
    this.#layer = layer;
    return projections;
  });

  readonly #forward = stage(
    'forward',
    this.#log,
    // The projections are already packed into the layer; they stand here because the result depends on them.
    (x: Float32Array, _weights: Projections, causal: boolean, temperature: number): LayerResult => {
      const tokens = x.length / D_MODEL;
      const layer = this.#layer;
      if (tokens === 0 || !layer) {
        return { weights: new Float32Array(), entropy: new Float32Array(), output: x };
      }
      const input = { data: x, shape: [tokens, D_MODEL] };
      const options = { causal, temperature, returnWeights: true, returnEntropy: true };
      const { output, weights, entropy } = this.#stopwatch.measure(tokens, () =>
        layer.forward(input, options),
      );
      if (!weights || !entropy) throw new Error('the layer left out what it was asked for');
      return { weights: weights.data, entropy: entropy.data, output: output.data };
    },
  );

  readonly #scores = stage('scores', this.#log, (x: Float32Array, projections: Projections) => {
    return exactScores(x, projections, x.length / D_MODEL);
  });

  readonly #check = stage(
    'check',
    this.#log,
    (scores: Float64Array, result: LayerResult, causal: boolean, temperature: number) => {
      const tokens = result.output.length / D_MODEL;
      return checkLayer(scores, result, { tokens, causal, temperature });
    },
  );

  readonly #shift = stage('shift', this.#log, (encoding: Float32Array, k: number): ShiftCheck => {
    const blocks = this.#qkv.sinusoidalShift(k, D_MODEL).data;
    const length = encoding.length / D_MODEL;
    const shifted = this.#qkv.sinusoidalEncoding(length, D_MODEL, { offset: k }).data;
    return { k, blocks, shifted, residual: shiftResidual(encoding, shifted, blocks) };
  });
}

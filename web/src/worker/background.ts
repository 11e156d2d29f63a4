import { worse } from '../domain/nan_max';
import type { Heads, HeadResult } from '../engine/head_list';
import type { Check } from '../domain/check_result';
import type { LayerRequest } from '../domain/layer';
import type { Qkv } from 'qkv';
import type { Spectra } from 'qkv/spectra';
import { WIDTH } from '../domain/number_sets';
import { checkHead, exactHead, type ExactHead } from '../engine/exact_head';
import { Stopwatch } from './stopwatch';
import { maskOptions } from '../domain/mask';
import type { Pipeline } from './pipeline';
import type { FrameRequest, HeadNumbers, Report, Tensors, Wanted } from './protocol';
import { valuesOf } from '../engine/picture_values';
import { D_K, D_MODEL } from '../domain/sources';
import { columnsOf } from '../engine/layer_weights';
import type { Pixels } from '../domain/pixels';

/** Of more tokens only the shown head is checked, and its work waits until the hands rest. */
export const FEW_TOKENS = 256;

export interface Progress {
  readonly report: Omit<Report, 'id'>;
  readonly pixels: Record<string, Pixels>;
}

/** What need not be there with the next frame: small maps, statistics, the check, the time it takes. */
export class Background {
  readonly #qkv: Qkv;
  readonly #pipeline: Pipeline;
  readonly #stopwatch = new Stopwatch();
  /** What finds effective ranks; null before it is there. */
  spectra: Spectra | null = null;

  constructor(pipeline: Pipeline) {
    this.#pipeline = pipeline;
    this.#qkv = pipeline.qkv;
  }

  /** Two requests with the same key lead to the same report. */
  static key({ layer, view, surfaces, ratio }: FrameRequest, look: number): string {
    const heads = Object.entries(surfaces).filter(([name]) => name.startsWith('head-'));
    const shown = layer.tokens.length > FEW_TOKENS ? view.head : null;
    return JSON.stringify([layer, view.show, view.ranks, heads, ratio, shown, look]);
  }

  /** Yields often, mostly nothing; when there is something to tell, that. */
  *work(request: FrameRequest): Generator<Progress | undefined, undefined> {
    const heads = this.#pipeline.heads(request.layer);
    const { layer, view } = request;
    const numbers: HeadNumbers[] = [];
    const kept: (HeadResult | null)[] = [];
    const few = heads.count <= FEW_TOKENS;
    const pixels: Record<string, Pixels> = {};
    for (let head = 0; head < heads.list.length && heads.count > 0; head++) {
      const result = this.#pipeline.result(heads, head, layer, view.show === 'scores');
      const rank = view.ranks && this.spectra ? effectiveRank(this.spectra, heads, head) : NaN;
      numbers.push({ ...this.#statistics(result.weights, heads.count), rank });
      this.#paintSmall(pixels, head, result, request);
      kept.push(few || head === view.head ? result : null);
      yield;
    }
    const first = { heads: numbers, check: null, timing: null, memory: this.#qkv.memory() };
    yield { report: first, pixels };
    const check = yield* this.#check(heads, kept, request);
    const kind = kindOf(heads.count, layer);
    if (heads.count > 0) yield* this.#stopwatch.measure(kind, this.#call(heads, layer));
    const timing = heads.count > 0 ? this.#stopwatch.reading() : null;
    yield { report: { ...first, check, timing, memory: this.#qkv.memory() }, pixels: {} };
  }

  #statistics(weights: Float32Array, count: number): Omit<HeadNumbers, 'rank'> {
    const shape = [1, 1, count, count];
    const found = this.#qkv.headStatistics({ data: weights, shape });
    return {
      entropy: found.entropy.data[0]!,
      distance: found.distance.data[0]!,
      first: found.firstKey.data[0]!,
      largest: found.maxWeight.data[0]!,
    };
  }

  #paintSmall(
    pixels: Record<string, Pixels>,
    head: number,
    result: HeadResult,
    { layer, view, surfaces, ratio }: FrameRequest,
  ): void {
    const name = `head-${head}`;
    const size = surfaces[name];
    if (!size) return;
    const values = view.show === 'scores' && result.scores ? result.scores : result.weights;
    const picture = valuesOf(values, view.show, layer.mask);
    const painted = this.#pipeline.pictures.head(name, size, picture, ratio);
    if (painted) pixels[name] = painted;
  }

  *#check(
    heads: Heads,
    results: readonly (HeadResult | null)[],
    { layer }: FrameRequest,
  ): Generator<undefined, Report['check']> {
    let most: Check = { weights: 0, entropy: 0, rowSum: 0 };
    let checked = 0;
    for (const [head, result] of results.entries()) {
      if (!result) continue;
      const found = yield* checkHead(exactOf(heads, head, layer), result, layer);
      most = {
        weights: worse(most.weights, found.weights),
        entropy: worse(most.entropy, found.entropy),
        rowSum: worse(most.rowSum, found.rowSum),
      };
      checked++;
    }
    return checked > 0 ? { ...most, heads: checked } : null;
  }

  /** The call whose time is shown: the whole layer, its output copied out; without a layer, each head by itself. */
  #call(heads: Heads, layer: LayerRequest): () => void {
    const { model, x, count } = heads;
    const { mask, temperature } = layer;
    if (!model) {
      return () => heads.list.forEach((head) => head.all(layer, { returnWeights: true }));
    }
    const whole = this.#pipeline.whole.of(model);
    const input = { data: x, shape: [count, D_MODEL] };
    return () => whole.forward(input, { ...maskOptions(mask), temperature });
  }

  /** What the pixels were made of, computed again: nobody else holds the arrays of the heads. */
  tensors(request: FrameRequest, wanted: Wanted): Tensors {
    const { layer, view } = request;
    const heads = this.#pipeline.heads(layer);
    const { model, x } = heads;
    const indices = [...heads.list.keys()].filter(
      (head) => wanted === 'all' || head === view.head || head === view.other,
    );
    return {
      request,
      x,
      wq: model?.wq ?? new Float32Array(),
      wk: model?.wk ?? new Float32Array(),
      bq: model?.bq ?? new Float32Array(),
      output: wanted === 'all' ? this.#output(heads, layer) : new Float32Array(),
      heads: indices.map((head) => {
        const result = this.#pipeline.result(heads, head, layer, true);
        return { head, ...result, scores: result.scores ?? new Float32Array() };
      }),
    };
  }

  #output({ model, x, count }: Heads, { mask, temperature }: LayerRequest): Float32Array {
    if (!model) return new Float32Array();
    const input = { data: x, shape: [count, D_MODEL] };
    const whole = this.#pipeline.whole.of(model);
    return whole.forward(input, { ...maskOptions(mask), temperature }).output.data;
  }
}

/** What the time of a call follows from: those of another kind say nothing about it. */
const kindOf = (count: number, { source, mask, trained }: LayerRequest) =>
  JSON.stringify([count, source, mask, trained?.model]);

function exactOf(heads: Heads, head: number, { numbers }: LayerRequest): ExactHead {
  const { model, x, exact: given } = heads;
  if (given) return given(head);
  if (model) return exactHead(x, model, head);
  const exact = (rows: readonly number[]) => Float64Array.from(Float32Array.from(rows));
  return { q: exact(numbers.q), k: exact(numbers.k), width: WIDTH };
}

/** Of W_Q W_K^T of a head; NaN where there are no projections, or none that the page reads. */
function effectiveRank(spectra: Spectra, { model }: Heads, head: number): number {
  if (!model) return NaN;
  const of = (matrix: Float32Array) => ({
    data: columnsOf(matrix, D_MODEL, head),
    shape: [D_MODEL, D_K],
  });
  return spectra.effectiveRank(of(model.wq), of(model.wk), { transposed: true }).data[0]!;
}

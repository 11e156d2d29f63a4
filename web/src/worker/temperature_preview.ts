import type { Mask } from '../domain/choices';
import type { Heads, HeadRunner } from '../engine/head_list';
import { rowOf } from '../domain/row_groups';
import type { Qkv, Tensor } from 'qkv';
import type { FrameRequest } from './protocol';
import type { Values } from '../engine/picture_values';
import { stage, type StageLog } from '../engine/memo';

/** So many tokens are computed within a frame of the screen anyway. */
const FEW = 256;
/** The most rows that are computed while a hand is on the temperature. */
const ROWS = 256;

/** Scores of every `step`-th row in WebAssembly memory. */
interface Scores {
  readonly tensor: Tensor;
  readonly count: number;
  readonly step: number;
}

/**
 * The map while a hand is on the temperature, which touches nothing but the softmax: it is taken anew of
 * scores that are kept, and of no more rows than a screen shows. When the hand rests, all is computed as ever.
 */
export class TemperaturePreview {
  readonly #qkv: Qkv;
  #kept: Tensor | undefined;
  readonly #scores;
  readonly #weights;

  constructor(pipeline: HeadRunner, log: StageLog) {
    this.#qkv = pipeline.qkv;
    this.#scores = stage(
      'preview scores',
      log,
      (heads: Heads, head: number, mask: Mask): Scores => {
        const { scores } = pipeline.result(heads, head, { mask, temperature: 1 }, true);
        if (!scores) throw new Error('the head left out its scores');
        const { count } = heads;
        const step = Math.ceil(count / ROWS);
        const rows = Math.ceil(count / step);
        const some = new Float32Array(rows * count);
        for (let group = 0; group < rows; group++) {
          const from = rowOf(group, step, count) * count;
          some.set(scores.subarray(from, from + count), group * count);
        }
        this.#kept?.dispose();
        this.#kept = this.#qkv.tensor([rows, count], some);
        return { tensor: this.#kept, count, step };
      },
    );
    this.#weights = stage(
      'preview',
      log,
      (
        { tensor, count, step }: Scores,
        temperature: number,
        show: Values['show'],
        mask: Mask,
      ): Values => {
        const { data } = this.#qkv.softmax(tensor, { temperature });
        return { values: data, count, step, show, range: 1, mask };
      },
    );
  }

  /** Null where it would gain nothing: then the map is to be computed as ever. */
  values(heads: Heads, { layer, view }: FrameRequest): Values | null {
    const { head, other, show } = view;
    if (!view.dragging || heads.count <= FEW || other !== null || show === 'scores') return null;
    const { mask, temperature } = layer;
    return this.#weights(this.#scores(heads, head, mask), temperature, show, mask);
  }
}

import { cividisPixels } from '../../../domain/cividis';
import { colourIndex } from '../../../domain/colour_scale';
import type { Mask, Positions } from '../../../domain/choices';
import { allowedKeys, maskOptions } from '../../../domain/mask';
import type { Model } from '../../../domain/model';
import { D_MODEL } from '../../../domain/sources';
import type { FrameFeature, Workbench } from '../../../engine/frame_feature';
import { stage } from '../../../engine/memo';
import { layerInput } from '../../../engine/layer_weights';
import type { Picture } from '../../../engine/paint';
import type { PaintPalette } from '../../../domain/paint_palette';
import { blockTaps, type BlockResult, type Tap } from './block_taps';
import { crossWeights, type Cross } from './residual_cross';
import {
  MAX_BLOCK_TOKENS,
  TAPS,
  type NormPlace,
  type NormType,
  type TapId,
} from '../shared/constants';
import type { BlockRequest } from '../state';

/** The tap that is looked at, all of it. */
export interface ShownTap {
  readonly id: TapId;
  readonly head: number;
  readonly mask: Mask;
  readonly rows: number;
  readonly cols: number;
  readonly data: Float32Array;
  /** The largest magnitude in it. */
  readonly range: number;
}

type Norms = Pick<Tap, 'cols' | 'norms'>;

export interface BlockView {
  readonly place: NormPlace;
  readonly type: NormType;
  /** The tokens that went through, of all there are. */
  readonly tokens: readonly string[];
  readonly norms: Readonly<Record<TapId, Norms>>;
  /** Of what each head adds to the output of the attention. */
  readonly heads: readonly Float32Array[];
  readonly difference: number;
  readonly shown: ShownTap;
  readonly cross: Cross;
}

const largest = (data: Float32Array) =>
  data.reduce((most, value) => Math.max(most, Math.abs(value)), 0);

function tapPicture({ shown }: BlockView, palette: PaintPalette): Picture {
  const { id, rows, cols, data, range, mask } = shown;
  const weights = id === 'weights';
  return {
    rows,
    cols,
    values: data,
    signed: !weights,
    allowed: weights ? (row) => allowedKeys(mask, row, rows) : () => [0, cols],
    place: colourIndex(weights ? 'weights' : 'difference', range),
    ramp: weights ? cividisPixels : palette.diverging,
  };
}

function crossPicture({ cross }: BlockView): Picture {
  const cols = cross.cols.length;
  return {
    rows: cross.rows.length,
    cols,
    values: cross.weights,
    signed: false,
    allowed: () => [0, cols],
    place: colourIndex('weights', 1),
    ramp: cividisPixels,
  };
}

/** The sentence through one block, and one head of it reading another sentence. */
export function blockFrames({ qkv, log }: Workbench): FrameFeature<BlockRequest, BlockView> {
  const first = stage('block input', log, (x: Float32Array) => {
    const data = x.slice(0, MAX_BLOCK_TOKENS * D_MODEL);
    return { data, shape: [data.length / D_MODEL, D_MODEL] };
  });
  const taps = stage(
    'block',
    log,
    (
      model: Model,
      x: ReturnType<typeof first>,
      place: NormPlace,
      type: NormType,
      head: number,
      seed: number,
      mask: Mask,
      temperature: number,
    ) =>
      blockTaps(qkv, model, x, {
        ...{ place, type, head, seed },
        attention: { ...maskOptions(mask), temperature },
      }),
  );
  const shown = stage(
    'block tap',
    log,
    ({ taps: all }: BlockResult, id: TapId, head: number, mask: Mask): ShownTap => {
      const { rows, cols, data } = all[id];
      return { id, head, mask, rows, cols, data, range: largest(data) };
    },
  );
  const cross = stage(
    'block cross',
    log,
    (
      model: Model,
      x: ReturnType<typeof first>,
      _key: string,
      [rows, cols]: readonly [readonly string[], readonly string[]],
      positions: Positions,
      head: number,
      temperature: number,
    ): Cross => {
      if (cols.length === 0) return { head, rows, cols, weights: new Float32Array() };
      const data = layerInput(qkv, model, cols, positions);
      const context = { data, shape: [cols.length, D_MODEL] };
      const weights = crossWeights(qkv, model, { x, context, head }, temperature);
      return { head, rows, cols, weights };
    },
    [3], // the key says all of it
  );
  const view = stage(
    'block view',
    log,
    (
      result: BlockResult,
      tap: ShownTap,
      read: Cross,
      place: NormPlace,
      type: NormType,
    ): BlockView => ({
      ...{ place, type, shown: tap, cross: read, tokens: read.rows },
      norms: Object.fromEntries(
        TAPS.map((id) => [id, { cols: result.taps[id].cols, norms: result.taps[id].norms }]),
      ) as Record<TapId, Norms>,
      heads: result.heads.map(({ norms }) => norms),
      difference: result.difference,
    }),
  );
  return {
    compute: ({ place, type, tap, context }, { heads, layer, view: { head } }) => {
      const { model } = heads;
      if (!model || heads.count === 0) return null;
      const { seed, mask, temperature, positions, tokens } = layer;
      const x = first(heads.x);
      const result = taps(model, x, place, type, head, seed, mask, temperature);
      const rows = tokens.slice(0, MAX_BLOCK_TOKENS);
      const key = JSON.stringify([rows, context]);
      const read = cross(model, x, key, [rows, context], positions, head, temperature);
      return view(result, shown(result, tap, head, mask), read, place, type);
    },
    pictures: {
      block: { of: (result) => result.shown, picture: tapPicture },
      cross: { of: (result) => result.cross, picture: crossPicture },
    },
  };
}

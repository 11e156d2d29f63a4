import { cividisPixels } from '../../../domain/cividis';
import { colourIndex } from '../../../domain/colour_scale';
import type { Mask, Positions } from '../../../domain/choices';
import { allowedKeys, maskOptions } from '../../../domain/mask';
import type { Model } from '../../../domain/model';
import { D_MODEL } from '../../../domain/sources';
import type { FrameFeature, Workbench } from '../../../engine/frame_feature';
import type { Heads, LayerPass } from '../../../engine/head_list';
import { stage } from '../../../engine/memo';
import { layerInput } from '../../../engine/layer_weights';
import type { Picture } from '../../../engine/paint';
import type { PaintPalette } from '../../../domain/paint_palette';
import { blockTaps, tapOf, type BlockResult, type Tap } from './block_taps';
import { crossWeights, type Cross } from './cross_weights';
import {
  LEARNED_PATH,
  MAX_BLOCK_TOKENS,
  PATHS,
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
  /** The taps that there are, in the order in which a token passes them. */
  readonly path: readonly TapId[];
  readonly norms: Readonly<Partial<Record<TapId, Norms>>>;
  /** The layer of a trained model, and the first of its heads among all; null: the block is built around the page's heads. */
  readonly learned: { readonly layer: number; readonly firstHead: number } | null;
  /** Of what each head adds to the output of the attention. */
  readonly heads: readonly Float32Array[];
  /** Null: there is nothing to compare. */
  readonly difference: number | null;
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

/** A layer of a trained model, as the panel shows it. */
export function viewOfLayer(
  { layer, places, heads, difference }: LayerPass,
  of: { tokens: readonly string[]; wanted: TapId; head: number; mask: Mask },
): BlockView {
  const { wanted, head, mask } = of;
  const taps = Object.fromEntries(
    Object.entries(places).map(([id, array]) => [id, tapOf(array)]),
  ) as Partial<Record<TapId, Tap>>;
  const path = LEARNED_PATH.filter((id) => taps[id] !== undefined);
  const id = path.find((each) => each === wanted) ?? 'sum2';
  const { rows, cols, data } = taps[id] ?? { rows: 0, cols: 0, data: new Float32Array() };
  const none = { head, rows: [], cols: [], weights: new Float32Array() };
  return {
    ...{ place: 'pre', type: 'layer', path, difference, cross: none },
    learned: { layer, firstHead: layer * heads.length },
    tokens: of.tokens.slice(0, rows),
    norms: Object.fromEntries(
      path.map((each) => [each, { cols: taps[each]?.cols ?? 0, norms: taps[each]?.norms ?? data }]),
    ),
    heads: heads.map((each) => tapOf(each).norms),
    shown: { id, head, mask, rows, cols, data, range: largest(data) },
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
      ...{ path: PATHS[place], learned: null },
      norms: Object.fromEntries(
        TAPS.map((id) => [id, { cols: result.taps[id].cols, norms: result.taps[id].norms }]),
      ) as Record<TapId, Norms>,
      heads: result.heads.map(({ norms }) => norms),
      difference: result.difference,
    }),
  );
  const pass = stage(
    'layer of a trained model',
    log,
    ({ learned }: Heads, head: number, count: number) =>
      learned ? learned.layer(head, count) : null,
  );
  const learnedView = stage(
    'layer view',
    log,
    (found: LayerPass, tokens: readonly string[], wanted: TapId, head: number, mask: Mask) =>
      viewOfLayer(found, { tokens, wanted, head, mask }),
  );
  return {
    compute: ({ place, type, tap, context }, { heads, layer, view: { head } }) => {
      const { model } = heads;
      if (layer.source === 'trained') {
        const found = pass(heads, head, Math.min(layer.tokens.length, MAX_BLOCK_TOKENS));
        return found && learnedView(found, layer.tokens, tap, head, layer.mask);
      }
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

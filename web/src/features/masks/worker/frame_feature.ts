import { cividisPixels } from '../../../domain/cividis';
import { colourIndex } from '../../../domain/colour_scale';
import type { LayerRequest } from '../../../domain/layer';
import type { Model } from '../../../domain/model';
import type { FrameFeature, Workbench } from '../../../engine/frame_feature';
import { stage } from '../../../engine/memo';
import type { Picture } from '../../../engine/paint';
import type { Heads } from '../../../engine/head_list';
import { learnedGrid, maskedGrid, type MasksResult } from './masked_grid';
import { GRID } from '../shared/mask_grid';
import type { MasksRequest } from '../state';

function picture({ tokens, weights, mask }: MasksResult): Picture {
  return {
    rows: tokens.length,
    cols: tokens.length,
    values: weights,
    signed: false,
    allowed: () => [0, tokens.length],
    mask,
    place: colourIndex('weights', 1),
    ramp: cividisPixels,
  };
}

/** The first tokens of the text under the mask of the grid. */
export function masksFrames({
  qkv,
  log,
  whole,
}: Workbench): FrameFeature<MasksRequest, MasksResult> {
  const grid = stage(
    'masks',
    log,
    (
      _key: string,
      model: Model | null,
      layer: LayerRequest,
      request: MasksRequest,
      head: number,
    ): MasksResult | null => maskedGrid({ qkv, whole, model }, layer, request, head),
    [2, 3], // the key says all of it
  );
  const learned = stage(
    'masks of a trained model',
    log,
    (
      _key: string,
      { learned: pass }: Heads,
      layer: LayerRequest,
      request: MasksRequest,
      head: number,
    ): MasksResult | null => (pass ? learnedGrid(pass, layer, request, head) : null),
    [2, 3], // the key says all of it
  );
  return {
    compute: (request, { heads, layer, view }) => {
      if (layer.source === 'trained') {
        const { maskKind, maskSize, maskPaint } = request; // its tokens stay in their order
        const key = JSON.stringify([layer.trained, layer.tokens, maskKind, maskSize, maskPaint]);
        return learned(key, heads, layer, request, view.head);
      }
      const tokens = layer.tokens.slice(0, GRID);
      const { positions, temperature, numbers } = layer;
      const key = JSON.stringify([request, tokens, positions, temperature, numbers]);
      return grid(key, heads.model, { ...layer, tokens }, request, view.head);
    },
    pictures: { masks: { of: (result) => result, picture } },
  };
}

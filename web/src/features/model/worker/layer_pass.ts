import type { NdArray } from 'qkv';
import type { Site } from 'qkv/models';
import { worse } from '../../../domain/nan_max';
import type { LayerPlace } from '../../../domain/layer_place';
import type { LayerPass } from '../../../engine/head_list';
import type { Opened } from './open_model';

/** The sites of the package behind the places of the block panel that have a row for each token. */
const SITES = {
  ...{ attention: 'attention', sum1: 'middle', hidden: 'neurons', forward: 'feedForward' },
  sum2: 'residual',
} as const satisfies Partial<Record<LayerPlace, Site>>;
type SitePlace = keyof typeof SITES;
const PLACES = Object.keys(SITES) as readonly SitePlace[];

/** Which of them a layer of this model has. */
function placesOf({ model: { config } }: Opened): readonly SitePlace[] {
  const { parallelResidual, dFeedForward, numExperts } = config;
  const has = {
    ...{
      attention: true,
      sum2: true,
      sum1: !parallelResidual && dFeedForward > 0,
      forward: dFeedForward > 0,
    },
    hidden: dFeedForward > 0 && numExperts === 0,
  };
  return PLACES.filter((place) => has[place]);
}

/** [1, H, T, d] as [T, H d]: the heads side by side. */
function sideBySide({ data, shape }: NdArray): NdArray {
  const [, heads = 1, rows = 0, width = 0] = shape;
  const all = new Float32Array(data.length);
  for (let head = 0; head < heads; head++) {
    for (let row = 0; row < rows; row++) {
      const from = (head * rows + row) * width;
      all.set(data.subarray(from, from + width), (row * heads + head) * width);
    }
  }
  return { data: all, shape: [rows, heads * width] };
}

const part = ({ data }: NdArray, index: number, shape: readonly [number, number]): NdArray => {
  const size = shape[0] * shape[1];
  return { data: data.slice(index * size, (index + 1) * size), shape };
};

/** One layer of the model over these tokens, read where the package reads it. */
export function layerPass(of: Opened, ids: readonly number[], head: number): LayerPass {
  const { numHeads, dModel } = of.info;
  const count = ids.length;
  const layer = Math.floor(head / numHeads);
  const places = placesOf(of);
  const layers = [layer];
  const before = layer === 0 ? { site: 'embed' as const } : { site: 'residual' as const };
  const sites = places.map((place) => SITES[place]).filter((site) => site !== 'residual');
  const { activations } = of.model.forward(ids, {
    read: [
      ...(['weights', 'z', 'heads', ...sites] as const).map((site) => ({ site, layers })),
      { site: 'residual' as const, layers: layer === 0 ? layers : [layer - 1, layer] },
      ...(layer === 0 ? [before] : []),
    ],
  });
  const rows = ({ data }: NdArray): NdArray => ({ data, shape: [count, data.length / count] });
  const input = rows(
    layer === 0 ? activations.get('embed') : activations.get('residual', layer - 1),
  );
  const read = Object.fromEntries(
    places.map((place) => [place, rows(activations.get(SITES[place], layer))]),
  ) as Partial<Record<SitePlace, NdArray>>;
  const given = activations.get('heads', layer);
  const weights = activations.get('weights', layer);
  return {
    layer,
    places: {
      ...{ input, ...read, concat: sideBySide(activations.get('z', layer)) },
      weights: part(weights, head % numHeads, [count, count]),
    },
    heads: Array.from({ length: numHeads }, (_, h) => part(given, h, [count, dModel])),
    difference: of.model.config.norm === 'post' ? null : differenceOf(input, read),
  };
}

/** How far the stream after the layer is from the sum of what came in and what was added. */
function differenceOf(
  input: NdArray,
  { attention, forward, sum2 }: Partial<Record<SitePlace, NdArray>>,
): number {
  const added = (i: number) => (attention?.data[i] ?? 0) + (forward?.data[i] ?? 0);
  const out = sum2?.data ?? input.data;
  return out.reduce((most, x, i) => worse(most, Math.abs(x - (input.data[i]! + added(i)))), 0);
}

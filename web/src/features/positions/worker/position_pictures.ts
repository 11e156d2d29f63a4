import { cividisPixels } from '../../../domain/cividis';
import { colourIndex } from '../../../domain/colour_scale';
import type { Scheme } from '../../../domain/schemes';
import { D_MODEL } from '../../../domain/sources';
import type { FeaturePicture } from '../../../engine/frame_feature';
import type { Picture } from '../../../engine/paint';
import type { PaintPalette } from '../../../domain/paint_palette';
import type { SchemeMap } from './scheme_maps';
import { BUCKETS, SPAN } from '../shared/constants';

/** What is painted of the panel's result. */
interface Painted {
  readonly encoding: { readonly data: Float32Array };
  readonly scheme: SchemeMap;
}

function encodingPicture({ encoding: { data } }: Painted, palette: PaintPalette): Picture {
  return {
    rows: data.length / D_MODEL,
    cols: D_MODEL,
    values: data,
    signed: true,
    allowed: () => [0, D_MODEL],
    place: colourIndex('difference', 1),
    ramp: palette.diverging,
  };
}

/** Bucket numbers have no sign; everything else does, or could. */
function schemePlace(scheme: Scheme, range: number): (value: number) => number {
  if (scheme === 't5') return (value) => Math.round((value / (BUCKETS - 1)) * 255);
  return colourIndex('difference', range);
}

function schemePicture({ scheme: map }: Painted, palette: PaintPalette): Picture {
  const { scheme, values, range } = map;
  return {
    rows: SPAN,
    cols: SPAN,
    values,
    signed: scheme !== 't5',
    allowed: () => [0, SPAN],
    place: schemePlace(scheme, range),
    ramp: scheme === 't5' ? cividisPixels : palette.diverging,
  };
}

export const POSITION_PICTURES: Readonly<Record<string, FeaturePicture<Painted>>> = {
  encoding: { of: ({ encoding }) => encoding, picture: encodingPicture },
  scheme: { of: ({ scheme }) => scheme, picture: schemePicture },
};

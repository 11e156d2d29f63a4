import { colourIndex } from '../../../domain/colour_scale';
import { D_MODEL } from '../../../domain/sources';
import type { FeaturePicture } from '../../../engine/frame_feature';
import type { Picture } from '../../../engine/paint';
import type { PaintPalette } from '../../../domain/paint_palette';
import type { SchemeMap } from './scheme_maps';
import { SPAN } from '../shared/constants';

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

function schemePicture({ scheme: { values, range } }: Painted, palette: PaintPalette): Picture {
  return {
    rows: SPAN,
    cols: SPAN,
    values,
    signed: true,
    allowed: () => [0, SPAN],
    place: colourIndex('difference', range),
    ramp: palette.diverging,
  };
}

export const POSITION_PICTURES: Readonly<Record<string, FeaturePicture<Painted>>> = {
  encoding: { of: ({ encoding }) => encoding, picture: encodingPicture },
  scheme: { of: ({ scheme }) => scheme, picture: schemePicture },
};

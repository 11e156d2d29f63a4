import { cividis } from '../matrix/colour';
import { colourIndex } from '../scale';
import type { MasksResult } from './masks';
import type { PaintPalette, Picture } from './paint';
import type { FrameRequest } from './protocol';
import { BUCKETS, SPAN, type Scheme, type SchemeMap } from './schemes';
import { stage, type StageLog } from './stage';
import type { Pixels, Size } from './surface';

export const cividisPixels = new Uint32Array(cividis.buffer);

/** Bucket numbers have no sign; everything else does, or could. */
export function schemePlace(scheme: Scheme, range: number): (value: number) => number {
  if (scheme === 't5') return (value) => Math.round((value / (BUCKETS - 1)) * 255);
  return colourIndex('difference', range);
}

function masksPicture({ tokens, weights, mask }: MasksResult): Picture {
  return {
    rows: tokens.length,
    cols: tokens.length,
    values: weights,
    allowed: () => [0, tokens.length],
    mask,
    place: colourIndex('weights', 1),
    ramp: cividisPixels,
  };
}

function schemePicture({ scheme, values, range }: SchemeMap, palette: PaintPalette): Picture {
  return {
    rows: SPAN,
    cols: SPAN,
    values,
    allowed: () => [0, SPAN],
    place: schemePlace(scheme, range),
    ramp: scheme === 't5' ? cividisPixels : palette.diverging,
  };
}

/** Paints one picture, and what is returned is for the page to put on its canvas. */
type Paint = (name: string, size: Size, ratio: number, picture: Picture) => Pixels | null;

/** The pictures of the panels below the map; each is painted again only when something in it changed. */
export function pictureStages(paint: Paint, log: StageLog) {
  const drawn = <Shown>(name: string, picture: (of: Shown, palette: PaintPalette) => Picture) => {
    const draw = stage(
      `paint ${name}`,
      log,
      (of: Shown, palette: PaintPalette, ratio: number, width: number, height: number) => ({
        pixels: paint(name, { width, height }, ratio, picture(of, palette)),
      }),
    );
    let last: object | undefined;
    return (
      pixels: Record<string, Pixels>,
      of: Shown | null | undefined,
      { surfaces, ratio }: FrameRequest,
      palette: PaintPalette | undefined,
    ): void => {
      const size = surfaces[name];
      if (!size || !palette || !of) return;
      const result = draw(of, palette, ratio, size.width, size.height);
      if (result.pixels && result !== last) pixels[name] = result.pixels;
      last = result;
    };
  };
  return { masks: drawn('masks', masksPicture), scheme: drawn('scheme', schemePicture) };
}

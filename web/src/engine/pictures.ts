import { rowOf } from '../domain/row_groups';
import type { Scheme } from '../domain/schemes';
import { cividis } from '../matrix/colour';
import { colourIndex, isSigned } from '../scale';
import { allowedKeys } from './mask';
import type { MasksResult } from './masks';
import type { PaintPalette, Picture } from './paint';
import type { Frame, FrameRequest } from './protocol';
import type { Values } from './results';
import { BUCKETS, SPAN, type SchemeMap } from './schemes';
import { D_MODEL } from './sources';
import { stage, type StageLog } from './stage';
import type { Pixels, Size, Surface } from './surface';

const cividisPixels = new Uint32Array(cividis.buffer);

/** Bucket numbers have no sign; everything else does, or could. */
function schemePlace(scheme: Scheme, range: number): (value: number) => number {
  if (scheme === 't5') return (value) => Math.round((value / (BUCKETS - 1)) * 255);
  return colourIndex('difference', range);
}

function masksPicture({ tokens, weights, mask }: MasksResult): Picture {
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

function schemePicture({ scheme, values, range }: SchemeMap, palette: PaintPalette): Picture {
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

/** The square of a head, or of what two differ by, or some of its rows. */
function headPicture(of: Values, palette: PaintPalette): Picture {
  const { values, count, step, show, range, mask } = of;
  return {
    rows: values.length / count,
    cols: count,
    values,
    signed: isSigned(show),
    allowed: (row) => allowedKeys(mask, rowOf(row, step, count), count),
    place: colourIndex(show, range),
    ramp: isSigned(show) ? palette.diverging : cividisPixels,
  };
}

function encodingPicture({ data }: Frame['encoding'], palette: PaintPalette): Picture {
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

/** What is shown under a name is painted; pixels that the page must put there itself are added. */
type Draw<Shown> = (
  pixels: Record<string, Pixels>,
  of: Shown | null | undefined,
  request: Pick<FrameRequest, 'surfaces' | 'ratio'>,
) => void;

/** The canvases of the page, and the pictures on them: each is painted again when something in it changed. */
export class Pictures {
  readonly surfaces = new Map<string, Surface>();
  palette: PaintPalette | undefined;
  readonly #log: StageLog;
  readonly map: Draw<Values>;
  readonly encoding: Draw<Frame['encoding']>;
  readonly masks: Draw<MasksResult>;
  readonly scheme: Draw<SchemeMap>;

  constructor(log: StageLog) {
    this.#log = log;
    this.map = this.#drawn('map', headPicture);
    this.encoding = this.#drawn('encoding', encodingPicture);
    this.masks = this.#drawn('masks', masksPicture);
    this.scheme = this.#drawn('scheme', schemePicture);
  }

  /** One head on a canvas of its own, whether or not it is there already. */
  head(name: string, size: Size, values: Values, ratio: number): Pixels | null {
    return this.palette
      ? this.#paint(name, size, ratio, headPicture(values, this.palette), this.palette)
      : null;
  }

  #paint(
    name: string,
    size: Size,
    ratio: number,
    picture: Picture,
    palette: PaintPalette,
  ): Pixels | null {
    const surface = this.surfaces.get(name);
    if (!surface || size.width < 1 || size.height < 1) return null;
    return surface.paint(size, picture, palette, ratio);
  }

  #drawn<Shown>(name: string, picture: (of: Shown, palette: PaintPalette) => Picture): Draw<Shown> {
    const draw = stage(
      `paint ${name}`,
      this.#log,
      (of: Shown, palette: PaintPalette, ratio: number, width: number, height: number) => ({
        pixels: this.#paint(name, { width, height }, ratio, picture(of, palette), palette),
      }),
    );
    let last: object | undefined;
    return (pixels, of, { surfaces, ratio }) => {
      const size = surfaces[name];
      if (!size || !this.palette || !of) return;
      const result = draw(of, this.palette, ratio, size.width, size.height);
      if (result.pixels && result !== last) pixels[name] = result.pixels;
      last = result;
    };
  }
}

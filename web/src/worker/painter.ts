import { cividisPixels } from '../domain/cividis';
import { colourIndex, isSigned } from '../domain/colour_scale';
import { allowedKeys } from '../domain/mask';
import { rowOf } from '../domain/row_groups';
import type { Surface } from '../engine/canvas';
import type { Pixels, Size } from '../domain/pixels';
import type { FeaturePicture } from '../engine/frame_feature';
import { stage, type StageLog } from '../engine/memo';
import type { Picture } from '../engine/paint';
import type { PaintPalette } from '../domain/paint_palette';
import type { Values } from '../engine/picture_values';
import type { FrameRequest } from './protocol';

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

type Place = Pick<FrameRequest, 'surfaces' | 'ratio'>;

/** What is shown of a feature under the name of a canvas. */
interface Shown {
  readonly picture: FeaturePicture<never>;
  readonly result: object;
}

/** Paints what is there under a name; pixels that the page must put there itself are added. */
type Draw = (
  pixels: Record<string, Pixels>,
  of: object,
  picture: (palette: PaintPalette) => Picture,
  place: Place,
) => void;

/** The canvases of the page, and the pictures on them: each is painted again when something in it changed. */
export class Pictures {
  readonly surfaces = new Map<string, Surface>();
  palette: PaintPalette | undefined;
  readonly #log: StageLog;
  readonly #draws = new Map<string, Draw>();

  constructor(log: StageLog) {
    this.#log = log;
  }

  /** The enlarged head, where there is one. */
  map(pixels: Record<string, Pixels>, values: Values | null, place: Place): void {
    if (!values) return;
    this.#drawn('map')(pixels, values, (palette) => headPicture(values, palette), place);
  }

  /** A canvas of a panel. */
  feature(
    pixels: Record<string, Pixels>,
    name: string,
    { picture: { of, picture }, result }: Shown,
    place: Place,
  ): void {
    const known = result as never; // a feature's picture and its result belong together
    this.#drawn(name)(pixels, of(known), (palette) => picture(known, palette), place);
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

  #drawn(name: string): Draw {
    const draw = this.#draws.get(name) ?? this.#newDraw(name);
    this.#draws.set(name, draw);
    return draw;
  }

  #newDraw(name: string): Draw {
    const draw = stage(
      `paint ${name}`,
      this.#log,
      (
        _of: object,
        palette: PaintPalette,
        ratio: number,
        width: number,
        height: number,
        picture: (palette: PaintPalette) => Picture,
      ) => ({
        pixels: this.#paint(name, { width, height }, ratio, picture(palette), palette),
      }),
      [5], // another function every time: what it paints is the first
    );
    let last: object | undefined;
    return (pixels, of, picture, { surfaces, ratio }) => {
      const size = surfaces[name];
      if (!size || !this.palette) return;
      const { width, height } = size;
      const result = draw(of, this.palette, ratio, width, height, picture);
      if (result.pixels && result !== last) pixels[name] = result.pixels;
      last = result;
    };
  }
}

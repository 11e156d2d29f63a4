import type { Pixels, Size } from '../domain/pixels';
import { paint, type Picture } from './paint';
import type { PaintPalette } from '../domain/paint_palette';

/**
 * A canvas of the page as the worker sees it: its own to paint on, or, where canvases cannot be handed
 * over, pixels that are sent back.
 */
export class Surface {
  readonly #canvas: OffscreenCanvas | null;
  /** Requested once: Firefox 153 refuses to hand it out again ("different thread"). */
  #context: OffscreenCanvasRenderingContext2D | null | undefined;
  #image: ImageData | undefined;

  constructor(canvas: OffscreenCanvas | null) {
    this.#canvas = canvas;
  }

  /** Paints; what is returned is for the page to put on the canvas. */
  paint(size: Size, picture: Picture, palette: PaintPalette, ratio: number): Pixels | null {
    const { width, height } = size;
    if (this.#image?.width !== width || this.#image.height !== height) {
      this.#image = new ImageData(width, height);
    }
    paint(this.#image, picture, palette, ratio);
    if (!this.#canvas) return { width, height, data: this.#image.data.slice() };
    if (this.#canvas.width !== width) this.#canvas.width = width;
    if (this.#canvas.height !== height) this.#canvas.height = height;
    this.#context ??= this.#canvas.getContext('2d');
    this.#context?.putImageData(this.#image, 0, 0);
    return null;
  }
}

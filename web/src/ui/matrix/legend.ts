import type { Ramp } from '../../domain/cividis';
import { find } from '../dom';

/** Paints the colours of a ramp into the canvas of the legend of `root`, one pixel each. */
export function paintRamp(root: ParentNode, ramp: Ramp): void {
  const image = new ImageData(ramp.length / 4, 1);
  image.data.set(ramp);
  find(root, '.legend canvas', HTMLCanvasElement).getContext('2d')?.putImageData(image, 0, 0);
}

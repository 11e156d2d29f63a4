import type { Zoom } from '../shared/protocol';

/** What of a place the model has: a head that is not there is its layer, a layer that is not there the whole model. */
export function zoomWithin(zoom: Zoom, [layers, heads]: readonly [number, number]): Zoom {
  const [layer, head] = zoom;
  if (layer === undefined || layer >= layers) return [];
  return head === undefined || head >= heads ? [layer] : [layer, head];
}

/** One step nearer: to a layer of the whole model, to a head of a layer. */
export function zoomedIn([layer, head]: Zoom, row: number): Zoom {
  if (layer === undefined) return [row];
  return [layer, head ?? row];
}

/** One step back, and the row one came from; null: this is the whole model. */
export function zoomedOut([layer, head]: Zoom): {
  readonly zoom: Zoom;
  readonly row: number;
} | null {
  if (layer === undefined) return null;
  return head === undefined ? { zoom: [], row: layer } : { zoom: [layer], row: head };
}

/** As the state has it. */
export const zoomOrNone = (zoom: Zoom): Zoom | null => (zoom.length > 0 ? zoom : null);

/** Distance of the wheel, in its own unit, that is one step; a pause after which it is another gesture, in milliseconds. */
const STEP = 30;
const PAUSE = 300;
/** By how much two fingers go apart in one step. */
const APART = 1.25;

type Direction = 'in' | 'out';

/** Gestures that zoom: the wheel with Ctrl, which a pinch on a pad sends as well, and two fingers on the picture. Each is one step. */
export class ZoomGestures {
  #turned = 0;
  #last = -Infinity;
  #isSpent = false;
  /** How far apart two fingers were; null: there are not two. */
  #apart: number | null = null;

  wheel({ deltaY, timeStamp }: Pick<WheelEvent, 'deltaY' | 'timeStamp'>): Direction | null {
    if (timeStamp - this.#last > PAUSE) [this.#turned, this.#isSpent] = [0, false];
    this.#last = timeStamp;
    this.#turned += deltaY;
    if (this.#isSpent || Math.abs(this.#turned) < STEP) return null;
    this.#isSpent = true;
    return this.#turned < 0 ? 'in' : 'out';
  }

  /** Two fingers are put down, or not two any more. */
  touch(points: ArrayLike<Touch>): void {
    this.#apart = distance(points);
  }

  /** They have moved. */
  pinch(points: ArrayLike<Touch>): Direction | null {
    const now = distance(points);
    if (this.#apart === null || now === null) return null;
    const factor = now / this.#apart;
    if (factor < APART && factor > 1 / APART) return null;
    this.#apart = null;
    return factor > 1 ? 'in' : 'out';
  }
}

/** Between two fingers; null where there are not two. */
function distance(points: ArrayLike<Touch>): number | null {
  const [a, b] = [points[0], points[1]];
  if (!a || !b || points.length > 2) return null;
  return Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
}

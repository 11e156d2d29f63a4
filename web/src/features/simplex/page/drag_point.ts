import type { Weights } from '../shared/objective';
import type { Spot } from './triangle';

/** How far a key moves the point. */
const STEP = 0.02;
const [LEFT, RIGHT, UP, DOWN] = [
  [STEP, -STEP, 0],
  [-STEP, STEP, 0],
  [-STEP / 2, -STEP / 2, STEP],
  [STEP / 2, STEP / 2, -STEP],
] as const;
const KEYS: Readonly<Record<string, readonly [number, number, number]>> = {
  ArrowLeft: LEFT,
  ArrowRight: RIGHT,
  ArrowUp: UP,
  ArrowDown: DOWN,
};

interface Hand {
  /** The weights now; null while nothing can be moved. */
  readonly now: () => Weights | null;
  /** Those of a place on the stage. */
  readonly at: (spot: Spot) => readonly number[];
  readonly set: (values: readonly number[]) => void;
}

/** A press on the stage moves the point there, a drag leads it. */
export function draggingPoint(stage: HTMLElement, { now, at, set }: Hand): void {
  let held: number | null = null;
  const follow = ({ clientX, clientY }: PointerEvent) => {
    const { left, top } = stage.getBoundingClientRect();
    set(at([clientX - left, clientY - top]));
  };
  stage.addEventListener('pointerdown', (event) => {
    if (event.button !== 0 || now() === null) return;
    held = event.pointerId;
    stage.setPointerCapture(event.pointerId);
    follow(event);
  });
  stage.addEventListener('pointermove', (event) => {
    if (event.buttons === 0) held = null; // it went up outside the window
    if (held === event.pointerId) follow(event);
  });
  for (const end of ['pointerup', 'pointercancel'] as const) {
    stage.addEventListener(end, () => (held = null));
  }
}

/** Arrow keys: left and right between the keys 1 and 2, up and down to key 3 and away from it. */
export function pressingPoint(handle: HTMLElement, { now, set }: Hand): void {
  handle.addEventListener('keydown', (event) => {
    const step = KEYS[event.key];
    const p = now();
    if (!step || p === null) return;
    event.preventDefault();
    set(p.map((weight, i) => weight + (step[i] ?? 0)));
  });
}

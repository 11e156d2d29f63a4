import { clampTemperature } from '../../../state/page';
import { LIMITS } from '../../../state/state';
import { fromSlider, toSlider } from '../../../ui/temperature_slider';

/** Up to here a press is a click, in CSS pixels. */
const SLACK = 3;
/** Steps of the slider that a key takes. */
const KEYS: Readonly<Record<string, number>> = {
  ArrowLeft: -1,
  ArrowDown: -1,
  ArrowRight: 1,
  ArrowUp: 1,
  PageDown: -10,
  PageUp: 10,
  Home: -Infinity,
  End: Infinity,
};

/** What hands need to know, and what they do. */
interface Dial {
  /** The temperature of the page; null while its controls are put away. */
  readonly temperature: () => number | null;
  /** That of a place on the stage, in CSS pixels from its left. */
  readonly at: (x: number) => number;
  readonly set: (temperature: number) => void;
}

interface HeldDial extends Dial {
  /** Called when a drag begins and when it ends. */
  readonly hold: (held: boolean) => void;
}

/** A click goes there, and a drag sideways follows the pointer; up and down scrolls the page. */
export function dragging(stage: HTMLElement, { temperature, at, set, hold }: HeldDial): void {
  let from: { id: number; x: number; moved: boolean } | null = null;
  const follow = (event: PointerEvent) => {
    set(clampTemperature(at(event.clientX - stage.getBoundingClientRect().left)));
  };
  stage.addEventListener('pointerdown', (event) => {
    if (event.button !== 0 || temperature() === null) return;
    from = { id: event.pointerId, x: event.clientX, moved: false };
  });
  const letGo = () => {
    if (from?.moved) hold(false);
    from = null;
  };
  stage.addEventListener('pointermove', (event) => {
    if (from?.id !== event.pointerId) return;
    if (event.buttons === 0) letGo(); // it went up outside the window
    if (!from) return;
    if (!from.moved && Math.abs(event.clientX - from.x) <= SLACK) return;
    if (!from.moved) {
      stage.setPointerCapture(event.pointerId);
      hold(true);
    }
    from.moved = true;
    follow(event);
  });
  stage.addEventListener('pointerup', (event) => {
    if (from?.id === event.pointerId && !from.moved) follow(event);
    letGo();
  });
  stage.addEventListener('pointercancel', letGo);
}

/** The keys of a slider, in the steps of the slider in the instrument bar. */
export function pressing(handle: HTMLElement, { temperature, set }: Dial): void {
  handle.addEventListener('keydown', (event) => {
    const step = KEYS[event.key];
    const now = temperature();
    if (step === undefined || now === null) return;
    event.preventDefault();
    const [least, most] = LIMITS.temperature;
    const to = Math.min(toSlider(most), Math.max(toSlider(least), toSlider(now) + step));
    set(fromSlider(to));
  });
}

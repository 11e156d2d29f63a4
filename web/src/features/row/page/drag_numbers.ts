/** How far a pointer moves for one step, in CSS pixels. */
const PIXELS = 6;
/** Up to here a press is a click into the box. */
const SLACK = 4;

/** Numbers in boxes can be dragged sideways, as if each were typed. */
export function scrubbing(root: HTMLElement): void {
  let from: { box: HTMLInputElement; x: number; value: number; step: number } | null = null;
  root.addEventListener('pointerdown', (event) => {
    const box = event.target;
    if (!(box instanceof HTMLInputElement) || box.type !== 'number' || event.button !== 0) return;
    const value = box.valueAsNumber;
    if (!Number.isFinite(value)) return;
    const step = Number(box.dataset['step']);
    from = { box, x: event.clientX, value, step: step > 0 ? step : 0.1 };
  });
  const letGo = () => {
    from?.box.classList.remove('scrubbing');
    from = null;
  };
  root.addEventListener('pointermove', (event) => {
    if (event.buttons === 0) letGo(); // it went up outside the window
    if (!from || Math.abs(event.clientX - from.x) <= SLACK) return;
    const { box, x, value, step } = from;
    box.setPointerCapture(event.pointerId);
    box.classList.add('scrubbing');
    event.preventDefault();
    box.value = String(value + Math.round((event.clientX - x) / PIXELS) * step);
    box.dispatchEvent(new Event('change', { bubbles: true }));
  });
  root.addEventListener('pointerup', letGo);
  root.addEventListener('pointercancel', letGo);
}

import { find } from '../../../ui/dom';
import { four } from '../../../ui/numbers';

/** The steps that have a number for each key, in their order. */
export const STEPS = ['product', 'scaled', 'exp', 'weight', 'core'] as const;
export type Step = (typeof STEPS)[number];

export function cell(content: string, step = '', key = 0): string {
  const place = step && ` data-cell="${step}" data-index="${key}"`;
  return `<div role="cell" class="cell"${place}>${content}</div>`;
}

/** What an empty and a full bar of a step mean: weights are shares of 1, other numbers of their own range. */
export function trackOf(step: string, values: Float32Array): readonly [low: number, high: number] {
  if (step === 'weight' || step === 'core') return [0, 1];
  const finite = values.filter(Number.isFinite);
  return [Math.min(0, ...finite), Math.max(0, ...finite)];
}

/** The numbers of a step, each with a bar from zero: to the left when it is negative. */
export function drawCells(
  root: HTMLElement,
  step: string,
  values: Float32Array,
  masked: number,
): void {
  const [low, high] = trackOf(step, values);
  const span = high - low || 1;
  const afterMask = step !== 'product' && step !== 'scaled';
  root.querySelectorAll<HTMLElement>(`[data-cell=${step}]`).forEach((box, j) => {
    const value = values[j] ?? NaN;
    const { style } = find(box, 'i', HTMLElement);
    const known = Number.isFinite(value);
    style.left = `${known ? ((Math.min(0, value) - low) / span) * 100 : 0}%`;
    style.width = `${known ? (Math.abs(value) / span) * 100 : 100}%`;
    find(box, 'b', HTMLElement).textContent = four(value);
    box.classList.toggle('not-a-number', !known);
    box.classList.toggle('left-out', afterMask && ((masked >> j) & 1) === 1);
  });
  for (const term of root.querySelectorAll<HTMLElement>('[data-mask]')) {
    const out = (masked >> Number(term.dataset['mask'])) & 1;
    term.textContent = out ? '−∞' : '+0';
    term.closest('.cell')?.classList.toggle('left-out', out === 1);
  }
}

/**
 * Gives `take` what is typed when it is a number, as the `nearest` one that is allowed. The box shows that: showNumber() writes
 * nothing there while it has the focus. After what is no number it shows what was there before,
 * unless `clear` does something else.
 */
export function onNumber(
  box: HTMLInputElement,
  nearest: (typed: number) => number,
  take: (value: number) => void,
  clear = (): void => void (box.value = box.defaultValue),
): void {
  box.addEventListener('change', () => {
    if (box.value.trim() === '' || !Number.isFinite(box.valueAsNumber)) {
      clear();
      return;
    }
    const value = nearest(box.valueAsNumber);
    box.value = String(value);
    take(value);
  });
}

/** `defaultValue` remembers the number, to which a bad entry goes back. A box that is dragged shows where it is. */
export function showNumber(box: HTMLInputElement, value: number): void {
  box.defaultValue = String(value);
  const isTyping = document.activeElement === box && !box.classList.contains('scrubbing');
  if (!isTyping) box.value = box.defaultValue;
}

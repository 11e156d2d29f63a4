/**
 * Gives `take` what is typed when it is a number, as the `nearest` one that is allowed. The box shows that: showNumber() writes
 * nothing there while it has the focus. After what is no number it shows what was there before.
 */
export function onNumber(
  box: HTMLInputElement,
  nearest: (typed: number) => number,
  take: (value: number) => void,
): void {
  box.addEventListener('change', () => {
    if (box.value.trim() === '' || !Number.isFinite(box.valueAsNumber)) {
      box.value = box.defaultValue;
      return;
    }
    const value = nearest(box.valueAsNumber);
    box.value = String(value);
    take(value);
  });
}

/** `defaultValue` remembers the number, to which a bad entry goes back. */
export function showNumber(box: HTMLInputElement, value: number): void {
  box.defaultValue = String(value);
  if (document.activeElement !== box) box.value = box.defaultValue;
}

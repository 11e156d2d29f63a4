import { find, setText } from './dom';

/** Radio buttons of one name, each with the text of its key. */
export const radiosHtml = <Value extends string>(
  name: string,
  values: readonly Value[],
  keyOf: (value: Value) => string,
): string =>
  values
    .map(
      (value) =>
        `<label><input type="radio" name="${name}" value="${value}"><span data-t="${keyOf(value)}"></span></label>`,
    )
    .join('');

/** A slider with its label, the text of `key`, and a place for its value in words. */
export const sliderHtml = (
  id: string,
  key: string,
  [low, high]: readonly [number, number],
  step = 1,
): string => `
  <div class="control slider">
    <label for="${id}" data-t="${key}"></label>
    <span class="with-number">
      <input id="${id}" type="range" min="${low}" max="${high}" step="${step}">
      <output for="${id}"></output>
    </span>
  </div>`;

/** Moves such a slider to `place` and says its value in `words`. */
export function showSlider(root: ParentNode, id: string, place: number, words: string): void {
  const slider = find(root, `#${id}`, HTMLInputElement);
  slider.value = String(place);
  slider.setAttribute('aria-valuetext', words);
  setText(find(root, `[for=${id}]:not(label)`, HTMLElement), words);
}

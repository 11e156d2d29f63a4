import { html, noChange, nothing, type ElementPart, type TemplateResult } from 'lit-html';
import { Directive, directive } from 'lit-html/directive.js';
import { live } from 'lit-html/directives/live.js';
import { onNumber, showNumber } from '../number_box';
import type { Content } from './texts';

/** A listener that hands on the value of the control it is on. */
export const withValue =
  (take: (value: string) => void) =>
  ({ currentTarget }: Event): void =>
    take((currentTarget as HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement).value);

/** The same with whether the box that it is on is checked. */
export const withChecked =
  (take: (isChecked: boolean) => void) =>
  ({ currentTarget }: Event): void =>
    take((currentTarget as HTMLInputElement).checked);

interface Slider {
  readonly id: string;
  readonly label: Content;
  readonly limits: readonly [number, number];
  readonly step?: number;
  readonly place: number;
  /** Where it stands, in words. */
  readonly words: string;
  /** The same for who cannot see it, where that is more. */
  readonly spoken?: string;
  readonly take: (place: number) => void;
}

/** A slider with its label and its value in words. */
export const slider = (of: Slider): TemplateResult => html`
  <div class="control slider">
    <label for=${of.id}>${of.label}</label>
    <span class="with-number">
      <input id=${of.id} type="range" min=${of.limits[0]} max=${of.limits[1]} step=${of.step ?? 1}
        aria-valuetext=${of.spoken ?? of.words} .value=${live(String(of.place))}
        @input=${withValue((value) => of.take(Number(value)))}>
      <output for=${of.id}>${of.words}</output>
    </span>
  </div>`;

export const button = (className: string, words: Content, press: () => void): TemplateResult =>
  html`<button type="button" class="button ${className}" @click=${press}>${words}</button>`;

/** The number after this one, for a button that asks for other random numbers; after the last comes the first. */
export const nextWithin = ([first, last]: readonly [number, number], now: number): number =>
  now < last ? now + 1 : first;

/** Radio buttons of one name, each with its words. */
export const radios = <Value extends string>(
  name: string,
  choices: readonly (readonly [value: Value, words: Content])[],
  chosen: Value,
  take: (value: Value) => void,
): Content =>
  choices.map(
    ([value, words]) => html`
      <label><input type="radio" name=${name} value=${value} .checked=${live(value === chosen)}
        @change=${() => take(value)}><span>${words}</span></label>`,
  );

/** What a select offers. */
export const options = (
  choices: readonly (readonly [value: string, words: string])[],
  chosen: string,
): Content =>
  choices.map(
    ([value, words]) =>
      html`<option value=${value} .selected=${live(value === chosen)}>${words}</option>`,
  );

/** A box to check, with its words. */
export const checkBox = (
  id: string,
  words: Content,
  checked: boolean,
  take: (checked: boolean) => void,
): TemplateResult => html`
  <label class="check"><input type="checkbox" id=${id} .checked=${live(checked)}
    @change=${withChecked(take)}> <span>${words}</span></label>`;

interface Numeric {
  readonly value: number;
  readonly nearest: (typed: number) => number;
  readonly take: (value: number) => void;
  /** After what is no number; without it the box shows what was there before. */
  readonly clear?: () => void;
}

/** What onNumber() and showNumber() do for a box. */
class NumericBox extends Directive {
  #of: Numeric | null = null;
  render(_of: Numeric): typeof noChange {
    return noChange;
  }
  override update({ element }: ElementPart, [of]: [Numeric]): typeof noChange {
    const box = element as HTMLInputElement;
    if (!this.#of) {
      const clear = of.clear && (() => this.#of?.clear?.());
      const nearest = (typed: number) => (this.#of ?? of).nearest(typed);
      onNumber(box, nearest, (value) => this.#of?.take(value), clear);
    }
    this.#of = of;
    showNumber(box, of.value);
    return noChange;
  }
}

/** In the tag of a box: its number, and what takes another one that is typed. */
export const numeric = directive(NumericBox);

/** What a box is typed into keeps while it has the focus, and what says the same. */
class TypedText extends Directive {
  render(_text: string, _plain?: (typed: string) => string, _isNew?: boolean): typeof noChange {
    return noChange;
  }
  override update(
    { element }: ElementPart,
    [text, plain = (typed) => typed.trim(), isNew = false]: Parameters<TypedText['render']>,
  ): typeof noChange {
    const box = element as HTMLInputElement | HTMLTextAreaElement;
    const isTyping = document.activeElement === box && !isNew;
    if (!isTyping && plain(box.value) !== plain(text)) box.value = text;
    return noChange;
  }
}

/** In the tag of a box: its text, which is not written while somebody types, nor where `plain` makes the same of both. */
export const typedText = directive(TypedText);

/** A score that may be typed, behind its symbol. */
export const scoreBox = (
  key: number,
  label: string,
  of: Numeric & { readonly limits: readonly [number, number] },
): TemplateResult => html`
  <label class="with-number"><span>s<sub>${key}</sub></span>
    <input type="number" class="score" min=${of.limits[0]} max=${of.limits[1]} step="0.1"
      aria-label=${label || nothing} ${numeric(of)}></label>`;

import { chipHtml, shareOf } from '../ui/token_chip';
import { find, svgElement } from '../ui/dom';
import { drawRibbons } from './ribbons';
import type { Frame } from '../worker/protocol';
import { isAnimal } from '../domain/animals';
import { CONSTRUCTED } from '../domain/sources';
import { defaultText, richOf, t } from '../i18n/i18n';
import { isAllowed } from '../domain/rows';
import { headName } from '../features/head_names';
import { isCurrent, Panel, type View } from '../features/panel';
import { missingModel } from '../features/missing_model';

/** Of more tokens only these become chips; the others can be chosen in the map. */
const MAX_CHIPS = 64;

/** Sentences of which the head that looks for animals knows a word. */
const KNOWN = ['sentence.known1', 'sentence.known2', 'sentence.known3'] as const;

interface Chip {
  readonly token: string;
  readonly label: HTMLElement;
  readonly radio: HTMLInputElement;
  readonly fill: SVGRectElement;
  readonly share: HTMLElement;
}

/** The tokens as a group of radio buttons: the chosen one is the query. */
export class SentencePanel extends Panel {
  #chips: readonly Chip[] = [];
  #tokens: readonly string[] | null = null;
  #given: readonly HTMLElement[] = [];
  readonly #ribbons = svgElement('svg', { class: 'ribbons', 'aria-hidden': 'true' });
  /** Draws the ribbons as they are now, where the words stand now. */
  #drawRibbons = (): void => undefined;

  protected template(): string {
    return `
      <div class="empty" hidden>
        <p data-t="sentence.empty"></p>
        <button type="button" class="button example" data-t="sentence.example"></button>
      </div>
      <div class="chips" role="radiogroup" data-t-label="sentence.chips"></div>
      <p class="hint more" hidden></p>
      <qkv-first-minute data-panel></qkv-first-minute>
      <p class="caption" id="chips-caption"></p>
      <div class="knows note" hidden>
        <p data-t="sentence.knows"></p>
        <div>${KNOWN.map((key) => `<button type="button" class="button" data-known="${key}" data-t="${key}"></button>`).join('')}</div>
      </div>`;
  }

  protected override adopt(): void {
    const { lang } = document.documentElement;
    this.#given = [...this.querySelectorAll<HTMLElement>(`.chips[lang="${lang}"] .chip`)];
  }

  protected override ready(): void {
    this.find('.example', HTMLElement).addEventListener('click', () => {
      this.change({ text: defaultText(this.lang === 'zh' ? 'zh' : 'en'), query: null });
      document.getElementById('text')?.focus();
    });
    this.find('.chips', HTMLElement).addEventListener('change', (event) => {
      if (event.target instanceof HTMLInputElement) this.change({ query: +event.target.value });
    });
    this.find('.knows', HTMLElement).addEventListener('click', ({ target }) => {
      const key = target instanceof HTMLElement ? target.dataset['known'] : undefined;
      const known = KNOWN.find((name) => name === key);
      if (known) this.change({ text: t(known), query: null });
    });
    new ResizeObserver(() => this.#drawRibbons()).observe(this);
  }

  update(view: View): void {
    const { state, list } = view;
    this.lang = state.language;
    const { tokens } = list;
    const empty = tokens.length === 0;
    const learned = state.source === 'trained';
    this.find('.empty', HTMLElement).hidden = !empty;
    this.setText('.empty p', (learned ? missingModel(view) : null) ?? t('sentence.empty'));
    this.find('.example', HTMLElement).hidden = learned;
    this.find('.chips', HTMLElement).hidden = empty;
    this.find('#chips-caption', HTMLElement).hidden = empty;
    if (tokens !== this.#tokens) {
      this.#tokens = tokens;
      this.#buildChips(tokens.slice(0, MAX_CHIPS));
    }
    const more = this.find('.more', HTMLElement);
    more.hidden = tokens.length <= MAX_CHIPS;
    this.setText('.more', t('sentence.more', { shown: MAX_CHIPS, count: tokens.length }));
    this.#updateChips(view);
    this.find('.knows', HTMLElement).hidden = !isAtALoss(view);
    const head = headName(view.heads, view.frame?.request.view.head ?? state.head);
    const caption = t('sentence.caption', { head }); // as it will read
    if (this.dataset['caption'] === caption) return;
    this.dataset['caption'] = caption;
    this.find('#chips-caption', HTMLElement).replaceChildren(
      ...richOf('sentence.caption', { head }),
    );
  }

  /** The chips of the HTML, once, if they are those of the tokens. */
  #takeGiven(tokens: readonly string[]): readonly HTMLElement[] | null {
    const given = this.#given;
    this.#given = [];
    const same = given.length === tokens.length && given.every(isChipOf(tokens));
    return same ? given : null;
  }

  #buildChips(tokens: readonly string[]): void {
    const given = this.#takeGiven(tokens);
    this.#chips = tokens.map((token, position) => {
      const label = given?.[position] ?? newChip(token, position);
      return {
        token,
        label,
        radio: find(label, 'input', HTMLInputElement),
        fill: find(label, 'rect', SVGRectElement),
        share: find(label, '.share', HTMLElement),
      };
    });
    this.find('.chips', HTMLElement).replaceChildren(
      this.#ribbons,
      ...this.#chips.map((chip) => chip.label),
    );
  }

  /** Fills every chip by the weight that the query gives it. */
  #updateChips(view: View): void {
    const frame = isCurrent(view) ? view.frame : null;
    const { query, list, look } = view;
    const row = frame?.query?.row === query ? frame.query : null;
    if (!view.frame && this.#chips[query]?.share.textContent) {
      const { radio } = this.#chips[query]; // as the HTML has them, until there is something newer
      radio.checked = true;
      return;
    }
    if (!this.changed(row, query, list.tokens, frame?.request.layer.mask, look)) return;
    const words = this.#chips.map(({ label }) => label);
    this.#drawRibbons = () => drawRibbons(this.#ribbons, words, query, row?.weights ?? null);
    this.#chips.forEach((chip, position) => {
      chip.radio.checked = position === query;
      const masked = frame !== null && isMasked(frame, query, position);
      const weight = row?.weights[position] ?? 0;
      chip.label.classList.toggle('masked', masked);
      const share = row ? shareOf(weight, masked) : '';
      const name = chipName(chip.token, position, share);
      if (name === chip.radio.getAttribute('aria-label')) return; // most weights still round to the same
      chip.radio.setAttribute('aria-label', name);
      chip.share.textContent = share;
      chip.fill.setAttribute('y', String(1 - weight));
    });
    this.#drawRibbons();
  }
}

/** Whether the head that looks for animals is shown a sentence without one that it knows: its weights say nothing then. */
function isAtALoss({ state, list, heads }: View): boolean {
  if (heads.source !== 'constructed' || CONSTRUCTED[state.head] !== 'reference') return false;
  return list.tokens.length > 0 && !list.tokens.some(isAnimal);
}

function newChip(token: string, position: number): HTMLElement {
  const label = document.createElement('label');
  label.className = 'chip';
  label.innerHTML = chipHtml({ position, token: '', share: '', weight: 0 });
  find(label, '.token', HTMLElement).textContent = token;
  return label;
}

const isChipOf = (tokens: readonly string[]) => (chip: HTMLElement, i: number) =>
  find(chip, '.token', HTMLElement).textContent === tokens[i];

function isMasked(frame: Frame, row: number, col: number): boolean {
  const { mask, tokens } = frame.request.layer;
  return !isAllowed(mask, row, col, tokens.length);
}

function chipName(token: string, position: number, share: string): string {
  if (share === '') return `${position} ${token}`;
  return t(share === '–' ? 'sentence.chipMasked' : 'sentence.chip', {
    position,
    token,
    weight: share.replace(/^\./, '0.'),
  });
}

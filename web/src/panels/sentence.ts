import { find } from '../dom';
import { defaultText, t } from '../i18n';
import { richNodes } from '../rich';
import { allowedKeys, weightAt } from '../numbers';
import { MAX_TEXT, MAX_TOKENS, type TokenList } from '../tokenizer';
import { isCurrent, Panel, type View } from './panel';

interface Chip {
  readonly token: string;
  readonly label: HTMLElement;
  readonly radio: HTMLInputElement;
  readonly fill: HTMLElement;
  readonly share: HTMLElement;
}

/** The sentence, and its tokens as a group of radio buttons: the chosen one is the query. */
export class SentencePanel extends Panel {
  #chips: readonly Chip[] = [];
  #list: TokenList | null = null;
  #revealed = '';

  protected template(): string {
    return `
      <div class="field-head">
        <label class="field-label" for="text" data-t="sentence.label"></label>
        <p class="hint" id="text-hint" data-t="sentence.hint"></p>
      </div>
      <textarea id="text" rows="1" spellcheck="false" autocomplete="off"
        aria-describedby="text-hint text-note"></textarea>
      <p class="note" id="text-note" role="status" hidden></p>
      <div class="empty" hidden>
        <p data-t="sentence.empty"></p>
        <button type="button" class="button example" data-t="sentence.example"></button>
      </div>
      <div class="chips" role="radiogroup" data-t-label="sentence.chips"></div>
      <p class="caption" id="chips-caption"></p>`;
  }

  protected override ready(): void {
    const text = this.find('textarea', HTMLTextAreaElement);
    // While an input method is composing, the text is not yet what the person means.
    const send = () => this.change({ text: text.value, query: null });
    text.addEventListener('input', (event) => {
      if (!(event instanceof InputEvent && event.isComposing)) send();
    });
    text.addEventListener('compositionend', send);
    new ResizeObserver(() => this.#fitText(text)).observe(this);
    this.find('.example', HTMLElement).addEventListener('click', () => {
      this.change({ text: defaultText(this.lang === 'zh' ? 'zh' : 'en'), query: null });
      text.focus();
    });
    this.find('.chips', HTMLElement).addEventListener('change', (event) => {
      if (event.target instanceof HTMLInputElement) this.change({ query: +event.target.value });
    });
  }

  update(view: View): void {
    const { state, list } = view;
    this.lang = state.language;
    const text = this.find('textarea', HTMLTextAreaElement);
    if (text.value !== state.text) text.value = state.text;
    const empty = list.tokens.length === 0;
    this.find('.empty', HTMLElement).hidden = !empty;
    this.find('.chips', HTMLElement).hidden = empty;
    this.find('#chips-caption', HTMLElement).hidden = empty;
    this.#updateNote(view);
    if (list !== this.#list) {
      this.#list = list;
      this.#fitText(text);
      this.#buildChips(list.tokens);
      this.#revealed = '';
    }
    this.#updateChips(view);
    this.#reveal(view);
    const caption = t('sentence.caption', { head: state.head + 1 });
    this.find('#chips-caption', HTMLElement).replaceChildren(...richNodes(caption));
  }

  /** The box grows with its text, up to a third of the screen. */
  #fitText(text: HTMLTextAreaElement): void {
    text.style.height = 'auto';
    const border = text.offsetHeight - text.clientHeight;
    text.style.height = `${Math.min(text.scrollHeight + border, innerHeight / 3)}px`;
  }

  /** With many tokens the chips scroll: the query must not be out of sight. */
  #reveal(view: View): void {
    // Once for each query, and again when the weights have made the chips wider.
    const place = `${view.query} ${isCurrent(view)}`;
    if (place === this.#revealed) return;
    this.#revealed = place;
    const chips = this.find('.chips', HTMLElement);
    const label = this.#chips[view.query]?.label;
    if (!label) return;
    const below = label.offsetTop + label.offsetHeight - chips.clientHeight;
    if (label.offsetTop < chips.scrollTop || below > chips.scrollTop) chips.scrollTop = below + 8;
  }

  #updateNote({ list }: View): void {
    const notes = [];
    if (list.textCut) notes.push(t('sentence.textCut', { max: MAX_TEXT }));
    if (list.total > MAX_TOKENS) {
      notes.push(t('sentence.tokensCut', { max: MAX_TOKENS, total: list.total }));
    }
    this.setText('#text-note', notes.join(' '));
    this.find('#text-note', HTMLElement).hidden = notes.length === 0;
  }

  #buildChips(tokens: readonly string[]): void {
    this.#chips = tokens.map((token, position) => {
      const label = document.createElement('label');
      label.className = 'chip';
      label.innerHTML = `
        <input type="radio" name="query" value="${position}" class="visually-hidden">
        <span class="face">
          <span class="fill"></span><bdi class="token"></bdi>
          <span class="below"><span class="position">${position}</span><span class="share"></span></span>
        </span>`;
      find(label, '.token', HTMLElement).textContent = token;
      return {
        token,
        label,
        radio: find(label, 'input', HTMLInputElement),
        fill: find(label, '.fill', HTMLElement),
        share: find(label, '.share', HTMLElement),
      };
    });
    this.find('.chips', HTMLElement).replaceChildren(...this.#chips.map((chip) => chip.label));
  }

  /** Fills every chip by the weight that the query gives it. */
  #updateChips(view: View): void {
    const frame = isCurrent(view) ? view.frame : null;
    const { query, state, list, look } = view;
    if (!this.changed(frame?.weights, query, state.head, list, look)) return;
    this.#chips.forEach((chip, position) => {
      chip.radio.checked = position === query;
      const masked = frame !== null && position >= allowedKeys(frame, query);
      const weight = frame ? weightAt(frame, state.head, query, position) : 0;
      chip.label.classList.toggle('masked', masked);
      const share = !frame ? '' : masked ? '–' : weight.toFixed(3).replace(/^0/, '');
      const name = chipName(chip.token, position, share);
      if (name === chip.radio.ariaLabel) return; // of 256 weights most still round to the same
      chip.radio.ariaLabel = name;
      chip.share.textContent = share;
      chip.fill.style.transform = `scaleY(${weight})`; // scaling asks for no layout
    });
  }
}

function chipName(token: string, position: number, share: string): string {
  if (share === '') return `${position} ${token}`;
  return t(share === '–' ? 'sentence.chipMasked' : 'sentence.chip', {
    position,
    token,
    weight: share.replace(/^\./, '0.'),
  });
}

customElements.define('qkv-sentence', SentencePanel);

import './guess.css';
import { t } from '../i18n/i18n';
import { find, setText } from './dom';

export interface Choice {
  readonly value: string;
  readonly label: string;
}

/**
 * Asks the reader to guess before a result is shown. The panel says what it asks and hides the result meanwhile; the
 * event `guessed` has the chosen value, or null for those who would rather see it at once, and `guess-again` asks for
 * another turn.
 */
export class Guess extends HTMLElement {
  #question = '';
  /** Whether the button that had the focus has just been hidden. */
  #hidFocus = false;

  connectedCallback(): void {
    if (this.firstChild) return;
    this.innerHTML = `
      <div class="guess note" hidden>
        <p class="guess-question"></p>
        <p class="buttons"></p>
      </div>
      <p class="guess-answer" role="status"></p>
      <button type="button" class="button guess-again" hidden></button>`;
    this.addEventListener('click', ({ target }) => {
      const guess = target instanceof HTMLElement ? target.dataset['guess'] : undefined;
      if (guess !== undefined) this.#say('guessed', guess === 'show' ? null : guess);
      else if (target === this.#again) this.#say('guess-again', null);
    });
  }

  #say(name: string, detail: string | null): void {
    this.dispatchEvent(new CustomEvent(name, { bubbles: true, detail }));
  }

  get #again(): HTMLButtonElement {
    return find(this, '.guess-again', HTMLButtonElement);
  }

  /** Null: there is no question. */
  ask(question: string | null, choices: readonly Choice[] = []): void {
    const box = find(this, '.guess', HTMLElement);
    this.#hidFocus = question === null && !box.hidden && box.contains(document.activeElement);
    box.hidden = question === null;
    const all = [...choices, { value: 'show', label: t('guess.show') }];
    const text = JSON.stringify([question, all]);
    if (question === null || text === this.#question) return; // buttons made anew would lose the focus
    this.#question = text;
    find(this, '.guess-question', HTMLElement).textContent = question;
    const buttons = all.map(({ value, label }) => {
      const button = document.createElement('button');
      Object.assign(button, { type: 'button', className: 'button', textContent: label });
      button.dataset['guess'] = value;
      return button;
    });
    find(this, '.buttons', HTMLElement).replaceChildren(...buttons);
  }

  /** What came of the guess; nothing: it was not made, or is of other numbers. */
  tell(answer: string, again = answer !== ''): void {
    const shown = find(this, '.guess-answer', HTMLElement);
    setText(shown, answer);
    const button = this.#again;
    setText(button, t('guess.repeat'));
    button.hidden = !again;
    if (this.#hidFocus) {
      shown.tabIndex = -1; // for the focus alone, where there is no button to have it
      (again ? button : shown).focus({ preventScroll: true });
    }
    this.#hidFocus = false;
  }

  /** For those who come by keyboard, after the press for another turn. */
  focusFirst(): void {
    requestAnimationFrame(() => {
      this.querySelector<HTMLElement>('[data-guess]')?.focus({ preventScroll: true });
    });
  }
}

customElements.define('qkv-guess', Guess);

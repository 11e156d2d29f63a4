import { shippedFiles } from '../../model/page/shipped_files';
import type { ContextsAsk, ToModel } from '../../model/shared/protocol';
import { modelOf } from '../../model/state';
import type { View } from '../../panel';
import { shownWords } from './shown_words';
import { LONGEST_CONTEXT, LONGEST_WORD, typed } from '../state';
import { barOf, element, three, WordsPart } from './words_part';
import { t } from '../feature';

const BOXES = [
  ['context', 'wordsContext', LONGEST_WORD],
  ['first', 'wordsFirst', LONGEST_CONTEXT],
  ['second', 'wordsSecond', LONGEST_CONTEXT],
] as const;

/** A word in two contexts, read by the trained model of the page: one vector goes in, two come out. */
export class ContextsPart extends WordsPart {
  /** What the model that is there was asked last. */
  #asked = '';
  #view: View | null = null;

  protected template(): string {
    const boxes = BOXES.map(
      ([name, , longest]) => `
        <div class="control words-${name}"><label for="words-${name}" data-t="words.contexts.${name}"></label>
          <input id="words-${name}" type="text" autocomplete="off" spellcheck="false" maxlength="${longest}"></div>`,
    );
    return `
      <h3 data-t="words.contexts.title"></h3>
      <p class="words-text" data-t="words.contexts.intro"></p>
      <div class="tools-row" data-control>${boxes.join('')}</div>
      <div class="buttons words-load"><button type="button" class="button" data-press="load"></button></div>
      <p class="words-text words-said" role="status"></p>
      <ol class="words-list"></ol>
      <p class="words-text words-consequence"></p>`;
  }

  protected override ready(): void {
    for (const [name, field] of BOXES) {
      const box = this.find(`#words-${name}`, HTMLInputElement);
      box.addEventListener('input', () => this.change({ [field]: typed(box.value) }));
    }
    this.find('[data-press=load]', HTMLElement).addEventListener('click', () => this.#load());
  }

  #tell(message: ToModel): void {
    this.dispatchEvent(new CustomEvent('model-tell', { bubbles: true, detail: message }));
  }

  #load(): void {
    if (!this.#view) return;
    const { state } = this.#view;
    const files = shippedFiles(modelOf(state, state.language));
    if (files) this.#tell({ kind: 'load', files });
  }

  update(view: View): void {
    this.#view = view;
    const { state, model, look } = view;
    const { contexts: ask } = shownWords(state);
    this.#boxes([ask.word, ...ask.texts]);
    this.#ask(view, ask);
    const { info, loading, contexts } = model;
    if (!this.changed(info, loading !== null, contexts, state.model, look)) return;
    const name = modelOf(state, state.language);
    const isHere = shippedFiles(name) !== null;
    this.find('.words-load', HTMLElement).hidden = info !== null || !isHere;
    this.find('[data-press=load]', HTMLButtonElement).disabled = loading !== null;
    this.setText('[data-press=load]', t('words.contexts.load', { name }));
    this.#answer(view);
    if (info) return;
    const key = loading ? 'loading' : isHere ? 'none' : 'outside';
    this.setText('.words-said', t(`words.contexts.${key}`));
  }

  #boxes(texts: readonly string[]): void {
    BOXES.forEach(([name], i) => {
      const box = this.find(`#words-${name}`, HTMLInputElement);
      const text = texts[i] ?? '';
      if (document.activeElement !== box && box.value.trim() !== text.trim()) box.value = text;
    });
  }

  /** A model that is there is asked once for each word and texts. */
  #ask({ model }: View, ask: ContextsAsk): void {
    const key = model.info ? JSON.stringify([model.info.id, ask]) : '';
    if (key === this.#asked) return;
    this.#asked = key;
    if (key !== '') this.#tell({ kind: 'contexts', ask });
  }

  #answer({ model: { info, contexts } }: View): void {
    const cosines = info && contexts ? contexts.cosines : [];
    this.find('.words-list', HTMLElement).replaceChildren(
      ...cosines.map((value, layer) =>
        element(
          'li',
          '',
          t(layer === 0 ? 'words.contexts.row' : 'words.contexts.layer', { layer }),
          barOf(value),
          element('span', 'value', three(value)),
        ),
      ),
    );
    const [first, token] = contexts?.labels ?? [null, null];
    const isSame = first === token;
    const last = { value: three(cosines.at(-1) ?? NaN), layers: cosines.length - 1 };
    const isTold = cosines.length > 0 && isSame;
    this.setText('.words-consequence', isTold ? t('words.contexts.told', last) : '');
    if (!info || !contexts) return;
    const key = cosines.length === 0 ? 'absent' : isSame ? 'token' : 'split';
    const values = { name: info.file, word: contexts.ask.word, token: token ?? '' };
    this.setText('.words-said', t(`words.contexts.${key}`, values));
  }
}

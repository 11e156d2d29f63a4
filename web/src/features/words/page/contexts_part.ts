import { html, type TemplateResult } from 'lit-html';
import { shippedFiles } from '../../model/page/shipped_files';
import type { ModelView } from '../../model/shared/model_view';
import type { ToModel } from '../../model/shared/protocol';
import { modelOf } from '../../model/state';
import { typedText, withValue } from '../../../ui/lit/controls';
import type { View } from '../../panel';
import { shownWords } from './shown_words';
import { LONGEST_CONTEXT, LONGEST_WORD, typed } from '../state';
import { entryOf, three, WordsPart } from './words_part';
import { t } from '../feature';

const BOXES = [
  ['context', 'wordsContext', LONGEST_WORD],
  ['first', 'wordsFirst', LONGEST_CONTEXT],
  ['second', 'wordsSecond', LONGEST_CONTEXT],
] as const;

/** A word in two contexts, read by the trained model of the page: one vector goes in, two come out. */
export class ContextsPart extends WordsPart {
  /** The last request to the model that is there. */
  #requested = '';

  protected inputs({ state, model, look }: View): readonly unknown[] {
    const request = JSON.stringify(shownWords(state).contexts);
    return [request, model.info, model.loading !== null, model.contexts, state.model, look];
  }

  protected render({ state, model }: View): TemplateResult {
    const { contexts: ask } = shownWords(state);
    const { info, loading, contexts } = model;
    const name = modelOf(state, state.language);
    const files = shippedFiles(name);
    const key = loading ? 'loading' : files ? 'none' : 'outside';
    const load = () => files && this.#tell({ kind: 'load', files });
    const cosines = info && contexts ? contexts.cosines : [];
    return html`
      <h3>${t('words.contexts.title')}</h3>
      <p class="words-text">${t('words.contexts.intro')}</p>
      <div class="tools-row" data-control>${this.#boxes([ask.word, ...ask.texts])}</div>
      <div class="buttons words-load" ?hidden=${info !== null || !files}>
        <button type="button" class="button" data-press="load" ?disabled=${loading !== null} @click=${load}>${t('words.contexts.load', { name })}</button></div>
      <p class="words-text words-said" role="status">${info ? saidOf(model) : t(`words.contexts.${key}`)}</p>
      <ol class="words-list">${cosines.map((value, layer) =>
        entryOf(t(layer === 0 ? 'words.contexts.row' : 'words.contexts.layer', { layer }), value),
      )}</ol>
      <p class="words-text words-consequence">${consequenceOf(model)}</p>`;
  }

  #boxes(texts: readonly string[]): TemplateResult[] {
    return BOXES.map(
      ([name, field, longest], i) => html`
        <div class="control words-${name}"><label for="words-${name}">${t(`words.contexts.${name}`)}</label>
          <input id="words-${name}" type="text" autocomplete="off" spellcheck="false" maxlength=${longest}
            @input=${withValue((value) => this.change({ [field]: typed(value) }))} ${typedText(texts[i] ?? '')}></div>`,
    );
  }

  /** A model that is there gets one request for each word and texts. */
  protected override rendered({ state, model }: View): void {
    const { contexts: ask } = shownWords(state);
    const key = model.info ? JSON.stringify([model.info.id, ask]) : '';
    if (key === this.#requested) return;
    this.#requested = key;
    if (key !== '') this.#tell({ kind: 'contexts', ask });
  }

  #tell(message: ToModel): void {
    this.dispatchEvent(new CustomEvent('model-tell', { bubbles: true, detail: message }));
  }
}

type Contexts = NonNullable<ModelView['contexts']>;

/** Whether the word is the same token in both texts. */
const isSame = ({ labels: [first, token] }: Contexts) => first === token;

function saidOf({ info, contexts }: ModelView): string {
  if (!info || !contexts) return '';
  const key = contexts.cosines.length === 0 ? 'absent' : isSame(contexts) ? 'token' : 'split';
  const [, token] = contexts.labels;
  return t(`words.contexts.${key}`, {
    ...{ name: info.file, word: contexts.ask.word, token: token ?? '' },
  });
}

function consequenceOf({ info, contexts }: ModelView): string {
  if (!info || !contexts || contexts.cosines.length === 0 || !isSame(contexts)) return '';
  const { cosines } = contexts;
  return t('words.contexts.outcome', {
    ...{ value: three(cosines.at(-1) ?? NaN), layers: cosines.length - 1 },
  });
}

import { html, type TemplateResult } from 'lit-html';
import type { Failure } from '../../../domain/failure';
import { percent } from '../../../ui/numbers';
import { options, typedText, withValue } from '../../../ui/lit/controls';
import { stage } from '../../../ui/lit/plots';
import { reasonOf } from '../../../ui/reason';
import { Lab } from '../../../worker/panel_worker_client';
import type { View } from '../../panel';
import type { FromWordsLab, ToWordsLab } from '../shared/protocol';
import { PLANES, PLANE_SETS } from '../shared/examples';
import { shownWords } from './shown_words';
import { LONGEST_PLANE, typed } from '../state';
import { drawPlane } from './drawings';
import {
  MOST_WORDS,
  onPlane,
  wordsOfPlane,
  type ChosenWords,
  type PlaneOfWords,
} from './plane_of_words';
import { three, WordsPart } from './words_part';
import { t } from '../feature';

export const PLANE_HEIGHT = 420;

/** Words on the plane of their two principal components. */
export class PlanePart extends WordsPart {
  #plane: PlaneOfWords | null = null;
  /** The last request to the worker, what it has found, and why it has not. */
  #requested = '';
  #found: FromWordsLab | null = null;
  #failure: Failure | null = null;
  readonly #lab = new Lab<ToWordsLab, FromWordsLab>('words', {
    onMessage: (found) => {
      if (found.key !== this.#requested) return;
      this.#found = found;
      this.refresh();
    },
    onFailure: (failure) => {
      this.#failure = failure;
      this.refresh();
    },
  });

  /** What is drawn; null: nothing yet. */
  get plane(): PlaneOfWords | null {
    return this.#plane;
  }

  protected inputs({ state, look }: View): readonly unknown[] {
    return [this.table, shownWords(state).plane, look];
  }

  protected render({ state }: View): TemplateResult {
    const { table } = this;
    if (!table) return html``;
    const { plane: list } = shownWords(state);
    const { chosen, found, unknown } = wordsOfPlane(table, list, state.language);
    const plane = (this.#plane = chosen && this.#planeOf(chosen, table.width));
    const missing = { words: unknown.join(', ') };
    const failure = chosen && !plane ? this.#failure : null;
    return html`
      <h3>${t('words.plane.title')}</h3>
      <p class="words-text">${t('words.plane.intro')}</p>
      ${this.#tools(list)}
      ${plane ? planeStage(plane, table.width) : html`<div class="plot-stage"></div>`}
      <p class="words-text words-shares">${chosen ? plane && sharesOf(plane) : t('words.plane.few')}</p>
      <p class="words-text words-failed" role="status">${failure && reasonOf(failure)}</p>
      <div class="buttons" ?hidden=${failure === null}><button type="button" class="button" data-press="retry-plane" @click=${this.#retry}>${t('words.retry')}</button></div>
      <p class="words-text words-pairs">${plane && pairsOf(plane, table.width)}</p>
      <p class="hint words-plane-unknown">${unknown.length > 0 ? t('words.plane.unknown', missing) : ''}</p>
      <p class="hint words-plane-cut">${found > MOST_WORDS ? t('words.plane.cut', { most: MOST_WORDS }) : ''}</p>`;
  }

  /** Asks again for the same words; the button goes, so the list of words has the focus. */
  readonly #retry = (): void => {
    this.#requested = '';
    this.refresh();
    this.find('#words-plane', HTMLTextAreaElement).focus();
  };

  /** Where these words are, as soon as the worker has said it, after one request. */
  #planeOf(chosen: ChosenWords, width: number): PlaneOfWords | null {
    const key = chosen.words.join(' ');
    if (key !== this.#requested) {
      this.#requested = key;
      this.#failure = null;
      this.#lab.send({ type: 'plane', key, data: chosen.data, width });
    }
    return this.#found?.key === key ? onPlane(chosen, this.#found.principal) : null;
  }

  #tools(list: string): TemplateResult {
    const known = PLANE_SETS.find((set) => PLANES[set] === list) ?? 'own';
    const choose = (value: string) => {
      const name = PLANE_SETS.find((each) => each === value);
      if (name) this.change({ wordsPlane: PLANES[name] });
      else this.find('#words-plane', HTMLTextAreaElement).focus();
    };
    const choices = [...PLANE_SETS, 'own' as const].map(
      (set) => [set, t(`words.plane.${set}`)] as const,
    );
    return html`<div class="tools-row" data-control>
      <div class="control"><label for="words-set">${t('words.plane.set')}</label>
        <select id="words-set" @change=${withValue(choose)}>${options(choices, known)}</select></div>
      <div class="control words-plane-list"><label for="words-plane">${t('words.plane.list')}</label>
        <textarea id="words-plane" lang="en" rows="2" maxlength=${LONGEST_PLANE} autocapitalize="off" spellcheck="false"
          @input=${withValue((value) => this.change({ wordsPlane: typed(value) }))} ${typedText(list, (each) => each)}></textarea></div>
    </div>`;
  }
}

const planeStage = (plane: PlaneOfWords, width: number) =>
  stage(
    'plane',
    {
      height: PLANE_HEIGHT,
      label: t('words.plane.label', {
        ...{ count: plane.words.length, words: plane.words.join(', '), width },
      }),
      draw: (wide) => drawPlane('page', [wide, PLANE_HEIGHT], plane),
    },
    'en',
  );

function sharesOf({ shares: [first, second], words }: PlaneOfWords): string {
  const shares = { first: percent(first), second: percent(second), both: percent(first + second) };
  return t('words.plane.shares', { count: words.length, ...shares });
}

const pairsOf = ({ pairs, parallel }: PlaneOfWords, width: number) =>
  pairs.length > 1
    ? t('words.plane.pairs', { count: pairs.length, width, value: three(parallel) })
    : '';

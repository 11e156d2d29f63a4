import { sentences } from '../../../i18n/i18n';
import { html, nothing, type TemplateResult } from 'lit-html';
import { live } from 'lit-html/directives/live.js';
import { unsafeHTML } from 'lit-html/directives/unsafe-html.js';
import { mean } from '../../../domain/averages';
import { radios } from '../../../ui/lit/controls';
import type { Content } from '../../../ui/lit/texts';
import { digits } from '../../../ui/numbers';
import { LitPanel } from '../../lit_panel';
import type { View } from '../../panel';
import type { BlockView } from '../worker/frame_feature';
import { pathLines } from './path_lines';
import {
  LEARNED_PATH,
  NORM_PLACES,
  NORM_TYPES,
  PATHS,
  STREAM,
  type NormPlace,
  type NormType,
  type TapId,
} from '../shared/constants';
import { t } from '../feature';

const NORMS: readonly TapId[] = ['norm1', 'norm2'];

/** The way of the tokens through the block; each row can be chosen, and then its matrix is shown. */
export class DiagramPart extends LitPanel {
  /** The latest, which stays while nothing is computed. */
  #block: BlockView | null = null;

  protected inputs({ state, frame, query, look }: View): readonly unknown[] {
    return [
      frame?.block,
      query,
      state.source,
      state.blockNorm,
      state.blockType,
      state.blockTap,
      look,
    ];
  }

  protected render({ state, frame, query }: View): TemplateResult {
    const { blockNorm, blockType } = state;
    const block = (this.#block = frame?.block ?? this.#block);
    const token = block?.tokens[query];
    const isLearned = state.source === 'trained';
    const learned = isLearned ? (block?.learned ?? null) : null;
    const place = isLearned ? 'pre' : blockNorm;
    const known = isLearned ? LEARNED_PATH : PATHS[blockNorm];
    const path = learned && block ? block.path : known;
    const chosen = path.includes(state.blockTap) ? state.blockTap : path.at(-1);
    return html`
      ${learned ? html`<h3>${t('block.learned.title', { layer: learned.layer })}</h3>` : nothing}
      <div class="tools-row" data-control ?hidden=${isLearned}>
        ${segments('place', NORM_PLACES, blockNorm, (place) => this.change({ blockNorm: place }))}
        ${segments('type', NORM_TYPES, blockType, (type) => this.change({ blockType: type }))}
      </div>
      <fieldset class="block-path">
        <legend class="visually-hidden">${t('block.path')}</legend>
        <div class="block-head">
          <span>${t('block.stream')}</span>
          <span class="block-number">${t('block.mean')}</span>
          <span class="block-number block-of">${token === undefined ? '' : t('block.of', { token })}</span>
        </div>
        <div class="block-rows">${unsafeHTML(pathLines(place, path))}${path.map((id) =>
          this.#row(id, { isChosen: id === chosen, place, query }),
        )}</div>
      </fieldset>
      <p class="hint same">${block && comparisonOf(block)}</p>`;
  }

  #row(
    id: TapId,
    { isChosen, place, query }: { isChosen: boolean; place: NormPlace; query: number },
  ): TemplateResult {
    const isOnStream = STREAM[place].includes(id);
    const { shape, average, own } = numbersOf(this.#block, id, query);
    return html`
      <label class=${isOnStream ? 'block-tap on-stream' : 'block-tap'}>
        <input type="radio" name="block-tap" value=${id} .checked=${live(isChosen)} @change=${() => this.change({ blockTap: id })}>
        <span class="block-name">${nameOf(id, place, this.#block?.learned ?? null)}</span>
        <span class="block-shape">${shape}</span>
        <span class="block-number" data-mean=${id}>${average}</span>
        <span class="block-number" data-token=${id}>${own}</span>
      </label>`;
  }
}

const segments = <Value extends NormPlace | NormType>(
  name: 'place' | 'type',
  values: readonly Value[],
  chosen: Value,
  take: (value: Value) => void,
): TemplateResult => {
  const choices = values.map((value) => [value, t(`block.${value}`)] as const);
  return html`<div class="control"><span id="block-${name}-name">${t(`block.${name}`)}</span>
    <fieldset class="segmented" aria-labelledby="block-${name}-name">${radios(`block-${name}`, choices, chosen, take)}</fieldset></div>`;
};

/** What a trained layer has another word for than the block of the page. */
export const RENAMED = ['hidden', 'forward', 'sum2'] as const;
export const isRenamed = (id: TapId): id is (typeof RENAMED)[number] =>
  RENAMED.some((each) => each === id);

/** Two rows have the same name: a number tells them apart for those who cannot see where they stand. */
function nameOf(id: TapId, place: NormPlace, learned: BlockView['learned']): Content {
  if (learned && isRenamed(id)) return t(`block.learned.${id}`);
  const isLast = id === PATHS[place].at(-1);
  if (isLast && (id === 'sum2' || id === 'norm2')) return t(`block.${id}.last`);
  const ordinal = NORMS.indexOf(id) + 1;
  if (ordinal === 0) return t(`block.${id}`);
  return html`${t(`block.${id}`)}<span class="visually-hidden">${` ${ordinal}`}</span>`;
}

/** What a row says of its tap. */
function numbersOf(block: BlockView | null, id: TapId, query: number) {
  if (!block) return { shape: '', average: '', own: '' };
  const { cols, norms } = block.norms[id] ?? { cols: 0, norms: new Float32Array() };
  if (cols === 0) return { shape: '', average: '', own: '' };
  const shape = `${norms.length} × ${cols}`;
  // A row of weights adds up to 1: its length would say nothing about the stream.
  if (id === 'weights') return { shape, average: '', own: '' };
  const own = norms[query];
  return { shape, average: digits(mean(norms), 3), own: own === undefined ? '' : digits(own, 3) };
}

/** The heads here beside those of the map, and the block beside the whole block in one call. */
function comparisonOf({ place, difference, learned }: BlockView): string {
  if (learned) {
    const note = t('block.learned.norms');
    return difference === null
      ? note
      : sentences(t('block.learned.same', { difference: digits(difference, 2) }), note);
  }
  if (difference === null) return '';
  const read = t(place === 'pre' ? 'block.readsNormed' : 'block.readsStream');
  const key = difference === 0 ? 'block.exact' : 'block.same';
  return sentences(read, t(key, { difference: digits(difference, 2) }));
}

customElements.define('qkv-block-diagram', DiagramPart);

import { sentences } from '../../../i18n/i18n';
import { mean } from '../../../domain/averages';
import { digits } from '../../../ui/numbers';
import { Panel, type View } from '../../panel';
import { radiosHtml } from '../../../ui/controls';
import type { BlockView } from '../worker/frame_feature';
import { pathLines } from './path_lines';
import {
  NORM_PLACES,
  NORM_TYPES,
  PATHS,
  STREAM,
  TAPS,
  type NormPlace,
  type TapId,
} from '../shared/constants';
import { t } from '../feature';

const segments = (name: string, values: readonly string[]) =>
  radiosHtml(name, values, (value) => `block.${value}`);

const row = (id: TapId, onStream: boolean) => `
  <label class="block-tap${onStream ? ' on-stream' : ''}">
    <input type="radio" name="block-tap" value="${id}">
    <span class="block-name"></span>
    <span class="block-shape"></span>
    <span class="block-number" data-mean="${id}"></span>
    <span class="block-number" data-token="${id}"></span>
  </label>`;

const isNorm = (id: TapId) => id === 'norm1' || id === 'norm2';

/** Tells apart two rows of the same name for those who cannot see where they stand. */
function ordinal(number: number): HTMLElement {
  const element = document.createElement('span');
  element.className = 'visually-hidden';
  element.textContent = ` ${number}`;
  return element;
}

/** The way of the tokens through the block; each row can be chosen, and then its matrix is shown. */
export class DiagramPart extends Panel {
  #place: NormPlace | null = null;

  protected template(): string {
    return `
      <div class="tools-row" data-control>
        <div class="control"><span id="block-place-name" data-t="block.place"></span>
          <fieldset class="segmented" aria-labelledby="block-place-name">${segments('block-place', NORM_PLACES)}</fieldset></div>
        <div class="control"><span id="block-type-name" data-t="block.type"></span>
          <fieldset class="segmented" aria-labelledby="block-type-name">${segments('block-type', NORM_TYPES)}</fieldset></div>
      </div>
      <fieldset class="block-path">
        <legend class="visually-hidden" data-t="block.path"></legend>
        <div class="block-head">
          <span data-t="block.stream"></span>
          <span class="block-number" data-t="block.mean"></span>
          <span class="block-number block-of"></span>
        </div>
        <div class="block-rows"></div>
      </fieldset>
      <p class="hint same"></p>`;
  }

  protected override ready(): void {
    this.addEventListener('change', ({ target }) => {
      if (!(target instanceof HTMLInputElement)) return;
      const { name, value } = target;
      const place = NORM_PLACES.find((one) => one === value);
      const type = NORM_TYPES.find((one) => one === value);
      const tap = TAPS.find((one) => one === value);
      if (name === 'block-place' && place) this.change({ blockNorm: place });
      if (name === 'block-type' && type) this.change({ blockType: type });
      if (name === 'block-tap' && tap) this.change({ blockTap: tap });
    });
  }

  update({ state, frame, query, look }: View): void {
    const { blockNorm, blockType, blockTap } = state;
    const result = frame?.block ?? null;
    if (!this.changed(result, query, blockNorm, blockType, blockTap, look)) return;
    this.#build(blockNorm);
    for (const [name, value] of [
      ['block-place', blockNorm],
      ['block-type', blockType],
      ['block-tap', blockTap],
    ]) {
      this.find(`[name=${name}][value=${value}]`, HTMLInputElement).checked = true;
    }
    for (const id of TAPS) this.#name(id, state.blockNorm);
    if (result) this.#tell(result, query);
  }

  #build(place: NormPlace): void {
    if (place === this.#place) return;
    this.#place = place;
    const rows = PATHS[place].map((id) => row(id, STREAM[place].includes(id)));
    this.find('.block-rows', HTMLElement).innerHTML = pathLines(place) + rows.join('');
  }

  #name(id: TapId, place: NormPlace): void {
    const last = id === PATHS[place].at(-1) && (id === 'sum2' || id === 'norm2');
    const label = this.find(`[value=${id}]`, HTMLInputElement).closest('label');
    const name = label?.querySelector('.block-name');
    if (name) name.textContent = t(last ? `block.${id}.last` : `block.${id}`);
    if (name && isNorm(id) && !last) name.append(ordinal(id === 'norm1' ? 1 : 2));
  }

  #tell({ norms, tokens, place, difference }: BlockView, query: number): void {
    const token = tokens[query];
    this.setText('.block-of', token === undefined ? '' : t('block.of', { token }));
    for (const id of TAPS) {
      const { cols, norms: lengths } = norms[id];
      const label = this.find(`[value=${id}]`, HTMLInputElement).closest('label');
      const shape = label?.querySelector('.block-shape');
      if (shape) shape.textContent = `${lengths.length} × ${cols}`;
      // A row of weights adds up to 1: its length would say nothing about the stream.
      const known = id !== 'weights';
      const own = lengths[query];
      this.setText(`[data-mean=${id}]`, known ? digits(mean(lengths), 3) : '');
      this.setText(`[data-token=${id}]`, known && own !== undefined ? digits(own, 3) : '');
    }
    const read = t(place === 'pre' ? 'block.readsNormed' : 'block.readsStream');
    const key = difference === 0 ? 'block.exact' : 'block.same';
    this.setText('.same', sentences(read, t(key, { difference: digits(difference, 2) })));
  }
}

customElements.define('qkv-block-diagram', DiagramPart);

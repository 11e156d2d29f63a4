import { html, nothing, type TemplateResult } from 'lit-html';
import { mean } from '../../../domain/averages';
import { digits } from '../../../ui/numbers';
import { LitPanel } from '../../lit_panel';
import type { View } from '../../panel';
import { headName } from '../../head_names';
import type { BlockView } from '../worker/frame_feature';
import { t } from '../feature';

/** What each head adds to the output of the attention, by its rows of W_O. */
export class MixingPart extends LitPanel {
  /** The latest, which stays while nothing is computed. */
  #block: BlockView | null = null;

  protected inputs({ frame, query, look }: View): readonly unknown[] {
    return [frame?.block, query, look];
  }

  protected render({ heads, frame, query }: View): TemplateResult {
    const block = (this.#block = frame?.block ?? this.#block);
    const token = block?.tokens[query];
    return html`
      <h3>${t('block.mixing')}</h3>
      <p>${t(block?.learned ? 'block.learned.mixing' : 'block.mixingHow')}</p>
      <table class="data-table block-heads">
        <thead><tr><th scope="col">${t('controls.head')}</th><td></td>
          <th scope="col">${t('block.mean')}</th><th scope="col" class="block-of">${token === undefined ? '' : t('block.of', { token })}</th></tr></thead>
        <tbody>${block && rowsOf(block, query, (head) => headName(heads, head))}</tbody>
      </table>
      <p class="hint mixed">${block && sumOf(block)}</p>`;
  }
}

function rowsOf(
  { heads, shown, learned }: BlockView,
  query: number,
  nameOf: (head: number) => string,
): TemplateResult[] {
  const first = learned?.firstHead ?? 0;
  const most = Math.max(...heads.map(mean));
  return heads.map((lengths, head) => {
    const length = mean(lengths);
    const own = lengths[query];
    return html`<tr class=${first + head === shown.head ? 'shown' : nothing}><th scope="row">${nameOf(first + head)}</th>
      <td class="bar-cell"><span class="bar"><i .style=${`width: ${(100 * length) / most}%`}></i></span></td>
      <td class="block-number">${digits(length, 3)}</td><td class="block-number">${own === undefined ? '' : digits(own, 3)}</td></tr>`;
  });
}

function sumOf({ heads, norms }: BlockView): string {
  const sum = heads.reduce((total, lengths) => total + mean(lengths), 0);
  const whole = mean(norms.attention?.norms ?? []);
  return t('block.mixed', { sum: digits(sum, 3), whole: digits(whole, 3) });
}

customElements.define('qkv-block-mixing', MixingPart);

import { mean } from '../../../domain/averages';
import { digits } from '../../../ui/numbers';
import { Panel, type View } from '../../panel';
import { headName } from '../../head_names';
import type { BlockView } from '../worker/frame_feature';
import { t } from '../feature';

/** What each head adds to the output of the attention, by its rows of W_O. */
export class MixingPart extends Panel {
  protected template(): string {
    return `
      <h3 data-t="block.mixing"></h3>
      <p data-t="block.mixingHow"></p>
      <table class="data-table block-heads">
        <thead><tr><th scope="col" data-t="controls.head"></th><td></td>
          <th scope="col" data-t="block.mean"></th><th scope="col" class="block-of"></th></tr></thead>
        <tbody></tbody>
      </table>
      <p class="hint mixed"></p>`;
  }

  update({ heads, frame, query, look }: View): void {
    const result = frame?.block ?? null;
    if (!result || !this.changed(result, query, look)) return;
    const token = result.tokens[query];
    this.setText('.block-of', token === undefined ? '' : t('block.of', { token }));
    this.find('tbody', HTMLElement).replaceChildren(
      ...this.#rows(result, query, (head) => headName(heads, head)),
    );
    const sum = result.heads.reduce((total, lengths) => total + mean(lengths), 0);
    const whole = mean(result.norms.attention.norms);
    this.setText('.mixed', t('block.mixed', { sum: digits(sum, 3), whole: digits(whole, 3) }));
  }

  #rows({ heads, shown }: BlockView, query: number, name: (head: number) => string): Node[] {
    const most = Math.max(...heads.map(mean));
    return heads.map((lengths, head) => {
      const row = document.createElement('tr');
      row.innerHTML = `<th scope="row"></th><td class="bar-cell"><span class="bar"><i></i></span></td>
        <td class="block-number"></td><td class="block-number"></td>`;
      row.classList.toggle('shown', head === shown.head);
      const length = mean(lengths);
      const own = lengths[query];
      const [label, , average, token] = Array.from(row.children);
      if (label) label.textContent = name(head);
      if (average) average.textContent = digits(length, 3);
      if (token) token.textContent = own === undefined ? '' : digits(own, 3);
      const bar = row.querySelector<HTMLElement>('.bar i');
      if (bar) bar.style.width = `${(100 * length) / most}%`;
      return row;
    });
  }
}

customElements.define('qkv-block-mixing', MixingPart);

import formulas from '../formulas.json';
import { Panel, type View } from '../../panel';
import { digits, whole, withUnit } from '../../../ui/numbers';
import {
  bytesOf,
  evenLength,
  generationFlops,
  pairsOf,
  parametersOf,
  passFlops,
  tokenFlops,
} from './operation_count';
import type { Shape } from '../shared/shape';
import { t } from '../feature';

export const FLOP_ROWS = ['projections', 'scores', 'values', 'feedForward', 'logits'] as const;
export const BYTE_ROWS = ['weights', 'cache', 'square', 'streaming'] as const;

/** The name with its formula: beside it, or below it where there is little room. */
const heading = (name: keyof typeof formulas) =>
  `<th scope="row"><span class="cost-name"><span data-t="cost.${name}"></span><span>${formulas[name]}</span></span></th>`;

const flopRow = (name: (typeof FLOP_ROWS)[number]) => `
  <tr>${heading(name)}
    <td><span class="cost-two"><span data-pass="${name}"></span><span class="bar"><i data-share="${name}"></i></span>
      <span data-one="${name}"></span></span></td></tr>`;

const byteRow = (name: (typeof BYTE_ROWS)[number]) => `
  <tr>${heading(name)}
    <td data-bytes="${name}"></td></tr>`;

/** The counts of a shape, with their formulas. */
export class CountsPart extends Panel {
  protected template(): string {
    return `
      <h3 data-t="cost.work"></h3>
      <table class="data-table cost-table">
        <thead><tr><td></td><th scope="col"><span class="cost-two">
          <span class="pass-head"></span><span class="one-head"></span></span></th></tr></thead>
        <tbody>${FLOP_ROWS.map(flopRow).join('')}
          <tr class="total"><th scope="row" data-t="cost.total"></th>
            <td><span class="cost-two"><span data-pass="total"></span><span data-one="total"></span></span></td></tr></tbody>
      </table>
      <p class="cost-half"></p>
      <p class="cost-again"></p>
      <h3 data-t="cost.memory"></h3>
      <table class="data-table cost-table">
        <thead><tr><td></td><th scope="col" data-t="cost.size"></th></tr></thead>
        <tbody>${BYTE_ROWS.map(byteRow).join('')}</tbody>
      </table>
      <p class="cost-cache"></p>
      <p class="hint cost-letters"></p>`;
  }

  update({ state, look }: View): void {
    const { costShape: shape } = state;
    if (!this.changed(shape, look)) return;
    this.#flops(shape);
    const bytes = bytesOf(shape);
    for (const name of BYTE_ROWS) this.setText(`[data-bytes=${name}]`, withUnit(bytes[name], 'B'));
    const { numHeads, numKvHeads, tokens } = shape;
    const cache = {
      ...{ heads: numHeads, kv: numKvHeads, cache: withUnit(bytes.cache, 'B') },
      ...{ all: withUnit(bytes.cacheOfAll, 'B'), one: withUnit(bytes.cache / tokens, 'B') },
    };
    const shared = numHeads !== numKvHeads;
    this.setText('.cost-cache', t(shared ? 'cost.cacheShared' : 'cost.cacheEach', cache));
    const letters = {
      ...{ pairs: whole(pairsOf(shape)), m: shape.gated ? 3 : 2, n: shape.tables },
      parameters: withUnit(parametersOf(shape), ''),
    };
    this.setText('.cost-letters', t('cost.letters', letters));
  }

  #flops(shape: Shape): void {
    const [pass, one] = [passFlops(shape), tokenFlops(shape)];
    const tokens = whole(shape.tokens);
    this.setText('.pass-head', t('cost.pass', { tokens }));
    this.setText('.one-head', t('cost.one', { tokens }));
    for (const name of [...FLOP_ROWS, 'total'] as const) {
      this.setText(`[data-pass=${name}]`, withUnit(pass[name], 'FLOP'));
      this.setText(`[data-one=${name}]`, withUnit(one[name], 'FLOP'));
    }
    for (const name of FLOP_ROWS) {
      this.find(`[data-share=${name}]`, HTMLElement).style.width =
        `${(100 * pass[name]) / pass.total}%`;
    }
    const part = digits((100 * (pass.scores + pass.values)) / pass.total, 3);
    const half = whole(Math.ceil(evenLength(shape)));
    this.setText('.cost-half', t('cost.half', { part, tokens, half }));
    const { cached, again } = generationFlops(shape);
    const written = {
      ...{ tokens, cached: withUnit(cached, 'FLOP'), again: withUnit(again, 'FLOP') },
      ratio: digits(again / cached, 3),
    };
    this.setText('.cost-again', t('cost.again', written));
  }
}

customElements.define('qkv-cost-counts', CountsPart);

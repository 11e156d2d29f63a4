import './style.css';
import formulas from './formulas.json';
import { richOf, sentences } from '../../i18n/i18n';
import { find, setText } from '../../ui/dom';
import type { Figure } from '../../ui/export_figure';
import { digits, four } from '../../ui/numbers';
import { isCurrent, Panel, type View } from '../panel';
import { shareOf } from '../../ui/token_chip';
import { headName, provenance } from '../head_names';
import { columns, drawBar, reachOf } from './page/product_bars';
import type { PairNumbers } from './worker/frame_feature';
import { pairFigure } from './page/figure';
import { t } from './feature';
import { madeStory } from './page/sentences';

/** A table whose last column has bars: a heading for each column, and a row for each component. */
const table = (name: string, heads: readonly string[]) => `
  <table class="components" data-of="${name}"><caption class="visually-hidden" data-t="pair.${name}Name"></caption>
    <thead><tr><th scope="col">c</th>${heads.join('')}</tr></thead>
    <tbody></tbody></table>`;

const PICTURE =
  '<svg aria-hidden="true" preserveAspectRatio="none"><path class="up"/><path class="down"/></svg>';
const head = (content: string) => `<th scope="col">${content}</th>`;
const role = (name: string, text: string) => `<span class="role role-${name}">${text}</span>`;

/** Query and key of the sentence on their way to a score, a weight and the output. */
class PairPanel extends Panel {
  /** The keys that are listed, and the width of the head, for which the rows were made. */
  #made = '';

  protected template(): string {
    const ends = ['dot', 'scale', 'tempered', 'softmax'];
    return `
      <div class="card pair-card">
        <p class="hint pair-waiting"></p>
        <div class="pair-parts">
          <div class="pair-keys">
            <h3 id="pair-keys"></h3>
            <div class="pair-list" role="radiogroup" aria-labelledby="pair-keys"></div>
            <div class="pair-row pair-sum"><span></span><span data-t="pair.sum"></span><b></b>${PICTURE}</div>
            <p class="hint" data-t="pair.keysNote"></p>
            <button type="button" class="button pair-strongest" data-control data-t="pair.strongest"></button>
          </div>
          <div class="pair-score">
            <h3></h3>
            <div class="formula">${formulas.score}</div>
            ${table('score', [head(role('q', 'q')), head(role('k', 'k')), '<th scope="col" data-t="pair.product"></th>'])}
            <dl class="pair-steps">${ends.map((end) => `<div><dt data-step="${end}"></dt><dd></dd></div>`).join('')}</dl>
            <div class="formula">${formulas.weight}</div>
          </div>
          <div class="pair-value">
            <h3></h3>
            <div class="formula">${formulas.output}</div>
            ${table('value', [head(role('v', 'v')), head(`p·${role('v', 'v')}`), '<th scope="col" data-t="pair.output" class="role-o"></th>'])}
          </div>
        </div>
        <p class="hint pair-made"></p>
        <p class="hint check-note pair-check"></p>
      </div>`;
  }

  protected override ready(): void {
    this.find('.pair-list', HTMLElement).addEventListener('change', (event) => {
      if (event.target instanceof HTMLInputElement) this.change({ pairKey: +event.target.value });
    });
    this.find('.pair-strongest', HTMLElement).addEventListener('click', () => {
      this.change({ pairKey: null }); // which hides the button
      this.querySelector<HTMLElement>('.pair-list :checked')?.focus({ preventScroll: true });
    });
  }

  update(view: View): void {
    const { frame, list, look, state } = view;
    const pair = isCurrent(view) ? (frame?.pair ?? null) : null;
    this.find('.pair-strongest', HTMLElement).hidden = state.pairKey === null;
    if (!this.changed(pair, list, look)) return;
    const empty = list.tokens.length === 0;
    const waiting = empty || !frame?.pair;
    this.find('.pair-waiting', HTMLElement).hidden = !waiting;
    this.find('.pair-parts', HTMLElement).hidden = waiting;
    this.setText('.pair-waiting', t(empty ? 'pair.empty' : 'pair.loading'));
    if (!pair) return;
    this.#build(pair, list.tokens);
    this.#tellKeys(pair, list.tokens);
    this.#tellScore(pair);
    this.#tellValue(pair);
    this.#tellWords(pair, view);
  }

  /** Rows stay for as long as they are about the same keys, so that a radio button keeps its focus. */
  #build({ shares, rest, q }: PairNumbers, tokens: readonly string[]): void {
    const names = shares.map(({ key }) => [key, tokens[key]]);
    const made = JSON.stringify([names, rest?.keys, q.length]);
    if (made === this.#made) return;
    this.#made = made;
    const focused = this.querySelector('.pair-list :focus') !== null;
    const rows = shares.map(
      ({ key }) => `<label class="pair-row"><input type="radio" name="pair-key" value="${key}">
        <bdi></bdi><b></b>${PICTURE}</label>`,
    );
    const other = `<div class="pair-row pair-rest"><span></span><span class="rest-name"></span><b></b>${PICTURE}</div>`;
    this.find('.pair-list', HTMLElement).innerHTML = rows.join('') + (rest ? other : '');
    this.querySelectorAll('.pair-list bdi').forEach((name, i) => {
      name.textContent = tokens[shares[i]?.key ?? 0] ?? '';
    });
    const line = (_: unknown, c: number) =>
      `<tr><th scope="row">${c + 1}</th><td></td><td></td><td class="with-bar"><b></b><span class="bar" aria-hidden="true"><i></i></span></td></tr>`;
    for (const body of this.querySelectorAll('.components tbody')) {
      body.innerHTML = Array.from(q, line).join('');
    }
    if (focused) this.find('.pair-list input', HTMLElement).focus();
  }

  #tellKeys({ shares, rest, output, key }: PairNumbers, tokens: readonly string[]): void {
    const parts = rest ? [...shares, rest] : shares;
    const most = Math.max(
      ...[output, ...parts.map(({ part }) => part)].flatMap((part) => Array.from(part, Math.abs)),
    );
    this.querySelectorAll<HTMLElement>('.pair-list .pair-row').forEach((row, i) => {
      const share = parts[i];
      if (!share) return;
      const weight = shareOf(share.weight, false);
      setText(find(row, 'b', HTMLElement), weight);
      this.#draw(row, share.part, most);
      const listed = shares[i];
      if (!listed) return;
      const radio = find(row, 'input', HTMLInputElement);
      radio.checked = listed.key === key;
      const name = t('pair.key', {
        position: listed.key,
        token: tokens[listed.key] ?? '',
        weight: weight.replace(/^\./, '0.'),
      });
      radio.setAttribute('aria-label', name);
    });
    if (rest) this.setText('.rest-name', t('pair.rest', { count: rest.keys }));
    const total = this.find('.pair-sum', HTMLElement);
    find(total, 'b', HTMLElement).textContent = shareOf(
      parts.reduce((sum, { weight }) => sum + weight, 0),
      false,
    );
    this.#draw(total, output, most);
  }

  #draw(row: HTMLElement, values: ArrayLike<number>, most: number): void {
    const svg = find(row, 'svg', SVGElement);
    svg.setAttribute('viewBox', `0 0 ${values.length} 2`);
    const { up, down } = columns(values, most);
    find(svg, '.up', SVGElement).setAttribute('d', up);
    find(svg, '.down', SVGElement).setAttribute('d', down);
  }

  /** The numbers of a table; the last column has the bars. */
  #fill(
    name: string,
    [first, second, last]: readonly [ArrayLike<number>, ArrayLike<number>, ArrayLike<number>],
    reach: readonly [number, number],
  ): void {
    this.querySelectorAll(`[data-of=${name}] tbody tr`).forEach((row, c) => {
      const [a, b, box] = row.querySelectorAll('td');
      if (!a || !b || !box) return;
      setText(a, four(first[c] ?? NaN));
      setText(b, four(second[c] ?? NaN));
      setText(find(box, 'b', HTMLElement), four(last[c] ?? NaN));
      drawBar(box, last[c] ?? 0, reach);
    });
  }

  #tellScore({
    q,
    k,
    products,
    dot,
    scale,
    score,
    temperature,
    weight,
    allowed,
  }: PairNumbers): void {
    this.#fill('score', [q, k, products], reachOf(products));
    const width = q.length;
    const tell = (step: string, text: string, value: number) => {
      const name = this.find(`[data-step=${step}]`, HTMLElement);
      name.textContent = text;
      if (name.nextElementSibling) name.nextElementSibling.textContent = four(value);
    };
    tell('dot', t('pair.dot'), dot);
    const usual = Math.abs(scale * Math.sqrt(width) - 1) < 1e-6;
    const values = { width, scale: digits(scale, 4) };
    tell('scale', usual ? t('pair.scale', values) : t('pair.ownScale', values), score);
    this.find('.pair-score .formula', HTMLElement).hidden = !usual;
    tell('tempered', t('pair.tempered', { temperature }), score / temperature);
    tell('softmax', t('pair.softmax', { count: allowed }), weight);
    this.find('.pair-score [data-live=width]', Element).textContent = String(width);
  }

  #tellValue({ v, weight, output }: PairNumbers): void {
    const part = Array.from(v, (value) => weight * value);
    this.#fill('value', [v, part, output], reachOf(output));
  }

  #tellWords(pair: PairNumbers, { state, heads, frame, list }: View): void {
    const words = { query: list.tokens[pair.query] ?? '', key: list.tokens[pair.key] ?? '' };
    this.setText('#pair-keys', t('pair.keys', words));
    for (const [of, key] of [
      ['score', 'pair.scoreTitle'],
      ['value', 'pair.valueTitle'],
    ] as const) {
      const [title, text] = [this.find(`.pair-${of} h3`, HTMLElement), t(key, words)];
      if (title.dataset['text'] === text) continue;
      title.dataset['text'] = text;
      title.replaceChildren(...richOf(key, words));
    }
    const at = frame?.request.view.head ?? 0;
    const from = { head: headName(heads, at), source: provenance(state.source, state.seed) };
    this.setText('.pair-made', sentences(t('pair.from', from), madeStory(state, at)));
    const { sums, error } = pair;
    const numbers = { sum: sums.score, ...error };
    const written = Object.entries(numbers).map(([name, value]) => [name, digits(value, 2)]);
    // The others have no projections that could be computed again.
    const projected = state.source === 'constructed' || state.source === 'random';
    const check = projected ? 'pair.check' : 'pair.checkGiven';
    this.setText('.pair-check', t(check, Object.fromEntries(written) as Record<string, string>));
  }

  override figure({ frame, list }: View): Promise<Figure | null> {
    return Promise.resolve(frame?.pair ? pairFigure(frame.pair, list.tokens) : null);
  }
}

customElements.define('qkv-panel-pair', PairPanel);

import './style.css';
import { LIMITS } from '../../state/state';
import { find } from '../../ui/dom';
import type { Figure } from '../../ui/export_figure';
import { four } from '../../ui/numbers';
import { D_K, D_MODEL } from '../../domain/sources';
import { isCurrent, Panel, type View } from '../panel';
import { t } from './feature';
import { paintCells, rangeOf } from './page/cells';
import { flowFigure } from './page/figure';
import { flowRequest } from './state';
import type { FlowResult } from './worker/frame_feature';

/** By which a weight has to change for the change to be put into words. */
const SEEN = 0.0005;

const canvas = (name: string, width: number, height: number) =>
  `<canvas class="flow-cells" data-cells="${name}" width="${width}" height="${height}" aria-hidden="true"></canvas>`;

/** x times one matrix: the matrix, and the vector below it. */
const projection = (role: 'q' | 'k' | 'v') => `
  <figure class="flow-projection">
    <figcaption>W<sub>${role.toUpperCase()}</sub></figcaption>
    ${canvas(`w${role}`, D_K, D_MODEL)}
    <span class="flow-arrow" aria-hidden="true">↓</span>
    ${canvas(role, D_K, 1)}
    <span class="role role-${role}">${role}</span>
  </figure>`;

/** One token through one head: x, three matrices, the weights, the output. */
class FlowPanel extends Panel {
  /** Whose matrices are painted. */
  #painted = '';

  protected template(): string {
    const [least, most] = LIMITS.flowShift;
    return `
      <div class="card flow">
        <p class="hint flow-missing" role="status" hidden></p>
        <div class="flow-tools" data-control>
          <div class="control"><label for="flow-part" data-t="flow.part"></label>
            <span class="with-number"><input id="flow-part" type="range" min="0" max="${D_MODEL - 1}" step="1">
              <output for="flow-part"></output></span></div>
          <div class="control"><label for="flow-shift" data-t="flow.shift"></label>
            <span class="with-number"><input id="flow-shift" type="range" min="${least}" max="${most}" step="0.05">
              <output for="flow-shift"></output></span></div>
          <button type="button" class="button flow-reset" data-t="flow.reset"></button>
        </div>
        <div class="flow-stages">
          <section class="flow-stage">
            <h3 data-t="flow.project"></h3>
            <div class="flow-projections">
              <figure class="flow-x"><figcaption>x</figcaption><span class="flow-strip">${canvas('x', 1, D_MODEL)}<i class="flow-mark"></i></span></figure>
              ${(['q', 'k', 'v'] as const).map(projection).join('')}
            </div>
          </section>
          <section class="flow-stage">
            <h3 data-t="flow.compare"></h3>
            <table class="data-table flow-keys">
              <thead><tr><th scope="col" data-t="flow.key"></th><th scope="col" data-t="flow.score"></th><th scope="col" data-t="flow.weight"></th></tr></thead>
              <tbody></tbody>
            </table>
            <p class="hint flow-others"></p>
          </section>
          <section class="flow-stage">
            <h3 data-t="flow.mix"></h3>
            <div class="flow-out">
              <figure><figcaption data-t="flow.mixed"></figcaption>${canvas('mixed', D_K, 1)}</figure>
              <span class="flow-arrow" aria-hidden="true">↓</span>
              <figure><figcaption>W<sub>O</sub></figcaption>${canvas('wo', D_MODEL, D_K)}</figure>
              <span class="flow-arrow" aria-hidden="true">↓</span>
              <figure><figcaption data-t="flow.output"></figcaption>${canvas('output', D_MODEL, 1)}</figure>
            </div>
          </section>
        </div>
        <p class="told flow-told" role="status"></p>
        <p class="hint flow-fields" data-t="flow.fields"></p>
      </div>`;
  }

  protected override ready(): void {
    const part = this.find('#flow-part', HTMLInputElement);
    part.addEventListener('input', () => this.change({ flowPart: +part.value, flowShift: null }));
    const shift = this.find('#flow-shift', HTMLInputElement);
    shift.addEventListener('input', () => this.change({ flowShift: +shift.value || null }));
    this.find('.flow-reset', HTMLElement).addEventListener('click', () => {
      this.change({ flowShift: null });
    });
    const strip = this.find('.flow-strip', HTMLElement);
    strip.addEventListener('click', ({ clientY }) => {
      const { top, height } = strip.getBoundingClientRect();
      const at = Math.floor(((clientY - top) / height) * D_MODEL);
      this.change({ flowPart: Math.max(0, Math.min(D_MODEL - 1, at)), flowShift: null });
    });
  }

  update(view: View): void {
    const { state, list, look } = view;
    const { part, shift } = flowRequest(state);
    this.find('#flow-part', HTMLInputElement).value = String(part);
    this.find('#flow-shift', HTMLInputElement).value = String(shift);
    this.setText('output[for=flow-part]', String(part));
    const result = resultOf(view);
    if (!this.changed(result, list, look, shift, state.source)) return;
    this.setText('output[for=flow-shift]', result ? four(result.was + shift) : '');
    const missing = this.find('.flow-missing', HTMLElement);
    missing.hidden = result !== null;
    this.setText('.flow-missing', result ? '' : t(missingKey(view)));
    this.find('.flow-stages', HTMLElement).hidden = result === null;
    this.find('.flow-tools', HTMLElement).hidden = result === null;
    this.find('.flow-fields', HTMLElement).hidden = !result || state.source !== 'constructed';
    this.setText('.flow-told', result ? toldOf(result, list.tokens, shift) : '');
    if (!result) return;
    this.#paint(result, `${layerOf(view)} ${look}`);
    this.#showKeys(result, list.tokens);
  }

  override figure(view: View): Promise<Figure | null> {
    const result = resultOf(view);
    return Promise.resolve(result && flowFigure(result, view.list.tokens));
  }

  #cells(name: string): HTMLCanvasElement {
    return this.find(`[data-cells=${name}]`, HTMLCanvasElement);
  }

  #paint(result: FlowResult, layer: string): void {
    const { matrices, x, q, k, v, mixed, output, part } = result;
    const { wq, wk, wv, wo } = matrices;
    if (layer !== this.#painted) {
      this.#painted = layer;
      for (const [name, values] of Object.entries({ wq, wk, wv, wo })) {
        paintCells(this.#cells(name), values, rangeOf(values));
      }
    }
    paintCells(this.#cells('x'), x, rangeOf(x));
    for (const [name, values] of Object.entries({ q, k, v, mixed })) {
      paintCells(this.#cells(name), values, rangeOf(values));
    }
    paintCells(this.#cells('output'), output, rangeOf(output));
    this.find('.flow-mark', HTMLElement).style.top = `${((part + 0.5) / D_MODEL) * 100}%`;
  }

  #showKeys({ keys, others }: FlowResult, tokens: readonly string[]): void {
    const rows = keys.map(({ key, score, weight, before }) => {
      const row = document.createElement('tr');
      row.innerHTML =
        '<th scope="row"><bdi class="token"></bdi></th><td></td><td><span class="bar"><i></i><u></u></span><span></span></td>';
      find(row, 'bdi', HTMLElement).append(tokens[key] ?? '');
      find(row, 'td', HTMLElement).append(four(score));
      find(row, 'i', HTMLElement).style.width = `${weight * 100}%`;
      find(row, 'u', HTMLElement).style.left = `${before * 100}%`;
      find(row, 'td:last-child > span:last-child', HTMLElement).append(four(weight));
      return row;
    });
    this.find('tbody', HTMLElement).replaceChildren(...rows);
    this.setText('.flow-others', others > 0 ? t('flow.others', { count: others }) : '');
  }
}

/** Why there is nothing to show. */
function missingKey({ state, list }: View): 'flow.loading' | 'flow.empty' | 'flow.noMatrices' {
  if (state.source === 'trained' || state.source === 'yours') return 'flow.noMatrices';
  return list.tokens.length === 0 ? 'flow.empty' : 'flow.loading';
}

/** What the change of x has done to the weights, in a sentence. */
function toldOf(result: FlowResult, tokens: readonly string[], shift: number): string {
  const { keys, query, part, was } = result;
  const change = { part, token: tokens[query] ?? '', was: four(was), now: four(was + shift) };
  if (shift === 0) return t('flow.unchanged', change);
  const [most] = [...keys].sort(
    (a, b) => Math.abs(b.weight - b.before) - Math.abs(a.weight - a.before),
  );
  if (!most || Math.abs(most.weight - most.before) < SEEN) return t('flow.noEffect', change);
  const { key, before, weight } = most;
  return t('flow.effect', {
    ...change,
    ...{ key: tokens[key] ?? '', before: four(before), weight: four(weight) },
  });
}

/** The head of a frame, by all that its matrices follow from. */
function layerOf({ frame, state }: View): string {
  const { layer, view } = frame?.request ?? {};
  return [state.source, layer?.seed, view?.head].join(' ');
}

/** What the latest frame has of this panel, if it is about the tokens on the page. */
const resultOf = (view: View): FlowResult | null => (isCurrent(view) ? view.frame.flow : null);

customElements.define('qkv-panel-flow', FlowPanel);

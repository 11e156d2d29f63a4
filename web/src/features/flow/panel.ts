import './style.css';
import { html, type TemplateResult } from 'lit-html';
import { LIMITS } from '../../state/state';
import type { Figure } from '../../ui/export_figure';
import { button, slider } from '../../ui/lit/controls';
import { tableHead } from '../../ui/lit/tables';
import { paintCells, rangeOf } from '../../ui/matrix/paint_cells';
import { four } from '../../ui/numbers';
import { D_K, D_MODEL } from '../../domain/sources';
import { LitPanel } from '../lit_panel';
import { isCurrent, type View } from '../panel';
import { t } from './feature';
import { flowFigure } from './page/figure';
import { flowRequest } from './state';
import type { FlowResult } from './worker/frame_feature';

/** By which a weight has to change for the change to be put into words. */
const SEEN = 0.0005;

const canvas = (name: string, width: number, height: number) =>
  html`<canvas class="flow-cells" data-cells=${name} width=${width} height=${height} aria-hidden="true"></canvas>`;

const arrow = html`<span class="flow-arrow" aria-hidden="true">↓</span>`;

/** x times one matrix: the matrix, and the vector below it. */
const projection = (role: 'q' | 'k' | 'v') => html`
  <figure class="flow-projection">
    <figcaption>W<sub>${role.toUpperCase()}</sub></figcaption>
    ${canvas(`w${role}`, D_K, D_MODEL)}${arrow}${canvas(role, D_K, 1)}
    <span class="role role-${role}">${role}</span>
  </figure>`;

/** One token through one head: x, three matrices, the weights, the output. */
class FlowPanel extends LitPanel {
  /** Whose matrices are painted. */
  #painted = '';

  protected inputs(view: View): readonly unknown[] {
    const { part, shift } = flowRequest(view.state);
    return [resultOf(view), view.list, view.look, part, shift, view.state.source];
  }

  protected render(view: View): TemplateResult {
    const { state, list } = view;
    const result = resultOf(view);
    if (!result)
      return html`<div class="card flow"><p class="hint flow-missing" role="status">${t(missingKey(view))}</p></div>`;
    const { shift } = flowRequest(state);
    return html`<div class="card flow">
      ${this.#tools(view, result)}
      <div class="flow-stages">
        <section class="flow-stage">
          <h3>${t('flow.project')}</h3>
          <div class="flow-projections">
            <figure class="flow-x"><figcaption>x</figcaption>${this.#strip(result)}</figure>
            ${(['q', 'k', 'v'] as const).map(projection)}
          </div>
        </section>
        ${keysOf(result, list.tokens)}
        <section class="flow-stage">
          <h3>${t('flow.mix')}</h3>
          <div class="flow-out">
            <figure><figcaption>${t('flow.mixed')}</figcaption>${canvas('mixed', D_K, 1)}</figure>
            ${arrow}
            <figure><figcaption>W<sub>O</sub></figcaption>${canvas('wo', D_MODEL, D_K)}</figure>
            ${arrow}
            <figure><figcaption>${t('flow.output')}</figcaption>${canvas('output', D_MODEL, 1)}</figure>
          </div>
        </section>
      </div>
      <p class="described flow-effect" role="status">${effectOf(result, list.tokens, shift)}</p>
      <p class="hint flow-fields" ?hidden=${state.source !== 'constructed'}>${t('flow.fields')}</p>
    </div>`;
  }

  #tools({ state }: View, { was }: FlowResult): TemplateResult {
    const { part, shift } = flowRequest(state);
    return html`<div class="flow-tools" data-control>
      ${slider({
        ...{ id: 'flow-part', label: t('flow.part'), limits: [0, D_MODEL - 1] },
        ...{ place: part, words: String(part) },
        take: (flowPart) => this.change({ flowPart, flowShift: null }),
      })}
      ${slider({
        ...{ id: 'flow-shift', label: t('flow.shift'), limits: LIMITS.flowShift, step: 0.05 },
        ...{ place: shift, words: four(was + shift) },
        take: (place) => this.change({ flowShift: place || null }),
      })}
      ${button('flow-reset', t('flow.reset'), () => this.change({ flowShift: null }))}
    </div>`;
  }

  /** x, of which a click chooses a number. */
  #strip({ part }: FlowResult): TemplateResult {
    const choose = ({ currentTarget, clientY }: MouseEvent) => {
      const { top, height } = (currentTarget as Element).getBoundingClientRect();
      const at = Math.floor(((clientY - top) / height) * D_MODEL);
      this.change({ flowPart: Math.max(0, Math.min(D_MODEL - 1, at)), flowShift: null });
    };
    const mark = `top: ${((part + 0.5) / D_MODEL) * 100}%`;
    return html`<span class="flow-strip" @click=${choose}>${canvas('x', 1, D_MODEL)}<i class="flow-mark" .style=${mark}></i></span>`;
  }

  override figure(view: View): Promise<Figure | null> {
    const result = resultOf(view);
    return Promise.resolve(result && flowFigure(result, view.list.tokens));
  }

  protected override rendered(view: View): void {
    const result = resultOf(view);
    const layer = result ? `${layerOf(view)} ${view.look}` : '';
    if (result) this.#paint(result, layer !== this.#painted);
    this.#painted = layer;
  }

  #paint({ matrices, x, q, k, v, mixed, output }: FlowResult, isNew: boolean): void {
    const { wq, wk, wv, wo } = matrices;
    const cells = { ...(isNew && { wq, wk, wv, wo }), x, q, k, v, mixed, output };
    for (const [name, values] of Object.entries(cells)) {
      paintCells(this.find(`[data-cells=${name}]`, HTMLCanvasElement), values, rangeOf(values));
    }
  }
}

function keysOf({ keys, others }: FlowResult, tokens: readonly string[]): TemplateResult {
  const row = ({ key, score, weight, before }: FlowResult['keys'][number]) => html`
    <tr><th scope="row"><bdi class="token">${tokens[key]}</bdi></th><td>${four(score)}</td>
      <td><span class="bar"><i .style=${`width: ${weight * 100}%`}></i><u .style=${`left: ${before * 100}%`}></u></span><span>${four(weight)}</span></td></tr>`;
  return html`<section class="flow-stage">
    <h3>${t('flow.compare')}</h3>
    <table class="data-table flow-keys">
      ${tableHead([t('flow.key'), t('flow.score'), t('flow.weight')])}
      <tbody>${keys.map(row)}</tbody>
    </table>
    <p class="hint flow-others">${others > 0 ? t('flow.others', { count: others }) : ''}</p>
  </section>`;
}

/** Why there is nothing to show. */
function missingKey({ state, list }: View): 'flow.loading' | 'flow.empty' | 'flow.noMatrices' {
  if (state.source === 'trained' || state.source === 'yours') return 'flow.noMatrices';
  return list.tokens.length === 0 ? 'flow.empty' : 'flow.loading';
}

/** What the change of x has done to the weights, in a sentence. */
function effectOf(result: FlowResult, tokens: readonly string[], shift: number): string {
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

/** The head of a frame, by all that its matrices follow from: its own source, as the state can name a later one. */
function layerOf({ frame }: View): string {
  const { layer, view } = frame?.request ?? {};
  return [layer?.source, layer?.seed, view?.head].join(' ');
}

/** What the latest frame has of this panel, if it is about the tokens on the page. */
const resultOf = (view: View): FlowResult | null => (isCurrent(view) ? view.frame.flow : null);

customElements.define('qkv-panel-flow', FlowPanel);

import '../../ui/plot.css';
import './style.css';
import { html, type TemplateResult } from 'lit-html';
import formulas from './formulas.json';
import type { Figure } from '../../ui/export_figure';
import { button, nextWithin, slider } from '../../ui/lit/controls';
import { keyEntry, stage } from '../../ui/lit/plots';
import { numberList, tableHead } from '../../ui/lit/tables';
import { formula, formulaRow } from '../../ui/lit/texts';
import { percent, whole, withUnit } from '../../ui/numbers';
import { pagePen } from '../../ui/plot';
import { LIMITS } from '../../state/state';
import { LitPanel, waiting } from '../lit_panel';
import type { View } from '../panel';
import { t } from './feature';
import { linearFigure } from './page/figure';
import {
  COSTS_HEIGHT,
  drawCosts,
  drawErrors,
  drawWeights,
  ERRORS_HEIGHT,
  MARKS,
  WEIGHTS_HEIGHT,
} from './page/plots';
import { SHARPNESS, TOKENS, WAYS, WIDTH, type Way } from './shared/constants';
import { costOf } from './shared/counts';
import { linearRequest, linearSizes } from './state';
import type { LinearResult } from './worker/frame_feature';

type Sizes = ReturnType<typeof linearSizes>;

const GROWS = { softmax: 'T² d', window: 'T w d', linear: 'T d²' } as const;

/** The powers of two of these limits, for a slider. */
const powers = ([low, high]: readonly [number, number]) =>
  [Math.log2(low), Math.log2(high)] as const;

/** Attention whose work grows with T instead of T squared, beside softmax on the same queries, keys and values. */
class LinearPanel extends LitPanel {
  /** The latest; a new one takes a moment. */
  #result: LinearResult | null = null;

  protected inputs({ state, frame, engine, look }: View): readonly unknown[] {
    const request = JSON.stringify([linearRequest(state), linearSizes(state)]);
    return [request, frame?.linear, engine.kind, look];
  }

  protected render(view: View): TemplateResult {
    const sizes = linearSizes(view.state);
    const result = (this.#result = view.frame?.linear ?? this.#result);
    const checked = { tokens: TOKENS, width: WIDTH, operations: whole(result?.operations ?? 0) };
    return html`<div class="card">
      ${formulaRow(formula(formulas.softmax), formula(formulas.linear))}
      ${this.#experiment(linearRequest(view.state))}
      ${waiting(view, result !== null)}
      ${result && errorsOf(result)}
      ${this.#sizes(sizes)}
      ${costsOf(sizes)}
      <p class="hint check-note">${result && t('linear.check', checked)}</p>
    </div>`;
  }

  #experiment({ sharpness, window, seed }: ReturnType<typeof linearRequest>): TemplateResult {
    return html`<div class="tools-row" data-control>
      ${slider({
        ...{ id: 'linear-sharpness', label: t('linear.sharpness'), words: `c = ${sharpness}` },
        limits: [0, SHARPNESS.length - 1],
        place: SHARPNESS.findIndex((each) => each >= sharpness),
        take: (place) => this.change({ linearSharpness: SHARPNESS[place] ?? 1 }),
      })}
      ${slider({
        ...{ id: 'linear-window', label: t('linear.windowSize'), words: `w = ${window}` },
        ...{ limits: LIMITS.linearWindow, place: window },
        take: (linearWindow) => this.change({ linearWindow }),
      })}
      ${button('again', t('linear.again'), () => this.change({ linearSeed: nextWithin(LIMITS.linearSeed, seed) }))}
    </div>`;
  }

  #sizes({ tokens, width }: Sizes): TemplateResult {
    return html`<div class="tools-row" data-control>
      ${slider({
        ...{ id: 'linear-length', label: t('linear.length'), words: `T = ${whole(tokens)}` },
        ...{ limits: powers(LIMITS.linearLength), place: Math.log2(tokens) },
        take: (place) => this.change({ linearLength: 2 ** place }),
      })}
      ${slider({
        ...{ id: 'linear-width', label: t('linear.width'), words: `d = ${width}` },
        ...{ limits: powers(LIMITS.linearWidth), place: Math.log2(width) },
        take: (place) => this.change({ linearWidth: 2 ** place }),
      })}
    </div>`;
  }

  override figure({ state, frame }: View): Promise<Figure | null> {
    const result = frame?.linear ?? null;
    return Promise.resolve(result && linearFigure(result, linearSizes(state)));
  }
}

const entryOf = (way: Way) => keyEntry(`plot-${MARKS[way]}`, t(`linear.${way}`));

function errorsOf(result: LinearResult): TemplateResult {
  const { errors, sharpness } = result;
  const numbers = { window: percent(errors.window), linear: percent(errors.linear) };
  const names = {
    ...{ softmax: t('linear.softmax'), window: t('linear.window') },
    linear: t('linear.linear'),
  };
  const titles = { x: t('linear.errorsX'), y: t('linear.errorsY') };
  return html`<div class="lab">
    <div class="lab-main">
      ${stage('weights', {
        height: WEIGHTS_HEIGHT,
        label: t('linear.weightsPicture', { keys: TOKENS }),
        draw: (width) => drawWeights(pagePen, width, result, names),
      })}
      <p class="verdict">${t('linear.verdict')}</p>
    </div>
    <div class="lab-side">
      ${stage('errors', {
        height: ERRORS_HEIGHT,
        label: t('linear.errorsPicture', { sharpness, ...numbers }),
        draw: (width) => drawErrors(pagePen, width, result, titles),
      })}
      <ul class="plot-key">${entryOf('window')}${entryOf('linear')}</ul>
      ${numberList(numbers, (way) => t(`linear.error.${way}`))}
    </div>
  </div>`;
}

function costsOf(sizes: Sizes): TemplateResult {
  const operations = (way: Way) => withUnit(costOf(way, sizes).operations, 'FLOP');
  const row = (way: Way) =>
    html`<tr data-way=${way}><th scope="row">${t(`linear.${way}`)}</th>
      <td>${GROWS[way]}</td><td>${operations(way)}</td><td>${whole(costOf(way, sizes).kept)}</td></tr>`;
  const ratio = costOf('softmax', sizes).operations / costOf('linear', sizes).operations;
  const tokens = whole(sizes.tokens);
  const titles = { x: t('linear.costsX'), y: t('linear.costsY') };
  const said = { softmax: operations('softmax'), window: operations('window') };
  return html`<div class="lab">
    <div class="lab-main">
      ${stage('costs', {
        height: COSTS_HEIGHT,
        label: t('linear.costsPicture', { tokens, ...said, linear: operations('linear') }),
        draw: (width) => drawCosts(pagePen, width, sizes, titles),
      })}
      <ul class="plot-key">${WAYS.map(entryOf)}</ul>
    </div>
    <div class="lab-side">
      <table class="data-table linear-costs">
        <caption class="visually-hidden">${t('linear.table')}</caption>
        ${tableHead([null, t('linear.grows'), t('linear.operations'), t('linear.kept')])}
        <tbody>${WAYS.map(row)}</tbody>
      </table>
      <p class="verdict crossing">${t('linear.crossing', {
        ...{ tokens, cross: 2 * sizes.width },
        ratio: ratio < 10 ? ratio.toPrecision(2) : whole(Math.round(ratio)),
      })}</p>
    </div>
  </div>`;
}

customElements.define('qkv-panel-linear', LinearPanel);

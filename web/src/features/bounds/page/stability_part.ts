import { html, nothing, type TemplateResult } from 'lit-html';
import formulas from '../formulas.json';
import { slider } from '../../../ui/lit/controls';
import { keyEntry, pointEntry, stage } from '../../../ui/lit/plots';
import { numberList } from '../../../ui/lit/tables';
import { formula, formulaRow, rich } from '../../../ui/lit/texts';
import { digits } from '../../../ui/numbers';
import { pagePen } from '../../../ui/plot';
import { LIMITS, type State } from '../../../state/state';
import { LitPanel } from '../../lit_panel';
import type { View } from '../../panel';
import { t } from '../feature';
import { ball, beta, ROWS, sharp, type Norms } from '../shared/stability';
import { boundsRequest, boundsRowsOf } from '../state';
import type { Stability } from '../worker/stability';
import { drawStability, STABILITY_HEIGHT } from './plots';

/** The sliders: a symbol, the field of the state, and where the request has the number. */
const SLIDERS = [
  ['R', 'boundsRadius', 'radius'],
  ['M_o', 'boundsOutput', 'output'],
  ['M_v', 'boundsValue', 'value'],
  ['M_q', 'boundsQuery', 'query'],
  ['M_k', 'boundsKey', 'key'],
  ['c', 'boundsFactor', 'factor'],
] as const satisfies readonly (readonly [string, keyof State, keyof Norms])[];

const CURVES = [
  ['plot-critical', 'beta', ''],
  ['plot-theory-outside', 'ball', ''],
  ['plot-theory', 'sharp', ''],
  ['plot-scaled', 'random', 'plot-scaled-point'],
] as const;

/** They hold 100 times the logarithm. STEP is 12 %, as less can leave the two digits of a number as they are. */
const STEP = 5;
const toPlace = (value: number) => Math.round(100 * Math.log10(value));
const fromPlace = (place: number) => Number((10 ** (place / 100)).toPrecision(2));

/** Uniform stability of attention: the bound, what follows from the same norms besides, and what is measured. */
export class StabilityPart extends LitPanel {
  /** The latest; a new one takes a moment. */
  #found: Stability | null = null;

  protected inputs({ state, frame, look }: View): readonly unknown[] {
    const request = JSON.stringify(boundsRequest(state).norms);
    return [request, boundsRowsOf(state), frame?.bounds?.stability, look];
  }

  protected render({ state, frame }: View): TemplateResult {
    const rows = boundsRowsOf(state);
    const found = (this.#found = frame?.bounds?.stability ?? this.#found);
    const live = { beta: found ? numbersOf(found, rows).beta : '…' };
    return html`
      <h3>${t('bounds.stability.title')}</h3>
      <p>${rich('bounds.stability.intro')}</p>
      ${formulaRow(formula(formulas.stability, live), formula(formulas.sharp, live))}
      ${this.#sliders(boundsRequest(state).norms, rows)}
      ${found ? labOf(found, rows) : nothing}
      <p class="hint">${t('bounds.stability.check')}</p>`;
  }

  #sliders(norms: Norms, rows: number): TemplateResult {
    const sliders = SLIDERS.map(([, field, name]) => {
      const [low, high] = LIMITS[field];
      return slider({
        ...{ id: `bounds-${name}`, label: rich(`bounds.${name}`), words: String(norms[name]) },
        ...{ limits: [toPlace(low), toPlace(high)], step: STEP, place: toPlace(norms[name]) },
        take: (place) => this.change({ [field]: fromPlace(place) }),
      });
    });
    return html`<div class="tools-row bounds-sliders" data-control>
      ${sliders}
      ${slider({
        ...{ id: 'bounds-rows', label: t('bounds.rows'), words: String(rows) },
        ...{ limits: [0, ROWS.length - 1], place: ROWS.indexOf(rows) },
        take: (place) => this.change({ boundsRows: ROWS[place] ?? 2 }),
      })}
    </div>`;
  }
}

function labOf(found: Stability, rows: number): TemplateResult {
  const listed = numbersOf(found, rows);
  const numbers = { ...listed, rows };
  const titles = { x: t('bounds.stability.x'), y: t('bounds.stability.y') };
  const entries = CURVES.map(([line, name, point]) =>
    keyEntry(line, rich(`bounds.number.${name}`), point),
  );
  const move = found.random[ROWS.indexOf(rows)] ?? 0;
  const times = digits(beta(found.norms, rows) / move, 2);
  return html`<div class="bounds-lab">
    <div>${stage('stability', {
      height: STABILITY_HEIGHT,
      label: t('bounds.stability.picture', numbers),
      draw: (width) => drawStability(pagePen, width, found, { rows, titles }),
    })}
      <ul class="plot-key">${entries}${pointEntry('plot-plain-point', t('bounds.number.built'))}</ul></div>
    <div class="bounds-words">
      ${numberList(listed, (name) => rich(`bounds.number.${name}`))}
      <p class="verdict bounds-moved">${rich(`bounds.stability.${move > 0 ? 'measured' : 'still'}`, { ...numbers, times })} ${rich('bounds.stability.verdict', numbers)}</p>
      <p>${rich('bounds.stability.meaning')}</p>
    </div>
  </div>`;
}

function numbersOf({ norms, random, built }: Stability, rows: number) {
  const at = ROWS.indexOf(rows);
  return {
    beta: digits(beta(norms, rows), 4),
    ball: digits(ball(norms), 4),
    sharp: digits(sharp(norms, rows), 4),
    built: digits(built[at] ?? NaN, 4),
    random: digits(random[at] ?? NaN, 4),
  };
}

customElements.define('qkv-bounds-stability', StabilityPart);

import { html, svg, type TemplateResult } from 'lit-html';
import { ref } from 'lit-html/directives/ref.js';
import type { Drift } from '../worker/residuals';
import type { PositionsResult } from '../worker/frame_feature';
import { t } from '../feature';
import { digits } from '../../../ui/numbers';
import { LitPanel } from '../../lit_panel';
import type { View } from '../../panel';

export const CURVES = ['naive', 'core'] as const;
type Curve = (typeof CURVES)[number];

/** Powers of ten and positions at which the axes are marked. */
export const POWERS = [-8, -6, -4, -2];
export const X_TICKS = [1, 16, 256, 4096, 65536];
const [BOTTOM, TOP] = [-8.3, -1.7];
export const DRIFT_HEIGHT = 250;

/** Where position and residual stand on two logarithmic axes. */
export function driftScale(width: number, height: number) {
  const [left, right, top, bottom] = [46, 14, 12, 34];
  const x = (p: number) => left + (Math.log2(Math.max(1, p)) / 16) * (width - left - right);
  const y = (residual: number) => {
    const power = Math.max(BOTTOM, Math.log10(residual));
    return top + ((TOP - power) / (TOP - BOTTOM)) * (height - top - bottom);
  };
  return { x, y, left, right: width - right, top, bottom: height - bottom };
}

export function driftPath(drift: Drift, curve: Curve, width: number, height: number): string {
  const { x, y } = driftScale(width, height);
  const points = Array.from(drift.positions, (p, i) => {
    return `${x(p).toFixed(1)} ${y(drift[curve][i]!).toFixed(1)}`;
  });
  return `M${points.join('L')}`;
}

/** How far M_k PE(p) is from PE(p + k) along the positions, for two ways to form the angle. */
export class DriftPart extends LitPanel {
  #width = 0;
  /** The latest, which stays while nothing is computed. */
  #result: PositionsResult | null = null;
  readonly #resize = new ResizeObserver((entries) => {
    for (const { contentRect } of entries) this.#width = Math.round(contentRect.width);
    this.refresh();
  });
  readonly #placed = (place?: Element) => {
    if (place) this.#resize.observe(place);
  };

  override update(view: View): void {
    this.#result = view.frame?.positions ?? this.#result;
    super.update(view);
  }

  protected inputs({ look }: View): readonly unknown[] {
    return [this.#result?.drift, this.#result?.place, look];
  }

  protected render(): TemplateResult {
    const place = this.#result?.place;
    const reading = (curve: Curve) => html`
      <div class="drift-now ${curve}"><dt><svg viewBox="0 0 28 8" aria-hidden="true"><path d="M0 4H28" class="curve ${curve}"/></svg>
        <span>${t(`drift.${curve}`)}</span></dt><dd>${place && digits(place[curve], 2)}</dd></div>`;
    return html`
      <h3>${t('drift.title')}</h3>
      <p>${t('drift.intro')}</p>
      <p class="caption at-position">${place && t('drift.at', { p: place.p, k: place.k })}</p>
      <dl class="drift-readings">${CURVES.map(reading)}</dl>
      <p class="axes">${t('drift.axes')}</p>
      <div class="drift-stage" ${ref(this.#placed)}>${this.#result && this.#width > 0 ? drawn(this.#result, this.#width) : ''}</div>`;
  }
}

/** The curves, and where p is on them. */
function drawn({ drift, place }: PositionsResult, width: number): TemplateResult {
  const { x, y, left, right, top, bottom } = driftScale(width, DRIFT_HEIGHT);
  const line = (path: string, name: string) => svg`<path d=${path} class="${name}"/>`;
  const label = (at: readonly [number, number], anchor: string, text: string) =>
    svg`<text x=${at[0]} y=${at[1]} text-anchor=${anchor}>${text}</text>`;
  const level = (power: number) => {
    const at = y(10 ** power);
    const name = digits(10 ** power, 1).replace('1×', '');
    return [line(`M${left} ${at}H${right}`, 'grid'), label([left - 6, at + 4], 'end', name)];
  };
  const position = (p: number) => [
    line(`M${x(p)} ${top}V${bottom}`, 'grid'),
    label([x(p), bottom + 18], p === X_TICKS.at(-1) ? 'end' : 'middle', String(p)),
  ];
  const curve = (name: Curve) => [
    line(driftPath(drift, name, width, DRIFT_HEIGHT), `curve ${name}`),
    svg`<circle cx=${x(place.p)} cy=${y(place[name])} r="4.5" class="dot-${name}"/>`,
  ];
  return html`<svg viewBox="0 0 ${width} ${DRIFT_HEIGHT}" width=${width} height=${DRIFT_HEIGHT} role="img" aria-label=${describe(drift)}>
    ${POWERS.map(level)}${X_TICKS.map(position)}${line(`M${x(place.p)} ${top}V${bottom}`, 'here')}${CURVES.map(curve)}</svg>`;
}

/** The curves in a sentence: what they are at three places. */
function describe(drift: Drift): string {
  const at = (wanted: number, curve: Curve) => {
    const i = drift.positions.findIndex((p) => p >= wanted);
    return digits(drift[curve][i] ?? NaN, 2);
  };
  const numbers = [16, 4096, 65536].map((p) =>
    t('drift.spoken', { p, naive: at(p, 'naive'), core: at(p, 'core') }),
  );
  return `${t('drift.title')}: ${numbers.join('; ')}`;
}

customElements.define('qkv-drift', DriftPart);

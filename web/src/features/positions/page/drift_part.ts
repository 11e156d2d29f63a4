import { svgElement } from '../../../ui/dom';
import type { Drift } from '../worker/residuals';
import type { Place } from '../worker/frame_feature';
import { t } from '../feature';
import { digits } from '../../../ui/numbers';
import { Panel, type View } from '../../panel';

export const CURVES = ['naive', 'core'] as const;
type Curve = (typeof CURVES)[number];

const POWERS = [-8, -6, -4, -2];
const X_TICKS = [1, 16, 256, 4096, 65536];
const [BOTTOM, TOP] = [-8.3, -1.7];

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
export class DriftPart extends Panel {
  #width = 0;
  #last: View | null = null;
  readonly #resize = new ResizeObserver((entries) => {
    for (const { contentRect } of entries) this.#width = Math.round(contentRect.width);
    if (this.#last) this.update(this.#last);
  });

  protected template(): string {
    const readings = CURVES.map(
      (curve) => `
        <div class="drift-now ${curve}"><dt><svg viewBox="0 0 28 8" aria-hidden="true"><path d="M0 4H28" class="curve ${curve}"/></svg>
          <span data-t="drift.${curve}"></span></dt><dd></dd></div>`,
    );
    return `
      <h3 data-t="drift.title"></h3>
      <p data-t="drift.intro"></p>
      <p class="caption at-position"></p>
      <dl class="drift-readings">${readings.join('')}</dl>
      <p class="axes" data-t="drift.axes"></p>
      <div class="drift-stage"></div>`;
  }

  protected override ready(): void {
    this.#resize.observe(this.find('.drift-stage', HTMLElement));
  }

  update(view: View): void {
    this.#last = view;
    const positions = view.frame?.positions;
    if (!positions || this.#width === 0) return;
    const { drift, place } = positions;
    if (!this.changed(drift, place, this.#width, view.look)) return;
    for (const curve of CURVES) this.setText(`.drift-now.${curve} dd`, digits(place[curve], 2));
    this.setText('.at-position', t('drift.at', { p: place.p, k: place.k }));
    this.find('.drift-stage', HTMLElement).replaceChildren(this.#draw(drift, place));
  }

  #draw(drift: Drift, place: Place): SVGElement {
    const [width, height] = [this.#width, 250];
    const { x, y, left, right, top, bottom } = driftScale(width, height);
    const svg = svgElement('svg', {
      viewBox: `0 0 ${width} ${height}`,
      width,
      height,
      role: 'img',
    });
    svg.setAttribute('aria-label', describe(drift));
    const line = (path: string, name: string) =>
      svg.append(svgElement('path', { d: path, class: name }));
    const label = (at: { x: number; y: number }, anchor: string, text: string) => {
      const element = svgElement('text', { ...at, 'text-anchor': anchor });
      element.textContent = text;
      svg.append(element);
    };
    for (const power of POWERS) {
      const at = y(10 ** power);
      line(`M${left} ${at}H${right}`, 'grid');
      label({ x: left - 6, y: at + 4 }, 'end', digits(10 ** power, 1).replace('1×', ''));
    }
    for (const p of X_TICKS) {
      line(`M${x(p)} ${top}V${bottom}`, 'grid');
      label({ x: x(p), y: bottom + 18 }, p === X_TICKS.at(-1) ? 'end' : 'middle', String(p));
    }
    line(`M${x(place.p)} ${top}V${bottom}`, 'here');
    for (const curve of CURVES) {
      line(driftPath(drift, curve, width, height), `curve ${curve}`);
      const dot = { cx: x(place.p), cy: y(place[curve]), r: 4.5, class: `dot-${curve}` };
      svg.append(svgElement('circle', dot));
    }
    return svg;
  }
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

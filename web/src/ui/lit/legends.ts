import { html, noChange, type ElementPart, type TemplateResult } from 'lit-html';
import { Directive, directive } from 'lit-html/directive.js';
import type { Ramp } from '../../domain/cividis';
import { context2d } from '../dom';

class PaintedRamp extends Directive {
  /** Of the ramp that is painted: another part of it would need a canvas of another width. */
  #bytes: ArrayBuffer | null = null;
  render(_ramp: Ramp): typeof noChange {
    return noChange;
  }
  override update({ element }: ElementPart, [ramp]: [Ramp]): typeof noChange {
    if (ramp.buffer === this.#bytes) return noChange;
    this.#bytes = ramp.buffer;
    const image = new ImageData(ramp.length / 4, 1);
    image.data.set(ramp);
    context2d(element as HTMLCanvasElement).putImageData(image, 0, 0);
    return noChange;
  }
}
/** In the tag of a canvas: the colours of a ramp, one pixel each. */
const painted = directive(PaintedRamp);

const left = (share: number) => `left: ${share * 100}%`;

/** The scale of a legend: its colours, with words at its beginning, its middle and its end. */
export const legendScale = (
  ramp: Ramp,
  ticks: readonly string[],
  mark?: TemplateResult,
): TemplateResult => html`
  <div class="legend-scale">
    <canvas width=${ramp.length / 4} height="1" aria-hidden="true" ${painted(ramp)}></canvas>
    ${mark}
    <div class="ticks">${ticks.map((tick, i) => html`<span .style=${left(i / 2)}>${tick}</span>`)}</div>
  </div>`;

/** A mark on it at a share of its length; of what is no number there is none. */
export const legendMark = (share: number): TemplateResult =>
  html`<span class="legend-now" aria-hidden="true" ?hidden=${!Number.isFinite(share)} .style=${left(share)}></span>`;

import { html, nothing, svg, type TemplateResult } from 'lit-html';
import { live } from 'lit-html/directives/live.js';
import { columnsOfPair, frequency, PAIRS } from '../../../domain/pair_table';
import type { Place, PositionsResult } from '../worker/frame_feature';
import { t } from '../feature';
import type { Content } from '../../../ui/lit/texts';
import { digits } from '../../../ui/numbers';
import { LIMITS, type State } from '../../../state/state';
import { clamp } from '../../../state/field';
import { LitPanel } from '../../lit_panel';
import type { View } from '../../panel';

const TURN = 2 * Math.PI;
const ALL_PAIRS = Array.from({ length: PAIRS }, (_, pair) => pair);

/** The tip of a hand is the pair itself, (sine, cosine): it starts at the top and turns with the clock. */
interface Tip {
  readonly x: number;
  readonly y: number;
}
/** The ends of the pair at p and at p + k. */
type End = 'from' | 'to';

/** A dial for each pair: the position turns its hand, and M_k turns it on by k w_i. */
export class DialsPart extends LitPanel {
  #state: State | null = null;
  /** The latest, which stays while nothing is computed. */
  #result: PositionsResult | null = null;
  #drag: { hand: 'position' | 'shift'; angle: number; value: number } | null = null;

  override update(view: View): void {
    this.#state = view.state;
    this.#result = view.frame?.positions ?? this.#result;
    super.update(view);
  }

  protected inputs({ state, look }: View): readonly unknown[] {
    return [this.#result?.place, state.pair, look];
  }

  protected render({ state: { pair } }: View): TemplateResult {
    const result = this.#result;
    return html`
      <div class="dial-large">
        <svg viewBox="-1.6 -1.6 3.2 3.2" aria-hidden="true" @pointerdown=${this.#grab} @pointermove=${this.#turn}
          @pointerup=${this.#drop} @pointercancel=${this.#drop}>${result ? largeFace(result, pair) : rim}</svg>
      </div>
      <div class="dial-side">
        <p class="dial-text">${result && textOf(result.place, pair)}</p>
        <p class="hint">${t('dials.drag')}</p>
        <fieldset class="dials"><legend>${t('dials.title')}</legend>${ALL_PAIRS.map((each) => this.#dial(each, each === pair))}</fieldset>
      </div>`;
  }

  #dial(pair: number, isChosen: boolean): TemplateResult {
    const result = this.#result;
    const name = result ? nameOf(result.place, pair) : nothing;
    return html`
      <label class="dial"><input type="radio" name="pair" value=${pair} class="visually-hidden" aria-label=${name}
        .checked=${live(isChosen)} @change=${() => this.change({ pair })}>
        <svg viewBox="-1.15 -1.15 2.3 2.3" aria-hidden="true">${result ? faceOf(result, pair) : rim}</svg><span>${pair}</span></label>`;
  }

  // ---- dragging ----

  readonly #grab = (event: PointerEvent): void => {
    const [state, result] = [this.#state, this.#result];
    if (!state || !result || event.button !== 0) return;
    const large = event.currentTarget as SVGSVGElement;
    const angle = angleAt(large, event);
    const [from, to] = tipsOf(result.place, columnsOfPair(state.layout, state.pair));
    const off = (tip: Tip) => Math.abs(wrap(angle - angleOf(tip)));
    const hand = off(to) < off(from) ? 'shift' : 'position';
    this.#drag = { hand, angle, value: state[hand] };
    large.setPointerCapture(event.pointerId);
    event.preventDefault();
  };

  readonly #turn = (event: PointerEvent): void => {
    const [state, drag] = [this.#state, this.#drag];
    if (!state || !drag) return;
    const angle = angleAt(event.currentTarget as SVGSVGElement, event);
    const moved = drag.value + wrap(angle - drag.angle) / frequency(state.pair);
    drag.value = clamp(moved, LIMITS[drag.hand]); // at an end it turns back at once
    drag.angle = angle;
    this.change({ [drag.hand]: Math.round(drag.value) });
  };

  readonly #drop = (): void => {
    this.#drag = null;
  };
}

function tipsOf({ from, to }: Place, [sine, cosine]: readonly [number, number]): [Tip, Tip] {
  const tip = (row: Float32Array) => ({ x: row[sine] ?? NaN, y: row[cosine] ?? NaN });
  return [tip(from), tip(to)];
}

const angleOf = ({ x, y }: Tip) => Math.atan2(x, y);

/** The shorter way round. */
const wrap = (angle: number) => angle - TURN * Math.round(angle / TURN);

/** Where the pointer is, clockwise from the top. */
function angleAt(large: SVGSVGElement, event: PointerEvent): number {
  const box = large.getBoundingClientRect();
  const x = event.clientX - box.left - box.width / 2;
  const y = event.clientY - box.top - box.height / 2;
  return Math.atan2(x, -y);
}

// ---- drawing ----

const rim = svg`<circle r="1" class="rim"/>`;
const written = (value: number) => value.toFixed(4);

const handOf = (end: End, { x, y }: Tip) =>
  svg`<line class="hand hand-${end}" x2=${written(x)} y2=${written(-y)} x1="0" y1="0"/>`;

/** Both hands, and the angle between them less its whole turns. */
function faceOf({ place, encoding }: PositionsResult, pair: number): Content {
  const [from, to] = tipsOf(place, columnsOfPair(encoding.layout, pair));
  const angle = (place.k * frequency(pair)) % TURN;
  const at = ({ x, y }: Tip) => `${written(0.6 * x)} ${written(-0.6 * y)}`;
  const arc = `M0 0L${at(from)}A0.6 0.6 0 ${angle > Math.PI ? 1 : 0} 1 ${at(to)}Z`;
  return [
    rim,
    svg`<path d=${angle === 0 ? '' : arc} class="turned"/>`,
    handOf('from', from),
    handOf('to', to),
  ];
}

/** The same with a name at each hand; names of hands that nearly meet stand aside, each on its own side. */
function largeFace(result: PositionsResult, pair: number): Content {
  const columns = columnsOfPair(result.encoding.layout, pair);
  const [from, to] = tipsOf(result.place, columns).map(angleOf) as [number, number];
  const apart = wrap(to - from);
  const aside = Math.abs(apart) < 0.5 ? (0.25 - Math.abs(apart) / 2) * (apart < 0 ? -1 : 1) : 0;
  return [
    faceOf(result, pair),
    ...[tipAt('from', from), tipAt('to', to)],
    ...[nameAt('from', 'p', from - aside), nameAt('to', 'p+k', to + aside)],
  ];
}

const tipAt = (end: End, angle: number) =>
  svg`<circle cx=${written(Math.sin(angle))} cy=${written(-Math.cos(angle))} r="0.09" class="tip tip-${end}"/>`;

const nameAt = (end: End, name: string, angle: number) =>
  svg`<text class="name name-${end}" x=${written(1.36 * Math.sin(angle))} y=${written(0.06 - 1.3 * Math.cos(angle))}>${name}</text>`;

const nameOf = ({ k }: Place, pair: number) =>
  t('dials.name', { pair, angle: digits(k * frequency(pair), 3) });

/** All that the large dial shows, in words. */
function textOf({ p, k }: Place, pair: number): string {
  const w = frequency(pair);
  return t('dials.text', {
    ...{ pair, p, k, frequency: digits(w, 4), period: digits(TURN / w, 4) },
    ...{ angle: digits(k * w, 4), degrees: digits((k * w * 360) / TURN, 4) },
  });
}

customElements.define('qkv-dials', DialsPart);

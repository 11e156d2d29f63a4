import { columnsOfPair, frequency, PAIRS } from '../shared/pair_table';
import type { Place } from '../worker/frame_feature';
import { t } from '../feature';
import { digits } from '../../../ui/numbers';
import { LIMITS, type State } from '../../../state/state';
import { clamp } from '../../../state/field';
import { Panel, type View } from '../../panel';

const TURN = 2 * Math.PI;

const face = `
  <circle r="1" class="rim"/><path class="turned"/>
  <line class="hand hand-from"/><line class="hand hand-to"/>`;

const dials = Array.from(
  { length: PAIRS },
  (_, pair) => `
    <label class="dial"><input type="radio" name="pair" value="${pair}" class="visually-hidden">
      <svg viewBox="-1.15 -1.15 2.3 2.3" aria-hidden="true">${face}</svg><span>${pair}</span></label>`,
);

/** The tip of a hand is the pair itself, (sine, cosine): it starts at the top and turns with the clock. */
interface Tip {
  readonly x: number;
  readonly y: number;
}

/** A dial for each pair: the position turns its hand, and M_k turns it on by k w_i. */
export class DialsPart extends Panel {
  #state: State | null = null;
  #place: Place | null = null;
  #drag: { hand: 'position' | 'shift'; angle: number; value: number } | null = null;

  protected template(): string {
    return `
      <div class="dial-large">
        <svg viewBox="-1.6 -1.6 3.2 3.2" aria-hidden="true">${face}
          <circle r="0.09" class="tip tip-from"/><circle r="0.09" class="tip tip-to"/>
          <text class="name name-from">p</text><text class="name name-to">p+k</text></svg>
      </div>
      <div class="dial-side">
        <p class="dial-text"></p>
        <p class="hint" data-t="dials.drag"></p>
        <fieldset class="dials"><legend data-t="dials.title"></legend>${dials.join('')}</fieldset>
      </div>`;
  }

  protected override ready(): void {
    this.find('.dials', HTMLElement).addEventListener('change', ({ target }) => {
      this.change({ pair: +(target as HTMLInputElement).value });
    });
    const large = this.find('.dial-large svg', SVGSVGElement);
    large.addEventListener('pointerdown', (event) => this.#grab(large, event));
    large.addEventListener('pointermove', (event) => this.#turn(large, event));
    for (const name of ['pointerup', 'pointercancel'] as const) {
      large.addEventListener(name, () => (this.#drag = null));
    }
  }

  update({ state, frame, look }: View): void {
    this.#state = state;
    for (const radio of this.querySelectorAll<HTMLInputElement>('[name=pair]')) {
      radio.checked = +radio.value === state.pair;
    }
    const positions = frame?.positions;
    if (!positions || !this.changed(positions.place, state.pair, look)) return;
    const { place } = positions;
    this.#place = place;
    const { layout } = positions.encoding;
    this.querySelectorAll<HTMLElement>('.dial').forEach((dial, pair) => {
      drawFace(dial, tipsOf(place, columnsOfPair(layout, pair)), pair, place.k);
      const names = { pair, angle: digits(place.k * frequency(pair), 3) };
      dial.querySelector('input')?.setAttribute('aria-label', t('dials.name', names));
    });
    this.#drawLarge(tipsOf(place, columnsOfPair(layout, state.pair)), state.pair, place);
  }

  #drawLarge(tips: readonly [Tip, Tip], pair: number, { p, k }: Place): void {
    const large = this.find('.dial-large', HTMLElement);
    drawFace(large, tips, pair, k);
    const [from, to] = tips.map(({ x, y }) => Math.atan2(x, y));
    // Names of hands that nearly meet stand aside, each on its own side.
    const apart = wrap(to! - from!);
    const aside = Math.abs(apart) < 0.5 ? (0.25 - Math.abs(apart) / 2) * (apart < 0 ? -1 : 1) : 0;
    this.#mark('from', from!, from! - aside);
    this.#mark('to', to!, to! + aside);
    const w = frequency(pair);
    const values = {
      pair,
      p,
      k,
      frequency: digits(w, 4),
      period: digits(TURN / w, 4),
      angle: digits(k * w, 4),
      degrees: digits((k * w * 360) / TURN, 4),
    };
    this.setText('.dial-text', t('dials.text', values)); // and so says all that the dial shows
  }

  #mark(name: 'from' | 'to', angle: number, aside: number): void {
    const dot = this.find(`.tip-${name}`, SVGCircleElement);
    setAll(dot, { cx: Math.sin(angle), cy: -Math.cos(angle) });
    const text = this.find(`.name-${name}`, SVGTextElement);
    setAll(text, { x: 1.36 * Math.sin(aside), y: 0.06 - 1.3 * Math.cos(aside) });
  }

  // ---- dragging ----

  #grab(large: SVGSVGElement, event: PointerEvent): void {
    const [state, place] = [this.#state, this.#place];
    if (!state || !place || event.button !== 0) return;
    const angle = angleAt(large, event);
    const [from, to] = tipsOf(place, columnsOfPair(state.layout, state.pair));
    const off = ({ x, y }: Tip) => Math.abs(wrap(angle - Math.atan2(x, y)));
    const hand = off(to) < off(from) ? 'shift' : 'position';
    this.#drag = { hand, angle, value: state[hand] };
    large.setPointerCapture(event.pointerId);
    event.preventDefault();
  }

  #turn(large: SVGSVGElement, event: PointerEvent): void {
    const [state, drag] = [this.#state, this.#drag];
    if (!state || !drag) return;
    const angle = angleAt(large, event);
    const moved = drag.value + wrap(angle - drag.angle) / frequency(state.pair);
    drag.value = clamp(moved, LIMITS[drag.hand]); // at an end it turns back at once
    drag.angle = angle;
    this.change({ [drag.hand]: Math.round(drag.value) });
  }
}

function tipsOf({ from, to }: Place, [sine, cosine]: readonly [number, number]): [Tip, Tip] {
  const tip = (row: Float32Array) => ({ x: row[sine] ?? NaN, y: row[cosine] ?? NaN });
  return [tip(from), tip(to)];
}

/** The shorter way round. */
const wrap = (angle: number) => angle - TURN * Math.round(angle / TURN);

/** Where the pointer is, clockwise from the top. */
function angleAt(svg: SVGSVGElement, event: PointerEvent): number {
  const box = svg.getBoundingClientRect();
  const x = event.clientX - box.left - box.width / 2;
  const y = event.clientY - box.top - box.height / 2;
  return Math.atan2(x, -y);
}

function setAll(element: Element, attributes: Readonly<Record<string, number>>): void {
  for (const [name, value] of Object.entries(attributes)) {
    element.setAttribute(name, value.toFixed(4));
  }
}

/** Both hands, and the angle between them less its whole turns. */
function drawFace(root: HTMLElement, [from, to]: readonly [Tip, Tip], pair: number, k: number) {
  const hand = (name: string, { x, y }: Tip) => {
    const line = root.querySelector(`.hand-${name}`);
    if (line) setAll(line, { x1: 0, y1: 0, x2: x, y2: -y });
  };
  hand('from', from);
  hand('to', to);
  const angle = (k * frequency(pair)) % TURN;
  const at = ({ x, y }: Tip) => `${(0.6 * x).toFixed(4)} ${(-0.6 * y).toFixed(4)}`;
  const arc = `M0 0L${at(from)}A0.6 0.6 0 ${angle > Math.PI ? 1 : 0} 1 ${at(to)}Z`;
  root.querySelector('.turned')?.setAttribute('d', angle === 0 ? '' : arc);
}

customElements.define('qkv-dials', DialsPart);

import { LIMITS } from '../../../state/state';
import { showSlider, sliderHtml } from '../../../ui/controls';
import { four } from '../../../ui/numbers';
import { Panel, type View } from '../../panel';
import { frequency } from '../../../domain/pair_table';
import { t } from '../texts';

/** Pairs of dimensions that are drawn, from fast to slow. */
const DRAWN = [0, 4, 8, 12, 16] as const;
const RADIUS = 34;

/** The hand of a wave at an angle, clockwise from the top as on the dials of the laboratory: sine to the right, cosine up. */
function hand(angle: number, kind: string): string {
  const [x, y] = [Math.sin(angle), -Math.cos(angle)].map((part) => (part * RADIUS).toFixed(1));
  return `<path class="${kind}" d="M0 0L${x} ${y}"/>`;
}

const dial = (pair: number, position: number, shift: number) => `
  <figure><svg viewBox="-40 -40 80 80" width="80" height="80" aria-hidden="true">
    <circle r="${RADIUS}"/>${hand(position * frequency(pair), 'picture-from')}${hand((position + shift) * frequency(pair), 'picture-to')}
  </svg><figcaption>k·ω = ${four(shift * frequency(pair))}</figcaption></figure>`;

/** Each pair of dimensions is a hand that turns with the position; k turns all hands, by angles that do not depend on p. */
export class OrderPicture extends Panel {
  protected template(): string {
    const slider = (name: 'position' | 'shift', most: number) =>
      sliderHtml(`picture-${name}`, `pictures.${name}`, [0, most]);
    return `
      <div class="picture-tools" data-control>${slider('position', 128)}${slider('shift', LIMITS.shift[1])}</div>
      <div class="picture-dials"></div>
      <p class="hint picture-caption"></p>`;
  }

  protected override ready(): void {
    for (const name of ['position', 'shift'] as const) {
      const slider = this.find(`#picture-${name}`, HTMLInputElement);
      slider.addEventListener('input', () => this.change({ [name]: Number(slider.value) }));
    }
  }

  update({ state, look }: View): void {
    const { position, shift } = state;
    if (!this.changed(position, shift, look)) return;
    for (const name of ['position', 'shift'] as const) {
      showSlider(this, `picture-${name}`, state[name], String(state[name]));
    }
    const dials = DRAWN.map((pair) => dial(pair, position, shift));
    this.find('.picture-dials', HTMLElement).innerHTML = dials.join('');
    this.setText('.picture-caption', t('pictures.order', { position, to: position + shift }));
  }
}

import { showSlider, sliderHtml } from '../../../ui/controls';
import { text } from '../../../ui/export_figure';
import { whole } from '../../../ui/numbers';
import { Panel, type View } from '../../panel';
import { t } from '../texts';

/** Of the smallest square, in pixels. */
const SIDE = 44;
const [LEAST, MOST] = [4, 17];

/** The scores of a text, of one twice as long and of one four times as long: each square has as much area as there are scores. */
export class CostPicture extends Panel {
  protected template(): string {
    return `
      <div class="picture-tools" data-control>
        ${sliderHtml('picture-tokens', 'pictures.tokens', [LEAST, MOST])}
      </div>
      <div class="picture-squares"></div>
      <p class="hint picture-caption" role="status"></p>`;
  }

  protected override ready(): void {
    const slider = this.find('#picture-tokens', HTMLInputElement);
    slider.addEventListener('input', () => {
      if (!this.#shape) return;
      this.change({ costShape: { ...this.#shape, tokens: 2 ** Number(slider.value) } });
    });
  }

  #shape: View['state']['costShape'] | null = null;

  update({ state, look }: View): void {
    this.#shape = state.costShape;
    const { tokens } = state.costShape;
    if (!this.changed(tokens, look)) return;
    showSlider(this, 'picture-tokens', Math.round(Math.log2(tokens)), `T = ${whole(tokens)}`);
    let x = 0;
    const squares = [1, 2, 4].map((times) => {
      const side = SIDE * times;
      const square = `<rect class="picture-state" x="${x + 1}" y="${4 * SIDE - side + 1}" width="${side}" height="${side}"/>${text(x, 4 * SIDE + 20, `T = ${whole(times * tokens)}`)}${text(x, 4 * SIDE + 38, whole((times * tokens) ** 2))}`;
      x += Math.max(side, 124) + 12;
      return square;
    });
    const [width, height] = [x, 4 * SIDE + 46];
    this.find('.picture-squares', HTMLElement).innerHTML =
      `<svg viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" aria-hidden="true">${squares.join('')}</svg>`;
    this.setText(
      '.picture-caption',
      t('pictures.cost', { tokens: whole(tokens), scores: whole(tokens ** 2) }),
    );
  }
}

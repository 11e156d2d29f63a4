import { showSlider, sliderHtml } from '../../../ui/controls';
import { randomOf } from '../../../domain/random_ints';
import { softmaxOf } from '../../../domain/softmax';
import { LIMITS } from '../../../state/state';
import { digits, four } from '../../../ui/numbers';
import { Panel, type View } from '../../panel';
import { t } from '../texts';

const KEYS = 32;
const [LEAST, MOST] = LIMITS.width;

/** q·k of one query with random keys, of d numbers +1 or −1 each: every product has variance d. */
export function scoresOf(width: number): number[] {
  const signs = randomOf(3);
  const sign = () => 2 * signs.below(2) - 1;
  const query = Array.from({ length: width }, sign);
  return Array.from({ length: KEYS }, () => query.reduce((sum, value) => sum + value * sign(), 0));
}

/** A row of weights that collapses onto one key as vectors grow longer, until its scores are divided by √d. */
export class ScoresPicture extends Panel {
  protected template(): string {
    return `
      <div class="picture-tools" data-control>
        ${sliderHtml('picture-width', 'pictures.width', [Math.log2(LEAST), Math.log2(MOST)])}
        <label class="check"><input type="checkbox" class="picture-divide"><span data-t="pictures.divide"></span></label>
      </div>
      <div class="picture-bars" aria-hidden="true">${'<i></i>'.repeat(KEYS)}</div>
      <p class="hint picture-caption" role="status"></p>`;
  }

  protected override ready(): void {
    const width = this.find('#picture-width', HTMLInputElement);
    width.addEventListener('input', () => this.change({ width: 2 ** Number(width.value) }));
    const divide = this.find('.picture-divide', HTMLInputElement);
    divide.addEventListener('change', () => this.change({ divided: divide.checked }));
  }

  update({ state, look }: View): void {
    const { width, divided } = state;
    if (!this.changed(width, divided, look)) return;
    showSlider(this, 'picture-width', Math.log2(width), `d = ${width}`);
    this.find('.picture-divide', HTMLInputElement).checked = divided;
    const scores = scoresOf(width).map((score) => (divided ? score / Math.sqrt(width) : score));
    const weights = softmaxOf(scores);
    this.querySelectorAll<HTMLElement>('.picture-bars i').forEach((bar, i) => {
      bar.style.height = `${(weights[i] ?? 0) * 100}%`;
    });
    const deviation = Math.sqrt(scores.reduce((sum, score) => sum + score * score, 0) / KEYS);
    const values = { largest: four(Math.max(...weights)), deviation: digits(deviation, 3) };
    this.setText('.picture-caption', t('pictures.scores', { ...values, count: KEYS }));
  }
}

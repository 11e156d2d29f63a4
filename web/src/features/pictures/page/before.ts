import { text } from '../../../ui/export_figure';
import { Panel, type View } from '../../panel';
import { t } from '../texts';

/** Of a longer sentence so many words at either end are drawn. */
const ENDS = 3;
const drawn = (tokens: readonly string[]) =>
  tokens.length > 2 * ENDS + 1 ? [...tokens.slice(0, ENDS), '…', ...tokens.slice(-ENDS)] : tokens;
const [STEP, SIDE] = [62, 36];

/** Characters of a word for which there is room above its box. */
const ROOM = 8;

function word(token: string, x: number, y: number): string {
  const letters = Array.from(token);
  const short = letters.length > ROOM ? `${letters.slice(0, ROOM - 1).join('')}…` : token;
  return text(x, y, short, { 'text-anchor': 'middle' });
}

/** The words one after another into one vector, which is all that the decoder gets. */
function chain(tokens: readonly string[]): string {
  const parts = tokens.map((token, i) => {
    const x = 40 + i * STEP;
    const arrow =
      i > 0 ? `<path class="picture-way" d="M${x - STEP + SIDE / 2} 46H${x - SIDE / 2}"/>` : '';
    return `${arrow}<rect class="picture-state" x="${x - SIDE / 2}" y="30" width="${SIDE}" height="32" rx="6"/>${word(token, x, 20)}`;
  });
  const end = 40 + tokens.length * STEP;
  const vector = `<path class="picture-way" d="M${end - STEP + SIDE / 2} 46H${end - 8}"/><rect class="picture-vector" x="${end - 8}" y="26" width="16" height="40" rx="3"/>`;
  return parts.join('') + vector;
}

/** The same words, each of which the decoder can look at. */
function direct(tokens: readonly string[]): string {
  const end = 40 + tokens.length * STEP;
  const parts = tokens.map((token, i) => {
    const x = 40 + i * STEP;
    const way = `<path class="picture-ribbon" d="M${end} 190C${end} ${116 - 2 * i} ${x} ${116 - 2 * i} ${x} 190"/>`;
    return `${way}<rect class="picture-state" x="${x - SIDE / 2}" y="190" width="${SIDE}" height="32" rx="6"/>${word(token, x, 240)}`;
  });
  return `${parts.join('')}<rect class="picture-vector" x="${end - 8}" y="190" width="16" height="32" rx="3"/>`;
}

/** The sentence through the bottle-neck of a recurrent network, and past it. */
export class BeforePicture extends Panel {
  protected template(): string {
    return '<div class="picture-words" role="img" data-t-label="pictures.chain"></div><p class="hint picture-caption"></p>';
  }

  update({ list, look }: View): void {
    if (!this.changed(list, look)) return;
    const { length } = list.tokens;
    const tokens = drawn(list.tokens);
    const width = 80 + tokens.length * STEP;
    this.find('.picture-words', HTMLElement).innerHTML =
      length === 0
        ? ''
        : `<svg viewBox="0 0 ${width} 250" width="${width}" height="250" aria-hidden="true">${chain(tokens)}${direct(tokens)}</svg>`;
    const values = { first: list.tokens[0] ?? '', steps: length };
    this.setText('.picture-caption', length > 0 ? t('pictures.before', values) : '');
  }
}

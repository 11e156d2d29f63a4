import { radiosHtml } from '../../../ui/controls';
import { text } from '../../../ui/export_figure';
import { Panel, type View } from '../../panel';
import { t } from '../texts';

type Where = 'pre' | 'post';
const WHERES: readonly Where[] = ['pre', 'post'];
const WIDTH = 340;
const [STREAM, DETOUR] = [60, 210];

const box = (y: number, label: string, kind: string) =>
  `<g class="picture-${kind}"><rect x="${DETOUR - 75}" y="${y}" width="150" height="32" rx="6"/>${text(DETOUR, y + 21, label, { 'text-anchor': 'middle' })}</g>`;
const norm = (y: number) =>
  `<g class="picture-norm"><rect x="${STREAM - 42}" y="${y}" width="84" height="26" rx="6"/>${text(STREAM, y + 18, t('pictures.norm'), { 'text-anchor': 'middle' })}</g>`;

/** One sub-layer: it reads the stream at `top`, and what it computed is added further down. */
function detour(top: number, label: string, where: Where): string {
  const add = top + 104;
  const inside =
    where === 'pre'
      ? [box(top + 8, t('pictures.norm'), 'norm'), box(top + 56, label, 'layer')]
      : [box(top + 32, label, 'layer')];
  const way = `<path class="picture-way" d="M${STREAM} ${top}H${DETOUR}V${add}H${STREAM + 11}"/>`;
  const plus = `<circle class="picture-plus" cx="${STREAM}" cy="${add}" r="11"/>${text(STREAM, add + 5, '+', { 'text-anchor': 'middle' })}`;
  return way + inside.join('') + plus + (where === 'post' ? norm(add + 20) : '');
}

/** A block: the stream with its two detours, and where the norms stand. */
export class BlockPicture extends Panel {
  protected template(): string {
    return `
      <div class="picture-tools" data-control>
        <fieldset class="segmented"><legend class="visually-hidden" data-t="pictures.where"></legend>${radiosHtml('picture-norm', WHERES, (where) => `pictures.${where}`)}</fieldset>
      </div>
      <div class="picture-block"></div>
      <p class="hint picture-caption" role="status"></p>`;
  }

  protected override ready(): void {
    this.addEventListener('change', ({ target }) => {
      const where = WHERES.find(
        (name) => target instanceof HTMLInputElement && name === target.value,
      );
      if (where) this.change({ blockNorm: where });
    });
  }

  update({ state, look }: View): void {
    const where: Where = state.blockNorm;
    if (!this.changed(where, look)) return;
    for (const radio of this.querySelectorAll('input')) radio.checked = radio.value === where;
    const step = where === 'pre' ? 150 : 170;
    const height = 2 * step + 30;
    const stream = `<path class="picture-stream" d="M${STREAM} 4V${height - 4}"/>`;
    const parts = [
      detour(24, t('pictures.attention'), where),
      detour(24 + step, t('pictures.mlp'), where),
    ];
    const label = t(`pictures.caption.${where}`);
    this.find('.picture-block', HTMLElement).innerHTML =
      `<svg viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img">${stream}${parts.join('')}</svg>`;
    this.querySelector('svg')?.setAttribute('aria-label', t('pictures.block'));
    this.setText('.picture-caption', label);
  }
}

import { MASKS } from '../../../domain/choices';
import { isAllowed } from '../../../domain/rows';
import { find } from '../../../ui/dom';
import { radiosHtml } from '../../../ui/controls';
import { isCurrent, Panel, type View } from '../../panel';
import { t } from '../texts';

/** Of a longer sentence the first tokens are drawn. */
const MOST = 8;

/** Which token may see which: a row for each query, and the weights of the one that is chosen. */
export class MasksPicture extends Panel {
  protected template(): string {
    return `
      <div class="picture-tools" data-control>
        <fieldset class="segmented"><legend class="visually-hidden" data-t="controls.mask"></legend>${radiosHtml('picture-mask', MASKS, (mask) => `mask.${mask}`)}</fieldset>
      </div>
      <div class="picture-grid-box"><table class="picture-grid"><caption class="visually-hidden" data-t="pictures.grid"></caption><tbody></tbody></table></div>
      <p class="hint picture-caption" role="status"></p>`;
  }

  protected override ready(): void {
    this.addEventListener('change', ({ target }) => {
      const mask = MASKS.find(
        (name) => target instanceof HTMLInputElement && name === target.value,
      );
      if (mask) this.change({ mask });
    });
    this.find('tbody', HTMLElement).addEventListener('click', ({ target }) => {
      const row = target instanceof Element ? target.closest('tr') : null;
      if (row) this.change({ query: row.rowIndex });
    });
  }

  update(view: View): void {
    const { state, list, query, look, frame } = view;
    const mask = frame?.request.layer.mask ?? state.mask;
    for (const box of this.querySelectorAll('input')) {
      box.checked = box.value === mask;
      box.disabled = state.source === 'trained';
    }
    const row = isCurrent(view) ? view.frame.query : null;
    if (!this.changed(mask, list, query, look, row)) return;
    const tokens = list.tokens.slice(0, MOST);
    const { length } = list.tokens;
    const seen = (from: number, to: number) => isAllowed(mask, from, to, length);
    this.find('tbody', HTMLElement).replaceChildren(
      ...tokens.map((token, from) => {
        const line = document.createElement('tr');
        line.classList.toggle('picture-chosen', from === query);
        line.innerHTML = `<th scope="row"><bdi class="token"></bdi></th>${tokens
          .map((_, to) => {
            const weight = from === row?.row ? (row.weights[to] ?? 0) : null;
            const text = weight === null ? '' : weight.toFixed(2);
            return `<td class="${seen(from, to) ? 'picture-seen' : 'picture-hidden'}">${seen(from, to) ? text : weight === null ? '' : '0'}</td>`;
          })
          .join('')}`;
        find(line, 'bdi', HTMLElement).append(token);
        return line;
      }),
    );
    const count = list.tokens.filter((_, to) => query >= 0 && seen(query, to)).length;
    const values = { token: list.tokens[query] ?? '', count, total: length };
    this.setText('.picture-caption', length > 0 ? t('pictures.masks', values) : '');
  }
}

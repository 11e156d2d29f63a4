import { headCount } from '../../domain/sources';
import { dataOf, mapFigure } from './page/figure';
import type { Figure } from '../../ui/export_figure';
import { find } from '../../ui/dom';
import { isFirst } from '../../state/first';
import { headStory } from '../head_names';
import { ArcsPart } from './page/arcs_part';
import { HeadsPart } from './page/heads_part';
import { PicturePart } from './page/map_part';
import { ReadoutPart } from './page/readout_part';
import { CompositePanel, type TensorsOf, type View } from '../panel';
import type { ShownCell } from '../../ui/matrix/view';

/** A file of more numbers than this has only the heads that are shown: of all heads JSON would be longer than a text may be. */
const MOST_CELLS = 2 ** 21;

/** All heads small, one of them enlarged as a map or as arcs, and the numbers under the crosshair. */
export class MapPanel extends CompositePanel {
  #view: View | null = null;
  /** The cells as the HTML has them, over the canvas until that is painted. */
  #firstPicture: Element | null = null;
  /** The row that was described last. */
  #row: number | null = null;
  parts: readonly (HeadsPart | PicturePart | ArcsPart)[] = [];

  protected template(): string {
    return `
      <div class="card attention">
        <qkv-picture></qkv-picture>
        <qkv-arcs></qkv-arcs>
        <qkv-heads></qkv-heads>
        <p class="story hint"></p>
        <qkv-readout></qkv-readout>
      </div>`;
  }

  protected override adopt(): void {
    const { lang } = document.documentElement;
    this.#firstPicture = this.querySelector(`.first-map[lang="${lang}"] .first-cells`);
  }

  protected override ready(): void {
    this.parts = [
      this.find('qkv-heads', HeadsPart),
      this.find('qkv-picture', PicturePart),
      this.find('qkv-arcs', ArcsPart),
    ];
    this.addEventListener('cell-shown', () => this.#tell());
    if (this.#firstPicture) this.find('.matrix-plot', HTMLElement).prepend(this.#firstPicture);
  }

  #removeFirstPicture(picture = this.#firstPicture): void {
    this.#firstPicture = null;
    picture?.remove();
  }

  /** The canvas shows what was painted on it a moment later. */
  #removeFirstPictureLater(): void {
    const picture = this.#firstPicture;
    if (!picture) return;
    this.#firstPicture = null;
    requestAnimationFrame(() => requestAnimationFrame(() => this.#removeFirstPicture(picture)));
  }

  /** The cell whose numbers are shown. */
  get shown(): ShownCell | null {
    return this.#picture.matrix.shown;
  }

  get #picture(): PicturePart {
    return find(this, 'qkv-picture', PicturePart);
  }

  override update(view: View): void {
    this.#view = view;
    super.update(view);
    if (!isFirst(view.state)) this.#removeFirstPicture();
    else if (view.frame?.request.surfaces['map']) this.#removeFirstPictureLater();
    const { state, frame, list } = view;
    const head = frame?.request.view.head ?? state.head;
    if (this.changed(state, head, list))
      this.setText('.story', headStory(state, head, list.tokens));
    this.#tellNumbers(view);
    if (this.#pointed !== this.#row) this.#tellRow(); // a smaller map has lost the cell
  }

  get #pointed(): number | null {
    return this.#picture.matrix.pointed?.row ?? null;
  }

  /** The crosshair has moved: what is known of the cell at once, and its row from the worker. */
  #tell(): void {
    if (!this.#view) return;
    this.#tellRow();
    this.#tellNumbers(this.#view);
  }

  /** Where no hand is, the row is that of the query, whichever the next request has. */
  #tellRow(): void {
    this.#row = this.#pointed;
    this.dispatchEvent(new CustomEvent('row-described', { bubbles: true, detail: this.#row }));
  }

  #tellNumbers(view: View): void {
    const shown = view.state.look === 'map' ? this.shown : null;
    this.#picture.updateShown(view);
    find(this, 'qkv-readout', ReadoutPart).tell(view, shown);
  }

  override async figure(view: View, tensors: TensorsOf): Promise<Figure | null> {
    if (!view.frame || view.list.tokens.length === 0) return null;
    const { canvas } = this.#picture.matrix;
    const shown = await tensors('shown');
    if (shown.heads.length === 0) return null; // a trained model that is not there any more
    const figure = mapFigure(view, shown, canvas);
    if (headCount(view.heads) * view.list.tokens.length ** 2 > MOST_CELLS) return figure;
    return { ...figure, allData: async () => dataOf(await tensors('all')) };
  }
}

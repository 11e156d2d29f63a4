import { percent } from '../../../ui/numbers';
import { PlotStage } from '../../../ui/plot_stage';
import type { View } from '../../panel';
import { PLANES, PLANE_SETS } from '../shared/examples';
import { shownWords } from './shown_words';
import { LONGEST_PLANE, typed } from '../state';
import { drawPlane } from './drawings';
import { planeOfWords, type PlaneOfWords } from './plane_of_words';
import { three, WordsPart } from './words_part';
import { t } from '../feature';

export const PLANE_HEIGHT = 420;

/** Words on the plane of their two principal components. */
export class PlanePart extends WordsPart {
  #stage: PlotStage | null = null;
  #plane: PlaneOfWords | null = null;

  protected template(): string {
    const sets = PLANE_SETS.map(
      (set) => `<option value="${set}" data-t="words.plane.${set}"></option>`,
    );
    return `
      <h3 data-t="words.plane.title"></h3>
      <p class="words-text" data-t="words.plane.intro"></p>
      <div class="tools-row" data-control>
        <div class="control"><label for="words-set" data-t="words.plane.set"></label>
          <select id="words-set">${sets.join('')}<option value="own" data-t="words.plane.own"></option></select></div>
        <div class="control words-plane-list"><label for="words-plane" data-t="words.plane.list"></label>
          <textarea id="words-plane" lang="en" rows="2" maxlength="${LONGEST_PLANE}" autocapitalize="off" spellcheck="false"></textarea></div>
      </div>
      <div class="plot-stage" data-figure="plane" lang="en"></div>
      <p class="words-text words-shares"></p>
      <p class="words-text words-pairs"></p>
      <p class="hint words-plane-unknown"></p>`;
  }

  protected override ready(): void {
    this.#stage = new PlotStage(this.find('[data-figure=plane]', HTMLElement));
    const box = this.find('#words-plane', HTMLTextAreaElement);
    box.addEventListener('input', () => this.change({ wordsPlane: typed(box.value) }));
    const set = this.find('#words-set', HTMLSelectElement);
    set.addEventListener('change', () => {
      const name = PLANE_SETS.find((each) => each === set.value);
      if (name) this.change({ wordsPlane: PLANES[name] });
      else box.focus();
    });
  }

  /** What is drawn; null: nothing yet. */
  get plane(): PlaneOfWords | null {
    return this.#plane;
  }

  update({ state, look }: View): void {
    const { plane: list } = shownWords(state);
    const box = this.find('#words-plane', HTMLTextAreaElement);
    if (document.activeElement !== box && box.value !== list) box.value = list;
    const { table } = this;
    if (!table || !this.changed(table, list, look)) return;
    const known = PLANE_SETS.find((set) => PLANES[set] === list);
    this.find('#words-set', HTMLSelectElement).value = known ?? 'own';
    const { plane, unknown } = planeOfWords(table, list, state.language);
    this.#plane = plane;
    const missing =
      unknown.length > 0 ? t('words.plane.unknown', { words: unknown.join(', ') }) : '';
    this.setText('.words-plane-unknown', missing);
    if (plane) this.#draw(plane, table.width);
    else this.#stage?.clear();
    if (!plane) this.setText('.words-shares', t('words.plane.few'));
    const joined = plane && plane.pairs.length > 1;
    this.setText(
      '.words-pairs',
      joined
        ? t('words.plane.pairs', {
            ...{ count: plane.pairs.length, width: table.width, value: three(plane.parallel) },
          })
        : '',
    );
  }

  #draw(plane: PlaneOfWords, width: number): void {
    const [first, second] = plane.shares;
    const count = plane.words.length;
    this.#stage?.show({
      height: PLANE_HEIGHT,
      label: t('words.plane.label', { count, words: plane.words.join(', '), width }),
      draw: (wide) => drawPlane('page', [wide, PLANE_HEIGHT], plane),
    });
    this.setText(
      '.words-shares',
      t('words.plane.shares', {
        ...{ count, both: percent(first + second) },
        ...{ first: percent(first), second: percent(second) },
      }),
    );
  }
}

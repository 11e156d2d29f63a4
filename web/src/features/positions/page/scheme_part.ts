import { paintRamp } from '../../../ui/matrix/legend';
import { SCHEMES } from '../../../domain/schemes';
import type { Cell } from '../../../ui/matrix/cell';
import formulas from '../formulas.json';
import type { SchemeMap } from '../worker/scheme_maps';
import { ALIBI_HEAD, ALIBI_HEADS, BUCKETS, SPAN } from '../shared/constants';
import type { Frame } from '../../../worker/protocol';
import type { Size } from '../../../domain/pixels';
import { t, type Key } from '../feature';
import { cividis } from '../../../domain/cividis';
import { palette } from '../../../ui/matrix/palette';
import { MatrixView, type MatrixModel } from '../../../ui/matrix/view';
import { digits } from '../../../ui/numbers';
import { LIMITS } from '../../../state/state';
import { positionsSeedOf } from '../state';
import { Panel, type View } from '../../panel';
import { radiosHtml } from '../../../ui/controls';

const HOME: Cell = { row: 30, col: 20 };

const choices = radiosHtml('scheme', SCHEMES, (scheme) => `scheme.${scheme}`);

/** Those whose map follows from numbers that are drawn. */
const DRAWN: ReadonlySet<string> = new Set(['learned', 'xl', 'rotary']);

/** What each way of saying where a token is adds to the score of a query and a key. */
export class SchemePart extends Panel {
  #asked = false;
  #map: SchemeMap | null = null;

  protected template(): string {
    return `
      <div class="scheme-picture">
        <p class="axes" data-t="scheme.axes"></p>
        <qkv-matrix></qkv-matrix>
        <p class="placeholder"></p>
        <div class="legend">
          <div class="legend-scale">
            <canvas width="256" height="1" aria-hidden="true"></canvas>
            <div class="ticks"><span></span><span></span><span></span></div>
          </div>
        </div>
        <p class="told"></p>
      </div>
      <div class="scheme-side">
        <h3 data-t="scheme.title"></h3>
        <p data-t="scheme.intro"></p>
        <fieldset class="segmented wrapped" data-control><legend class="visually-hidden" data-t="scheme.choose"></legend>${choices}</fieldset>
        <div class="formula scheme-formula"></div>
        <p class="how"></p>
        <p class="diagonals"></p>
        <p class="with-number drawn"><span class="hint"></span>
          <button type="button" class="button" data-control data-t="controls.newSeed"></button></p>
      </div>`;
  }

  protected override ready(): void {
    this.give('scheme', this.matrix.canvas);
    this.addEventListener('cell-shown', () => this.#tell());
    this.find('fieldset', HTMLElement).addEventListener('change', ({ target }) => {
      const scheme = SCHEMES.find((name) => (target as HTMLInputElement).value === name);
      if (scheme) this.change({ scheme });
    });
    this.find('.drawn button', HTMLElement).addEventListener('click', () => {
      const [, most] = LIMITS.positionsSeed;
      this.change({ positionsSeed: Math.floor(Math.random() * (most + 1)) });
    });
  }

  get matrix(): MatrixView {
    return this.find('qkv-matrix', MatrixView);
  }

  /** Asked for also before there is a map: this is how the worker learns that it is wanted. */
  override surfaces(): Record<string, Size> {
    return this.#asked ? { scheme: this.matrix.size } : {};
  }

  update({ state, frame, engine, look }: View): void {
    this.#asked = true;
    for (const radio of this.querySelectorAll<HTMLInputElement>('[name=scheme]')) {
      radio.checked = radio.value === state.scheme;
    }
    const map = frame?.positions?.scheme ?? this.#map;
    const seed = positionsSeedOf(state);
    if (!this.changed(map, frame?.positions?.slopes, seed, engine.kind, look)) return;
    const shown = map !== null && engine.kind !== 'failed';
    this.find('.placeholder', HTMLElement).hidden = shown;
    this.find('.legend', HTMLElement).hidden = !shown;
    this.setText('.placeholder', t(engine.kind === 'failed' ? 'map.failed' : 'map.loading'));
    this.#map = map;
    this.matrix.model = shown ? schemeModel(map, look) : null;
    if (!map) return;
    this.find('.scheme-formula', HTMLElement).innerHTML = formulas[map.scheme] ?? '';
    this.setText('.how', howOf(map, frame));
    this.setText('.diagonals', t('scheme.diagonals', { most: digits(map.alongDiagonals, 2) }));
    this.find('.drawn', HTMLElement).hidden = !DRAWN.has(map.scheme);
    this.setText('.drawn .hint', t('scheme.drawn', { seed }));
    this.#drawLegend(map);
    this.#tell();
  }

  #drawLegend({ scheme, range }: SchemeMap): void {
    const buckets = scheme === 't5';
    paintRamp(this, buckets ? cividis : palette().diverging);
    const last = BUCKETS - 1;
    const ticks = buckets ? [0, BUCKETS / 2, last] : [-range, 0, range];
    this.querySelectorAll<HTMLElement>('.ticks span').forEach((tick, i) => {
      const value = ticks[i] ?? NaN;
      tick.style.left = `${buckets ? (value / last) * 100 : i * 50}%`;
      tick.textContent = buckets ? String(value) : digits(value, 3);
    });
  }

  #tell(): void {
    const { shown } = this.matrix;
    this.setText('.told', this.#map && shown ? describeScheme(this.#map, shown) : '');
  }
}

function howOf({ scheme }: SchemeMap, frame: Frame | null): string {
  const slopes = Array.from(frame?.positions?.slopes ?? [], (slope) =>
    digits(slope, 3).replace(/\.?0+$/, ''),
  );
  const values = {
    head: ALIBI_HEAD + 1,
    heads: ALIBI_HEADS,
    slope: slopes[ALIBI_HEAD] ?? '',
    slopes: slopes.join(', '),
    buckets: BUCKETS,
  };
  return t(`scheme.${scheme}How`, values);
}

const labels = Array.from({ length: SPAN }, (_, i) => String(i));

function schemeModel(map: SchemeMap, look: number): MatrixModel {
  return {
    rows: SPAN,
    cols: SPAN,
    rowLabels: labels,
    colLabels: labels,
    rowHeight: 'square',
    look,
    name: t('scheme.name', { scheme: t(`scheme.${map.scheme}` satisfies Key), count: SPAN }),
    home: HOME,
    bracket: null,
    describe: (cell) => describeScheme(map, cell),
  };
}

function describeScheme({ scheme, values }: SchemeMap, { row, col }: Cell): string {
  const value = values[row * SPAN + col] ?? NaN;
  const names = { row, col, distance: String(row - col).replace('-', '−') };
  return scheme === 't5'
    ? t('scheme.bucket', { ...names, bucket: value })
    : t('scheme.cell', { ...names, value: digits(value) });
}

customElements.define('qkv-scheme', SchemePart);

import { html, nothing, type TemplateResult } from 'lit-html';
import { legendScale } from '../../../ui/lit/legends';
import { SCHEMES } from '../../../domain/schemes';
import type { Cell } from '../../../ui/matrix/cell';
import formulas from '../formulas.json';
import type { SchemeMap } from '../worker/scheme_maps';
import { ALIBI_HEAD, ALIBI_HEADS, BUCKETS, SPAN } from '../shared/constants';
import { t } from '../feature';
import { palette } from '../../../ui/matrix/palette';
import type { MatrixModel } from '../../../ui/matrix/view';
import { digits } from '../../../ui/numbers';
import { LIMITS } from '../../../state/state';
import { positionsSeedOf } from '../state';
import { MatrixPanel } from '../../lit_panel';
import type { View } from '../../panel';
import { button, radios } from '../../../ui/lit/controls';
import { formula } from '../../../ui/lit/texts';
import { bucketAt, schemeChoice, schemeDetails } from './scheme_details';

const HOME: Cell = { row: 30, col: 20 };

/** What each way of saying where a token is adds to the score of a query and a key. */
export class SchemePart extends MatrixPanel {
  protected readonly surface = 'scheme';
  #map: SchemeMap | null = null;
  #slopes: Float32Array | undefined;

  protected inputs({ state, frame, engine, look }: View): readonly unknown[] {
    this.#map = frame?.positions?.scheme ?? this.#map;
    this.#slopes = frame?.positions?.slopes ?? this.#slopes;
    return [this.#map, this.#slopes, state.scheme, positionsSeedOf(state), engine.kind, look];
  }

  protected render({ state, engine, look }: View): TemplateResult {
    const failed = engine.kind === 'failed';
    const map = failed ? null : this.#map;
    this.matrix.model = map && schemeModel(map, look);
    const cell = this.matrix.shown;
    const schemes = SCHEMES.map((scheme) => [scheme, t(`scheme.${scheme}`)] as const);
    return html`
      <div class="scheme-picture">
        <p class="axes">${t('scheme.axes')}</p>
        ${this.matrix}
        <p class="placeholder" ?hidden=${map !== null}>${t(failed ? 'map.failed' : 'map.loading')}</p>
        ${legend(map)}
        <p class="described">${map && cell && describeScheme(map, cell)}</p>
        ${map && cell && schemeDetails(map, cell)}
      </div>
      <div class="scheme-side">
        <h3>${t('scheme.title')}</h3>
        <p>${t('scheme.intro')}</p>
        <fieldset class="segmented wrapped" data-control><legend class="visually-hidden">${t('scheme.choose')}</legend>
          ${radios('scheme', schemes, state.scheme, (scheme) => this.change({ scheme }))}</fieldset>
        ${this.#map && this.#words(this.#map, positionsSeedOf(state))}
      </div>`;
  }

  #words(map: SchemeMap, seed: number): TemplateResult {
    const random = Object.keys(map.drawn).length > 0;
    return html`
      <div class="formula scheme-formula">${formula(formulas[map.scheme] ?? '')}</div>
      <p class="how">${howOf(map, this.#slopes)}</p>
      ${schemeChoice(map, (patch) => this.change(patch))}
      <p class="diagonals">${t('scheme.diagonals', { most: digits(map.alongDiagonals, 2) })}</p>
      ${
        random || map.t5
          ? html`<p class="with-number drawn">
              <span class="hint">${t(map.t5 ? 'scheme.t5Seed' : 'scheme.drawn', { seed })}</span>
              <span data-control>${button('', t('controls.newSeed'), () => this.#drawAgain())}</span></p>`
          : nothing
      }`;
  }

  #drawAgain(): void {
    const [, most] = LIMITS.positionsSeed;
    this.change({ positionsSeed: Math.floor(Math.random() * (most + 1)) });
  }
}

function legend(map: SchemeMap | null): TemplateResult {
  const ticks = map ? [-map.range, 0, map.range].map((tick) => digits(tick, 3)) : [];
  return html`<div class="legend" ?hidden=${map === null}>${legendScale(palette().diverging, ticks)}</div>`;
}

function howOf({ scheme }: SchemeMap, slopes: Float32Array | undefined): string {
  const written = Array.from(slopes ?? [], (slope) => digits(slope, 3).replace(/\.?0+$/, ''));
  const values = {
    head: ALIBI_HEAD + 1,
    heads: ALIBI_HEADS,
    slope: written[ALIBI_HEAD] ?? '',
    slopes: written.join(', '),
    buckets: BUCKETS,
  };
  return t(`scheme.${scheme}How`, values);
}

const labels = Array.from({ length: SPAN }, (_, i) => String(i));

/** The scheme, and what of it the map shows. */
function nameOf({ scheme, t5, xl }: SchemeMap): string {
  if (t5) return `${t('scheme.t5')}, ${t('scheme.t5Head', { head: t5.head + 1 })}`;
  return xl ? `${t('scheme.xl')}, ${t(`scheme.xlTerm.${xl.term}`)}` : t(`scheme.${scheme}`);
}

function schemeModel(map: SchemeMap, look: number): MatrixModel {
  return {
    rows: SPAN,
    cols: SPAN,
    rowLabels: labels,
    colLabels: labels,
    rowHeight: 'square',
    look,
    name: t('scheme.name', { scheme: nameOf(map), count: SPAN }),
    home: HOME,
    bracket: null,
    describe: (cell) => describeScheme(map, cell),
  };
}

function describeScheme({ values, t5 }: SchemeMap, cell: Cell): string {
  const { row, col } = cell;
  const value = digits(values[row * SPAN + col] ?? NaN);
  const names = { row, col, distance: String(row - col).replace('-', '−'), value };
  return t5
    ? t('scheme.bucket', { ...names, bucket: bucketAt(t5, cell) })
    : t('scheme.cell', names);
}

customElements.define('qkv-scheme', SchemePart);

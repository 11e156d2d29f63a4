import type { RowData } from '../../../domain/row_data';
import type { Frame } from '../../../worker/protocol';
import { MAX_MATRIX } from '../../../domain/layer';
import { svgElement } from '../../../ui/dom';
import { t } from '../texts';
import { keyTarget } from '../../../ui/matrix/keys';
import { digits } from '../../../ui/numbers';
import { isCurrent, Panel, type View } from '../../panel';

/** Of every row the strongest keys are drawn until they carry this share of it. */
const MASS = 0.7;

export interface Arc {
  readonly query: number;
  readonly key: number;
  readonly weight: number;
}

/** The strongest keys of a row that together carry MASS. */
function strongest(weights: ArrayLike<number>, query: number): Arc[] {
  const keys = Array.from(weights, (weight, key) => ({ query, key, weight }));
  keys.sort((a, b) => b.weight - a.weight);
  let carried = 0;
  const kept = keys.findIndex(({ weight }) => (carried += weight) >= MASS);
  return keys.slice(0, kept < 0 ? keys.length : kept + 1).filter(({ weight }) => weight > 0);
}

/** The arcs of a frame: of every row where they are few, of the query's otherwise. */
export function arcsOf(frame: Frame): Arc[] {
  const count = frame.request.layer.tokens.length;
  const { matrix, query } = frame;
  if (!matrix) return query ? strongest(query.weights, query.row) : [];
  return Array.from({ length: count }, (_, row) =>
    strongest(matrix.subarray(row * count, (row + 1) * count), row),
  ).flat();
}

const LINE = 34;
const TALLEST = 640;

export interface ArcLayout {
  readonly width: number;
  readonly height: number;
  readonly left: number;
  readonly right: number;
  readonly y: (index: number) => number;
  /** Every n-th label is written. */
  readonly step: number;
}

export function arcLayout(width: number, count: number): ArcLayout {
  const line = Math.min(LINE, TALLEST / count);
  const margin = Math.min(150, width * 0.3);
  return {
    width,
    height: Math.ceil(line * count) + 36,
    left: margin,
    right: width - margin,
    y: (index) => 30 + (index + 0.5) * line,
    step: Math.ceil(14 / line),
  };
}

export function arcPath({ left, right, y }: ArcLayout, { query, key }: Arc): string {
  const middle = (left + right) / 2;
  const [from, to] = [y(query), y(key)];
  return `M${left} ${from}C${middle} ${from} ${middle} ${to} ${right} ${to}`;
}

/** Queries on the left, keys on the right, and the strongest weights between them. */
export class ArcsPart extends Panel {
  #width = 0;
  readonly #resize = new ResizeObserver(([entry]) => {
    this.#width = Math.round(entry?.contentRect.width ?? 0);
    if (this.#last) this.update(this.#last);
  });
  #last: View | null = null;

  protected template(): string {
    return `
      <p class="axes" data-t="arcs.axes"></p>
      <div class="arcs-stage" role="slider" tabindex="0" aria-orientation="vertical" aria-valuemin="0"
        data-t-label="sentence.chips"></div>
      <p class="hint arcs-note"></p>`;
  }

  protected override ready(): void {
    this.#resize.observe(this);
    const stage = this.find('.arcs-stage', HTMLElement);
    stage.addEventListener('click', (event) => {
      const { query } = (event.target as SVGElement).dataset;
      if (query !== undefined) this.change({ query: Number(query) });
    });
    stage.addEventListener('keydown', (event) => this.#onKey(event));
  }

  /** From query to query, as the rows of the map. */
  #onKey(event: KeyboardEvent): void {
    const { query = 0, list } = this.#last ?? {};
    const rows = list?.tokens.length ?? 0;
    const ends: Readonly<Record<string, number>> = { Home: 0, End: rows - 1 };
    const to = ends[event.key] ?? keyTarget(event, { row: query, col: 0 }, { rows, cols: 1 })?.row;
    if (to === undefined || rows === 0) return;
    event.preventDefault();
    this.change({ query: to });
  }

  update(view: View): void {
    this.#last = view;
    const { state, query, look } = view;
    this.hidden = state.look !== 'arcs';
    if (this.hidden || !isCurrent(view) || this.#width === 0) return;
    const { frame } = view;
    if (!this.changed(frame.matrix, frame.query, query, look, this.#width, view.list)) return;
    const few = frame.matrix !== null;
    this.setText('.arcs-note', t(few ? 'arcs.note' : 'arcs.many', { most: MAX_MATRIX }));
    const { tokens } = frame.request.layer;
    const stage = this.find('.arcs-stage', HTMLElement);
    stage.setAttribute('aria-valuemax', String(Math.max(0, tokens.length - 1)));
    stage.setAttribute('aria-valuenow', String(query));
    stage.setAttribute('aria-valuetext', describe(frame.query, tokens));
    stage.replaceChildren(this.#draw(frame, query));
  }

  #draw(frame: Frame, query: number): SVGElement {
    const { tokens } = frame.request.layer;
    const layout = arcLayout(this.#width, tokens.length);
    const { width, height, left, right, y, step } = layout;
    const svg = svgElement('svg', {
      viewBox: `0 0 ${width} ${height}`,
      width,
      height,
      'aria-hidden': 'true',
    });
    const arcs = arcsOf(frame);
    arcs.sort((a, b) => Number(a.query === query) - Number(b.query === query));
    for (const arc of arcs) {
      const path = svgElement('path', {
        d: arcPath(layout, arc),
        class: arc.query === query ? 'arc described' : 'arc',
        'stroke-width': 0.5 + 5 * arc.weight,
        'stroke-opacity': arc.query === query ? 1 : 0.12 + 0.5 * arc.weight,
      });
      svg.append(path);
    }
    const label = (index: number, x: number, anchor: string, mark: string) => {
      const text = svgElement('text', { x, y: y(index) + 4.5, 'text-anchor': anchor, class: mark });
      text.textContent = tokens[index] ?? '';
      if (mark.startsWith('arc-query')) text.dataset['query'] = String(index);
      svg.append(text);
    };
    const read = new Map(arcs.filter((arc) => arc.query === query).map((a) => [a.key, a.weight]));
    tokens.forEach((_, index) => {
      const written = index % step === 0;
      const chosen = index === query;
      if (written || chosen)
        label(index, left - 8, 'end', `arc-query${chosen ? ' described' : ''}`);
      const isRead = read.has(index);
      if (written || isRead)
        label(index, right + 8, 'start', `arc-key${isRead ? ' described' : ''}`);
    });
    return svg;
  }
}

function describe(row: RowData | null, tokens: readonly string[]): string {
  if (!row) return '';
  const keys = strongest(row.weights, row.row).slice(0, 5);
  const list = keys.map(({ key, weight }) => `${tokens[key] ?? ''} ${digits(weight, 3)}`);
  return t('arcs.name', { query: tokens[row.row]!, list: list.join(t('page.comma')) });
}

customElements.define('qkv-arcs', ArcsPart);

import { html, nothing, type TemplateResult } from 'lit-html';
import type { CauseMap, CutHead, MapSite } from '../shared/protocol';
import { cellText, share } from './names';
import { t } from '../feature';

/** A cell by its row and its column. */
export type Cell = readonly [row: number, column: number];

interface MapOptions {
  readonly map: CauseMap;
  /** Tokens of the clean prompt, and the places at which the corrupt one has others. */
  readonly labels: readonly string[];
  readonly differs: ReadonlySet<number>;
  readonly cut: readonly CutHead[];
  /** The cell that is described, and what describes another. */
  readonly shown: Cell | null;
  readonly show: (cell: Cell) => void;
  readonly press: (head: CutHead) => void;
}

const STEPS: Readonly<Record<string, Cell>> = {
  ...{ ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] },
};

/** The cell to which a key leads; null: it is no key of the map. */
export function cellAfter({ key }: Pick<KeyboardEvent, 'key'>, at: Cell, size: Cell): Cell | null {
  const [row, column] = at;
  if (key === 'Home') return [row, 0];
  if (key === 'End') return [row, size[1] - 1];
  const step = STEPS[key];
  if (!step) return null;
  const within = (place: number, extent: number) => Math.min(extent - 1, Math.max(0, place));
  return [within(row + step[0], size[0]), within(column + step[1], size[1])];
}

const cellOf = (target: EventTarget | null): Cell | null => {
  const place = (target as Element | null)?.closest<HTMLElement>('[data-cell]')?.dataset['cell'];
  const [row, column] = place?.split('.').map(Number) ?? [];
  return row === undefined || column === undefined ? null : [row, column];
};

/** A map of causes: a table whose cells say in words what they are, by pointer and by keyboard. */
export function mapTable(of: MapOptions): TemplateResult {
  const { map, labels, differs, shown } = of;
  const { site, rows, columns, values } = map;
  const heads = Array.from({ length: columns }, (_, column) =>
    site === 'z' ? String(column) : (labels[column] ?? ''),
  );
  // Not pointerover, which also comes when the page scrolls under a pointer that rests: then the focus holds.
  const describe = (event: Event) => {
    const cell = cellOf(event.target);
    if (cell) of.show(cell);
  };
  const move = (event: KeyboardEvent) => {
    const at = cellOf(event.target);
    const next = at && cellAfter(event, at, [rows, columns]);
    if (!next) return;
    event.preventDefault();
    const table = event.currentTarget as HTMLElement;
    table.querySelector<HTMLElement>(`[data-cell="${next.join('.')}"]`)?.focus();
  };
  const [focused, other] = shown ?? [0, 0];
  const described =
    shown && cellText(site, [...shown, values[focused * columns + other] ?? NaN], labels);
  return html`
    <h4 id="microscope-${site}">${t(`microscope.map.${site}`)}</h4>
    <div class="microscope-scroll wide-table">
      <table class="microscope-map" role="grid" aria-labelledby="microscope-${site}" data-map=${site}
        @pointermove=${describe} @focusin=${describe} @keydown=${move}>
        <thead><tr><td></td>${heads.map((head, column) => html`<th scope="col" class=${site !== 'z' && differs.has(column) ? 'differs' : nothing}><bdi>${head}</bdi></th>`)}</tr></thead>
        <tbody>${Array.from({ length: rows }, (_, row) => {
          const cells = Array.from({ length: columns }, (_each, column) =>
            cellHtml(of, [row, column], row === focused && column === other),
          );
          return html`<tr><th scope="row">${row}</th>${cells}</tr>`;
        })}</tbody>
      </table>
    </div>
    <p class="microscope-described hint">${described ?? t(`microscope.hint.${site === 'z' ? 'heads' : 'cells'}`)}</p>`;
}

function cellHtml(of: MapOptions, cell: Cell, isFirst: boolean): TemplateResult {
  const { site, columns, values } = of.map;
  const [row, column] = cell;
  const value = values[row * columns + column] ?? NaN;
  const place = cell.join('.');
  const words = cellText(site, [row, column, value], of.labels);
  const shade = `--share: ${Math.round(100 * Math.min(1, Math.abs(value)))}%`;
  const sign = value < 0 ? 'less' : 'more';
  const tabindex = isFirst ? 0 : -1;
  if (site !== 'z') {
    return html`<td role="gridcell" class="microscope-cell" data-cell=${place} data-sign=${sign} tabindex=${tabindex} aria-label=${words} .style=${shade}></td>`;
  }
  const isCut = of.cut.some(([layer, head]) => layer === row && head === column);
  return html`<td role="gridcell"><button type="button" class="microscope-cell" data-cell=${place} data-sign=${sign} tabindex=${tabindex}
    aria-pressed=${isCut} aria-label=${words} .style=${shade} @click=${() => of.press([row, column])}>${share(value)}</button></td>`;
}

/** What a map is exported as. */
export const mapRows = (
  { site, rows, columns, values }: CauseMap,
  labels: readonly string[],
): (string | number)[][] => [
  [
    t(`microscope.map.${site satisfies MapSite}`),
    ...Array.from({ length: columns }, (_, column) =>
      site === 'z' ? String(column) : (labels[column] ?? ''),
    ),
  ],
  ...Array.from({ length: rows }, (_, row) => [
    t('microscope.layer', { layer: row }),
    ...values.subarray(row * columns, (row + 1) * columns),
  ]),
];

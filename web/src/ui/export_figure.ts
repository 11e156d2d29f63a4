/** A panel to take away: what it draws, what it says, and the numbers behind it. */
export interface Figure {
  /** Part of the file's name. */
  readonly name: string;
  readonly svg: Svg;
  /** A table with its heading. */
  readonly table: readonly (readonly (string | number)[])[];
  readonly data: object;
  /** In its place in JSON, where it is too much to be made for every picture. */
  readonly allData?: () => Promise<object>;
}

export interface Svg {
  readonly width: number;
  readonly height: number;
  /** What stands inside the element. */
  readonly body: string;
}

export const FORMATS = ['png', 'svg', 'csv', 'json'] as const;
export type Format = (typeof FORMATS)[number];

const TYPES: Readonly<Record<Format, string>> = {
  png: 'image/png',
  svg: 'image/svg+xml',
  csv: 'text/csv;charset=utf-8',
  json: 'application/json',
};

/** Twice the size: sharp on paper and on a projector. */
const PNG_SCALE = 2;

function escapeXml(text: string): string {
  return text
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;')
    .replace(/"/g, '&quot;')
    .replace(/[^\t\n\r -\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '\uFFFD');
}

export function text(
  x: number,
  y: number,
  content: string | number,
  attributes: Readonly<Record<string, string | number>> = {},
): string {
  const more = Object.entries(attributes).map(([name, value]) => ` ${name}="${value}"`);
  return `<text x="${x}" y="${y}"${more.join('')}>${escapeXml(String(content))}</text>`;
}

/** A file of its own: white paper, black ink, and the link that brings its state back. */
export function svgFile({ width, height, body }: Svg, link: string): string {
  const size = `width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`;
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" ${size} font-family="system-ui, sans-serif" font-size="13">` +
    `<metadata>${escapeXml(link)}</metadata><rect width="100%" height="100%" fill="#ffffff"/>${body}</svg>`
  );
}

/** What a spreadsheet would compute: tokens and answers are typed, and come in links of others. −3 and +0,25 are numbers. */
const isFormula = (value: string | number) =>
  typeof value === 'string' &&
  /^[=+\-@\t\r\n＝＋－＠]/.test(value) &&
  !/^[+-]?\d+([.,]\d+)?%?$/.test(value);

/** By RFC 4180, with the mark that makes spreadsheets read it as UTF-8, and another before what is no formula. */
function csvFile(table: Figure['table']): string {
  const cell = (value: string | number) => {
    const written = isFormula(value) ? `'${value}` : String(value);
    return /[",\r\n]/.test(written) ? `"${written.replace(/"/g, '""')}"` : written;
  };
  return `\uFEFF${table.map((row) => row.map(cell).join(',')).join('\r\n')}\r\n`;
}

/** Typed arrays as plain ones; what JSON has no number for, as words. */
function plain(_key: string, value: unknown): unknown {
  if (ArrayBuffer.isView(value)) return Array.from(value as unknown as ArrayLike<number>, finite);
  return typeof value === 'number' ? finite(value) : value;
}

const finite = (value: number) => (Number.isFinite(value) ? value : String(value));

async function pngFile(svg: Svg, link: string): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svgFile(svg, link))}`;
  await image.decode();
  const canvas = document.createElement('canvas');
  canvas.width = svg.width * PNG_SCALE;
  canvas.height = svg.height * PNG_SCALE;
  canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('no picture'))), 'image/png');
  });
}

async function fileOf(figure: Figure, format: Format, link: string): Promise<Blob> {
  const blob = (content: string) => new Blob([content], { type: TYPES[format] });
  if (format === 'png') return pngFile(figure.svg, link);
  if (format === 'svg') return blob(svgFile(figure.svg, link));
  if (format === 'csv') return blob(csvFile(figure.table));
  const data = (await figure.allData?.()) ?? figure.data;
  return blob(JSON.stringify({ link, ...data }, plain));
}

function giveAway(file: Blob, name: string): void {
  const url = URL.createObjectURL(file);
  const anchor = document.createElement('a');
  anchor.href = url;
  anchor.download = `qkv-${name}`;
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** Gives the reader a file. */
export async function save(figure: Figure, format: Format, link: string): Promise<void> {
  giveAway(await fileOf(figure, format, link), `${figure.name}.${format}`);
}

/** Gives the reader a table that belongs to no picture. */
export const saveTable = (name: string, table: Figure['table']): void =>
  giveAway(new Blob([csvFile(table)], { type: TYPES.csv }), `${name}.csv`);

/** A drawing and its height. */
export type Drawing = readonly [height: number, body: string];

/** Drawings one below the other from `top` on, with `gap` pixels after each, and where the last gap ends. */
export function stacked(
  drawings: readonly Drawing[],
  { left = 12, top = 0, gap = 12 }: { left?: number; top?: number; gap?: number } = {},
): { body: string; end: number } {
  let end = top;
  const placed = drawings.map(([height, body]) => {
    const group = `<g transform="translate(${left} ${end})">${body}</g>`;
    end += height + gap;
    return group;
  });
  return { body: placed.join(''), end };
}

/** The pixels of a canvas inside a drawing; for matrices too large to be drawn cell by cell. */
export function raster(
  canvas: HTMLCanvasElement,
  [x, y, width, height]: readonly [number, number, number, number],
): string {
  const copy = document.createElement('canvas'); // what the worker paints cannot be read in place
  copy.width = canvas.width;
  copy.height = canvas.height;
  copy.getContext('2d')?.drawImage(canvas, 0, 0);
  return `<image x="${x}" y="${y}" width="${width}" height="${height}" preserveAspectRatio="none" href="${copy.toDataURL()}"/>`;
}

/** A table as a drawing, for panels that have no other. */
export function tableSvg(table: Figure['table']): Svg {
  const line = 24;
  const body = table.map((row, i) => {
    const weight = i === 0 ? 700 : 400;
    const y = (i + 1) * line;
    return row.map((value, j) => text(16 + j * 220, y, value, { 'font-weight': weight })).join('');
  });
  const columns = Math.max(...table.map((row) => row.length));
  return { width: columns * 220 + 32, height: (table.length + 1) * line, body: body.join('') };
}

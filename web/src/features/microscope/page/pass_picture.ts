import { html, nothing, svg, type TemplateResult } from 'lit-html';
import { percent } from '../../../ui/numbers';
import { pagePen, type Mark } from '../../../ui/plot';
import { t } from '../feature';
import type { WholePass, Zoom } from '../shared/protocol';
import { signed } from './names';
import { arcBetween, passLayout, thickness, type PassLayout } from './pass_layout';
import { largestShare, lengthText, longestStream, streamsBefore, type PassRow } from './pass_rows';

/** The class of what is drawn by what it means. */
const mark = (of: Mark) => pagePen(of)['class'];

/** Weights below this are not drawn. */
const SEEN = 0.01;
/** A token is written with so many letters. */
const LETTERS = 10;
/** Height of the embedding or of the stream that comes in, of the stream that goes out, and of a token that may follow. */
const FOOT = 48;
const OUT = 52;
const LINE = 20;

interface Picture {
  readonly pass: WholePass;
  readonly zoom: Zoom;
  readonly rows: readonly PassRow[];
  readonly width: number;
  /** The row that the Tab key leads to. */
  readonly focused: number;
}

type Drawn = PassLayout & { readonly most: number; readonly longest: number };

const written = (label: string): string =>
  label.length > LETTERS ? `${label.slice(0, LETTERS - 1)}…` : label;

/** The streams of all tokens from one height up to another. */
function streams(
  { pass: { at } }: Picture,
  { x, longest }: Drawn,
  lengths: Float32Array,
  [low, high]: readonly [number, number],
): TemplateResult[] {
  return Array.from(lengths, (length, token) => {
    const name = token === at ? 'pass-stream chosen' : 'pass-stream';
    const d = `M${x(token).toFixed(1)} ${low.toFixed(1)}V${high.toFixed(1)}`;
    return svg`<path class=${name} d=${d} stroke-width=${thickness(length / longest)}/>`;
  });
}

/** What the token reads, from the streams below to its own. */
function arcs(
  { pass: { at } }: Picture,
  { x }: Drawn,
  weights: Float32Array,
  heights: readonly [number, number],
): TemplateResult[] {
  const seen = Array.from(weights.keys()).filter((key) => weights[key]! >= SEEN);
  return seen.map((key) => {
    const weight = weights[key]!;
    const opacity = Number((0.3 + 0.7 * weight).toFixed(2));
    return svg`<path class="pass-arc" data-key=${key} d=${arcBetween(x(key), x(at), heights)} stroke-width=${thickness(weight)} stroke-opacity=${opacity}/>`;
  });
}

const signOf = (value: number) => (value < 0 ? 'less' : 'more');

/** A square for each part of a layer, as full as it gives much. */
function squares(
  { parts, strongest }: PassRow,
  { side, sideWidth, most }: Drawn,
  y: number,
): TemplateResult[] {
  const pitch = Math.min(20, sideWidth / Math.max(1, parts.length));
  const size = Math.max(1, Math.min(15, pitch - 2));
  return parts.map((part, i) => {
    const { value } = part;
    const fill = Number(Math.sqrt(Math.abs(value) / most).toFixed(3));
    const name = part === strongest ? 'pass-square strongest' : 'pass-square';
    return svg`<rect class=${name} data-sign=${signOf(value)} x=${side + i * pitch} y=${y} width=${size} height=${size} rx=${part.head === null ? size / 2 : 2} fill-opacity=${fill}/>`;
  });
}

/** A bar about zero. */
function bar({ value }: PassRow, { side, sideWidth, most }: Drawn, y: number): TemplateResult {
  const half = sideWidth / 2;
  const width = (half * Math.abs(value)) / most;
  const from = side + half - (value < 0 ? width : 0);
  return svg`<path class=${mark('axis')} d=${`M${side + half} ${y - 2}v14`}/>
    <rect class="pass-bar" data-sign=${signOf(value)} x=${from} y=${y} width=${width} height="10"/>`;
}

const title = (x: number, y: number, words: string, end = false) =>
  svg`<text class=${mark('title')} x=${x} y=${y} text-anchor=${end ? 'end' : nothing}>${words}</text>`;
const note = (x: number, y: number, words: string, end = false) =>
  svg`<text class=${mark('label')} x=${x} y=${y} text-anchor=${end ? 'end' : nothing}>${words}</text>`;

/** The text beside a height: a name, what it gives, and a line below; with the spaces that part words where they are read out. */
const beside = ({ side, sideWidth }: Drawn, y: number, [name, value, more]: readonly string[]) =>
  svg`${title(side, y, `${name ?? ''} `)}${title(side + sideWidth, y, `${value ?? ''} `, true)}${note(side, y + 16, more ?? '')}`;

function rowOf(of: Picture, drawn: Drawn, row: PassRow, index: number): TemplateResult {
  const { top, row: height, side, sideWidth } = drawn;
  const y = top(index);
  const [low, high] = [y + height, y];
  const middle = (low + high) / 2;
  const end = side + sideWidth + 4;
  const isLayer = row.parts.length > 0;
  const content = svg`
    <rect class="pass-row" x="1" y=${y + 1} width=${end - 2} height=${height - 2} rx="4"/>
    ${streams(of, drawn, row.streams[0], [low, isLayer ? middle : high])}
    ${isLayer ? streams(of, drawn, row.streams[1], [middle, high]) : nothing}
    ${row.weights ? arcs(of, drawn, row.weights, [low - 1, isLayer ? middle : high + 8]) : nothing}
    ${isLayer ? nothing : svg`<circle class="pass-add" cx=${drawn.x(of.pass.at)} cy=${high + 8} r="5"/>`}
    ${beside(drawn, y + 17, [row.name, signed(row.value), row.note])}
    ${isLayer ? squares(row, drawn, y + 39) : bar(row, drawn, y + 40)}`;
  if (!row.opens) return svg`<g role="img" data-row=${index} aria-label=${row.says}>${content}</g>`;
  // It is called by what stands in it: the description has the rest.
  return svg`<g role="button" class="pass-opens" data-row=${index} tabindex=${index === of.focused ? 0 : -1} aria-label=${`${row.name} ${signed(row.value)} ${row.note}`}>${content}</g>`;
}

/** The tokens, below their columns; each chooses itself. */
function tokens({ pass: { labels, at } }: Picture, drawn: Drawn): TemplateResult[] {
  const { x, column, tokens: top, height, isUpright, step } = drawn;
  return labels.map((label, token) => {
    const isChosen = token === at;
    const isWritten = isChosen || (token % step === 0 && Math.abs(token - at) >= step);
    const place = isUpright
      ? `translate(${(x(token) + 4).toFixed(1)} ${top + 8}) rotate(-90)`
      : `translate(${x(token).toFixed(1)} ${top + 18})`;
    return svg`<g class=${isChosen ? 'pass-token chosen' : 'pass-token'} data-at=${token}>
      <rect x=${x(token) - column / 2} y=${top} width=${column} height=${height - top}/>
      ${isWritten ? svg`<text transform=${place} text-anchor=${isUpright ? 'end' : 'middle'}>${written(label)}</text>` : nothing}</g>`;
  });
}

/** The end of the whole pass: the last norm, and what may follow. */
function outcome(of: Picture, drawn: Drawn, head: number): TemplateResult {
  const { pass } = of;
  const { x, longest } = drawn;
  const middle = x(pass.at);
  const room = drawn.side - 160;
  const y = head - 26;
  const stream = pass.layers.at(-1)?.streams[pass.at] ?? 0;
  return svg`
    <path class="pass-stream chosen" d=${`M${middle.toFixed(1)} ${head}V${y + 6}`} stroke-width=${thickness(stream / longest)}/>
    <rect class="pass-norm" x=${middle - 7} y=${y - 6} width="14" height="12" rx="3"/>
    <path class="pass-stream chosen" d=${`M${middle.toFixed(1)} ${y - 6}V${y - 16}`} stroke-width="2"/>
    ${beside(drawn, y - 4, [t('microscope.pass.norm'), signed(pass.bias), t('microscope.pass.finalNote', { length: lengthText(pass.final) })])}
    ${beside(drawn, 16, [t('microscope.pass.logits'), signed(pass.total), t('microscope.pass.totalNote')])}
    ${pass.next.map(
      ({ label, probability }, i) => svg`
        <text class="pass-next" x="92" y=${16 + i * LINE} text-anchor="end">${written(label)}</text>
        <rect class=${mark('bar')} x="98" y=${6 + i * LINE} width=${Math.max(1, room * probability)} height="12" rx="2"/>
        ${note(102 + Math.max(1, room * probability), 16 + i * LINE, percent(probability))}`,
    )}`;
}

/** The pass as a drawing: the whole model, the parts of one layer, or one head. */
export function passPicture(of: Picture): TemplateResult {
  const { pass, zoom, rows, width } = of;
  const [layer] = zoom;
  const isWhole = layer === undefined;
  const head = isWhole ? pass.next.length * LINE + 56 : OUT;
  const layout = passLayout({ width, labels: pass.labels, rows: rows.length, head, foot: FOOT });
  const drawn = { ...layout, most: largestShare(pass), longest: longestStream(pass) };
  const { height, base, x, column } = layout;
  const before = isWhole ? pass.embed.streams : streamsBefore(pass, layer);
  const length = (lengths: Float32Array | undefined) =>
    t('microscope.pass.streamNote', { stream: lengthText(lengths?.[pass.at] ?? NaN) });
  const foot = isWhole
    ? [t('microscope.part.embed'), signed(pass.embed.value), length(before)]
    : [t('microscope.pass.before'), '', length(before)];
  const after = pass.layers[layer ?? 0]?.streams;
  return html`<svg class="pass-picture" width=${width} height=${height} viewBox=${`0 0 ${width} ${height}`} role="group" aria-label=${pictureName(of)}>
    <rect class="pass-column" x=${x(pass.at) - column / 2} y=${isWhole ? head - 40 : 0} width=${column} height=${height - (isWhole ? head - 40 : 0)} rx="3"/>
    ${isWhole ? outcome(of, drawn, head) : svg`${streams(of, drawn, after ?? before, [head, 6])}${beside(drawn, 20, [t('microscope.pass.after'), '', length(after)])}`}
    ${rows.map((row, index) => rowOf(of, drawn, row, index))}
    ${streams(of, drawn, before, [layout.tokens, base])}
    ${beside(drawn, base + 18, foot)}
    ${tokens(of, drawn)}
  </svg>`;
}

function pictureName({ pass: { at, labels, total }, zoom: [layer, head] }: Picture): string {
  const values = { at, token: labels[at] ?? '', total: signed(total), layer: layer ?? 0 };
  if (layer === undefined) return t('microscope.pass.wholeName', values);
  if (head === undefined) return t('microscope.pass.layerName', values);
  return t('microscope.pass.headName', { ...values, name: `${layer}.${head}` });
}

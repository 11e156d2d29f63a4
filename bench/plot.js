// The plot of a comparison: for every case, how many times as long as this library each peer takes.
// Plain SVG, with colours for light and dark pages.
import { milliseconds } from './report.js';

const left = 210;
const width = 880;
const rowHeight = 26;
const top = 64;
const plotWidth = width - left - 24;

// Distinguished by shape as well as by colour (Okabe and Ito's palette, which most eyes can separate).
const styles = [
  { light: '#0072b2', dark: '#56b4e9', path: 'M-5 0a5 5 0 1 0 10 0a5 5 0 1 0 -10 0' },
  { light: '#d55e00', dark: '#ff9248', path: 'M-5 -5h10v10h-10z' },
  { light: '#009e73', dark: '#2fd6a5', path: 'M0 -6l6 11h-12z' },
  { light: '#b0508a', dark: '#e99cc8', path: 'M0 -6l6 6l-6 6l-6 -6z' },
  { light: '#806000', dark: '#f0c020', path: 'M-5 -5l10 10M5 -5l-10 10', stroked: true },
];

export const escape = (text) => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

/** The colours of texts, grids and series (`m0`, `m1`, ...), for light and dark pages. */
export function css() {
  const rules = (theme) =>
    styles.map((style, i) => `.m${i}{fill:${style[theme]};stroke:${style[theme]}}`).join('');
  return [
    `text{font:12px system-ui,sans-serif;fill:#222}.grid{stroke:#ddd}.one{stroke:#222}`,
    `.back{fill:#fff}.open{fill:none!important;stroke-width:2}.bar{stroke-width:1}`,
    rules('light'),
    `@media(prefers-color-scheme:dark){text{fill:#ddd}.grid{stroke:#3a3a3a}.one{stroke:#ddd}`,
    `.back{fill:#161616}${rules('dark')}}`,
  ].join('');
}

/**
 * rows: [{ name, base, peers: { name: { median, quartiles } } }], `base` the median of `who` in
 * milliseconds. Times to the right of 1 are slower than `who`.
 */
export function plot({ title, who, rows, peers }) {
  const ratios = rows.flatMap(({ base, peers: times }) =>
    Object.values(times).map(({ median }) => median / base),
  );
  const low = Math.min(0.5, ...ratios) / 1.15;
  const high = Math.max(4, ...ratios) * 1.15;
  const scale = plotWidth / Math.log(high / low);
  const x = (ratio) => left + Math.log(Math.min(Math.max(ratio, low), high) / low) * scale;
  const height = top + rows.length * rowHeight + 40;
  const bottom = top + rows.length * rowHeight;

  const marks = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];
  const grid = marks
    .filter((mark) => mark >= low && mark <= high)
    .map((mark) => {
      const at = x(mark).toFixed(1);
      return (
        `<line class="${mark === 1 ? 'one' : 'grid'}" x1="${at}" x2="${at}" y1="${top - 8}" ` +
        `y2="${bottom}"/><text x="${at}" y="${bottom + 16}" text-anchor="middle">${mark}</text>`
      );
    });

  const symbol = (i, at, y) => {
    const { path, stroked } = styles[i % styles.length];
    const kind = `m${i % styles.length}${stroked ? ' open' : ''}`;
    return `<path class="${kind}" d="${path}" transform="translate(${at.toFixed(1)} ${y})"/>`;
  };

  const lines = rows.map(({ name, base, peers: times }, row) => {
    const y = top + row * rowHeight + rowHeight / 2;
    const points = Object.entries(times).map(([peer, { median, quartiles }]) => {
      const i = peers.indexOf(peer);
      const [from, to] = quartiles.map((time) => x(time / base).toFixed(1));
      const words = `${name}, ${peer}: ${milliseconds(median)} ms, ${who}: ${milliseconds(base)} ms`;
      return (
        `<g><title>${escape(words)}</title>` +
        `<line class="m${i % styles.length} bar" x1="${from}" x2="${to}" y1="${y}" y2="${y}"/>` +
        `${symbol(i, x(median / base), y)}</g>`
      );
    });
    return `<text x="${left - 12}" y="${y + 4}" text-anchor="end">${escape(name)}</text>${points.join('')}`;
  });

  const step = (width - 40) / Math.max(peers.length, 1);
  const legend = peers.map(
    (peer, i) =>
      `${symbol(i, 28 + i * step, 40)}<text x="${40 + i * step}" y="44">${escape(peer)}</text>`,
  );

  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${escape(title)}</title><style>${css()}</style>`,
    `<rect class="back" width="${width}" height="${height}"/>`,
    `<text x="20" y="20" style="font-weight:bold">${escape(title)}</text>`,
    ...legend,
    ...grid,
    ...lines,
    `<text x="${left}" y="${bottom + 34}">times as long as ${escape(who)} (1); to the right: slower</text>`,
    '</svg>',
    '',
  ].join('\n');
}

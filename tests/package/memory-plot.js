// npm run test:memory: ten thousand mixed calls in Node and in Chromium, the memory every hundred of them as
// numbers and as a picture in build/memory, and an error when something grows that should not.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { css, escape } from '../../bench/plot.js';
import { root } from '../support/js/files.js';
import { inChromium, inNode, leaksOf } from '../support/js/memory.js';

const [width, left, panel, gap, top] = [880, 180, 110, 34, 66];
const plotWidth = width - left - 24;

const number = (value) => value.toLocaleString('en');

/** What is drawn, from above: while things are held (m1) and after dispose() of all objects (m0). */
const panels = [
  ['memory of WebAssembly', 'bytes', ({ heapBytes }) => heapBytes, (s) => s.holding.heapBytes],
  ['in use', 'bytes', ({ usedBytes }) => usedBytes, (s) => s.holding.usedBytes],
  ['handles', '', ({ handles }) => handles, (s) => s.holding.handles],
  ['heap of JavaScript', 'bytes', ({ jsBytes }) => jsBytes],
];

function drawPanel([title, unit, after, during], row, samples) {
  const y0 = top + row * (panel + gap);
  const most = Math.max(1, ...samples.flatMap((s) => [after(s), during?.(s) ?? 0])) * 1.08;
  const x = (calls) => left + (calls / samples.at(-1).calls) * plotWidth;
  const y = (value) => y0 + panel - (value / most) * panel;
  const line = (value, style) => {
    const points = samples.map((s) => `${x(s.calls).toFixed(1)},${y(value(s)).toFixed(1)}`);
    return `<polyline class="${style} line" points="${points.join(' ')}"/>`;
  };
  const last = `${number(after(samples.at(-1)))} ${unit}`;
  return [
    `<text x="${left - 12}" y="${y0 + panel / 2 - 4}" text-anchor="end">${escape(title)}</text>`,
    `<text x="${left - 12}" y="${y0 + panel / 2 + 12}" text-anchor="end">${escape(last)}</text>`,
    `<line class="grid" x1="${left}" x2="${left + plotWidth}" y1="${y0}" y2="${y0}"/>`,
    `<line class="one" x1="${left}" x2="${left + plotWidth}" y1="${y0 + panel}" y2="${y0 + panel}"/>`,
    ...(during ? [line(during, 'm1')] : []),
    line(after, 'm0'),
  ];
}

/** The picture of a run. */
function draw({ host, variant, samples }) {
  const calls = number(samples.at(-1).calls);
  const title = `${calls} mixed calls, one in ten invalid: ${host}, ${variant}`;
  const bottom = top + panels.length * (panel + gap);
  const key = (style, at, text) =>
    `<line class="${style} line" x1="${at}" x2="${at + 24}" y1="40" y2="40"/><text x="${at + 32}" y="44">${text}</text>`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${bottom + 8}" role="img">`,
    `<title>${escape(title)}</title><style>${css()}.line{fill:none;stroke-width:1.5}</style>`,
    `<rect class="back" width="${width}" height="${bottom + 8}"/>`,
    `<text x="20" y="20" style="font-weight:bold">${escape(title)}</text>`,
    key('m1', left, 'while up to eight objects are in use'),
    key('m0', left + 300, 'after dispose() of all objects'),
    ...panels.flatMap((what, row) => drawPanel(what, row, samples)),
    `<text x="${left}" y="${bottom - 12}">0</text>`,
    `<text x="${left + plotWidth}" y="${bottom - 12}" text-anchor="end">${calls} calls</text>`,
    '</svg>',
    '',
  ].join('\n');
}

const folder = join(root, 'build/memory');
mkdirSync(folder, { recursive: true });
for (const [name, measure] of Object.entries({ node: inNode, chromium: inChromium })) {
  const run = await measure();
  writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(run, null, 1)}\n`);
  writeFileSync(join(folder, `${name}.svg`), draw(run));
  const { heapBytes, usedBytes, handles, jsBytes } = run.samples.at(-1);
  console.log(
    `${run.host}, ${run.variant}: ${number(heapBytes)} bytes of memory, ${number(usedBytes)} in use, ` +
      `${handles} handles, ${number(jsBytes)} bytes of JavaScript; build/memory/${name}.svg`,
  );
  for (const problem of leaksOf(run.samples)) {
    console.error(`${run.host}: ${problem}`);
    process.exitCode = 1;
  }
}

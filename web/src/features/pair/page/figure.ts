import { text, type Figure } from '../../../ui/export_figure';
import { four } from '../../../ui/numbers';
import { reachOf } from './product_bars';
import type { PairNumbers } from '../worker/frame_feature';

const LINE = 22;
const TOP = 60;
const COLUMNS = [16, 56, 136, 216, 440, 520, 600];
const BAR = { x: 290, width: 130 };
const OUTPUT_BAR = { x: 674, width: 130 };

function bar(
  y: number,
  value: number,
  [low, high]: readonly [number, number],
  at: typeof BAR,
): string {
  const unit = at.width / (high - low);
  const x = at.x + (Math.min(0, value) - low) * unit;
  const colour = value < 0 ? '#d55e00' : '#0072b2';
  return `<rect x="${x.toFixed(2)}" y="${y - 9}" width="${(Math.abs(value) * unit).toFixed(2)}" height="10" fill="${colour}"/>`;
}

/** Both tables of the panel side by side, and under them the way from the sum to the weight. */
export function pairFigure(pair: PairNumbers, tokens: readonly string[]): Figure {
  const { q, k, v, products, output, weight, dot, scale, score, temperature } = pair;
  const bold = { 'font-weight': 700 };
  const part = Array.from(v, (value) => weight * value);
  const [reach, outputReach] = [reachOf(products), reachOf(output)];
  const heads = ['c', 'q', 'k', 'q·k', 'v', 'p·v', 'o'];
  const rows = Array.from(q, (_, c) => {
    const y = TOP + (c + 1) * LINE;
    const numbers = [q, k, products, v, part, output].map((list) => four(list[c] ?? NaN));
    const cells = [String(c + 1), ...numbers].map((cell, i) => text(COLUMNS[i] ?? 0, y, cell));
    const bars = [
      bar(y, products[c] ?? 0, reach, BAR),
      bar(y, output[c] ?? 0, outputReach, OUTPUT_BAR),
    ];
    return [...cells, ...bars].join('');
  });
  const [query, key] = [tokens[pair.query] ?? '', tokens[pair.key] ?? ''];
  const end = TOP + (q.length + 2) * LINE;
  const steps = [
    `q·k = ${four(dot)}`,
    `s = ${four(dot)} · ${four(scale)} = ${four(score)}`,
    `p = ${four(weight)} (τ = ${temperature})`,
  ];
  const body = [
    text(16, 28, `${query} → ${key}`, bold),
    ...heads.map((name, i) => text(COLUMNS[i] ?? 0, TOP, name, bold)),
    ...rows,
    ...steps.map((step, i) => text(16, end + i * LINE, step, bold)),
  ];
  const table = Array.from(q, (value, c) =>
    [value, k[c], products[c], v[c], part[c], output[c]].map((each) => each ?? NaN),
  );
  return {
    name: 'pair',
    svg: { width: 830, height: end + steps.length * LINE, body: body.join('') },
    table: [
      ['component', 'q', 'k', 'q*k', 'v', 'weight*v', 'output'],
      ...table.map((line, c) => [c + 1, ...line]),
    ],
    data: { pair: { ...pair, tokens: { query, key } } },
  };
}

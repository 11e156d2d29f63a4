// @about web/src/features/cost/
// What the panel about cost writes of numbers and into links: units, shapes and results. tests/page/operated/cost-*.txt has it;
// QKV_REFRESH=1 writes it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { modules } from '../support/engine.js';
import { requireWritten } from '../support/operate.js';

const web = await modules(
  ...['shared/shape', 'shared/bench_result'].map((name) => `features/cost/${name}`),
  'ui/numbers',
);

test('cost: numbers have three digits and a prefix, and whole ones commas', () => {
  const units = [NaN, Infinity, 0, 0.4, 0.5, 1, 12.5, 998.6, 999.4, 999.5, 1000, 1234, 99949, 99950]
    .concat([
      999499, 999500, 999.5e3, 1e6, 1.005e9, 9.995e11, 1e12, 1e15, 999.4e15, 1e18, 1e21, 5e24,
    ])
    .map((value) => `${value}: "${web.withUnit(value, 'B')}"`);
  const whole = [0, 1, 12, 123, 1234, 12345, 123456, 1234567, 1e9].map(
    (value) => `${value}: ${JSON.stringify(web.whole(value))}`,
  );
  requireWritten('cost-numbers', ['=== units', ...units, '', ...whole]);
});

test('cost: rates are operations and bytes over time', () => {
  assert.equal(web.gigaflops(64, 2), (4 * 64 * 64 * 64) / 2e-3 / 1e9);
  assert.equal(web.gigabytes(64, 2), (2 * 64 * 8 * 64 * 4) / 2e-3 / 1e9);
});

// ---- links ----

test('cost: each size of a shape has limits, and whole numbers within them', () => {
  const shape = web.PRESETS.llama8;
  const others = Object.keys(web.SHAPE_LIMITS).flatMap((name) =>
    [-1e9, 0.4, 0.5, 0.6, 1.5, 2.4, 6.5, 1e9].map((value) => {
      const clean = web.cleanShape({ ...shape, [name]: value });
      return `${name} ${value}: ${web.writeShape(clean)}`;
    }),
  );
  const heads = [1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13].map((numKvHeads) => {
    return `12 heads, ${numKvHeads}: ${web.cleanShape({ ...shape, numHeads: 12, numKvHeads }).numKvHeads}`;
  });
  const read = [
    ...['1-1-1-1-1-1-1-1-1-1-', '1-1-1-1-1-1-1-1-1-1-g', '1-1-1-1-1-1-1-1-1-1-c'],
    ...['1-1-1-1-1-1-1-1-1-1-gc', '1-1-1-1-1-1-1-1-1-1-cg', '1-1-1-1-1-1-1-1-1-1-x'],
    ...[
      '1-1-1-1-1-1-1-1-1-1',
      '1-1-1-1-1-1-1-1-1-1--',
      '-1-1-1-1-1-1-1-1-1-c',
      '1-1-1-1-1-1-1-1-1--c',
    ],
    ...[
      '1-1-1-1-1-1-1-1-1-x-c',
      '1-1-1-1-1-1-1-1-1-1e999-c',
      '0-0-0-0-0-0-0-0-0-0-c',
      '2.5-1-1-1-1-1-1-1-1-.5-',
    ],
  ].map((raw) => {
    const shape = web.readShape(raw);
    return `${raw}: ${shape ? `${web.writeShape(shape)} ${shape.gated} ${shape.causal}` : shape}`;
  });
  const presets = web.PRESET_IDS.map((id) => `${id}: ${JSON.stringify(web.PRESETS[id])}`);
  const { gpt2 } = web.PRESETS;
  assert.ok(web.sameShape(gpt2, { ...gpt2 }) && !web.sameShape(gpt2, { ...gpt2, tables: 2 }));
  requireWritten('cost-shapes', [...others, '', ...heads, '', ...read, '', ...presets]);
});

test('cost: what a result in a link may say', () => {
  const row = '64.1.2.3.4.5';
  const read = [
    ...[
      `0.1.2_${row}`,
      `1.1.2_${row}`,
      `2.4.8_${row}`,
      `3.0.0_${row}`,
      `4.1.2_${row}`,
      `-1.1.2_${row}`,
    ],
    ...[`_${row}`, `1_${row}`, `1.7_${row}`, `1.1.2.9_${row}`, '1.1.2', '1.1.2_', `1.1.2_${row}_`],
    ...[
      '64.0.2.3.4.5',
      '64.1.0.3.4.5',
      '64.1.2.0.0.5',
      '64.1.2.3.4.0',
      '64.1.2.3.4',
      '64.1.2.3.4.5.6',
    ],
    ...[
      '64.1e12.2.3.4.5',
      '64.1000000000001.2.3.4.5',
      '64.1.2.1e12.1e12.5',
      '64.1.2.3.1e13.5',
      '64.1.x.3.4.5',
    ],
    ...[
      '4096.1.2.3.4.5',
      '8192.1.2.3.4.5',
      '32.1.2.3.4.5',
      '65.1.2.3.4.5',
      '64.1.2.3.4.5_128.5.4.3.2.1',
    ],
    ...[
      '64.1.2.3.4.5_64.1.2.3.4.5',
      '128.1.2.3.4.5_64.1.2.3.4.5',
      '64.1.2.3.4.5_128.1.2.3.4.5_256.9.9.9.9.9',
    ],
    ...['64.1.2.3.4.5_63.1.2.3.4.5', '64.-1.2.3.4.5', '64.1.2.3.4.5_128.1'],
  ].map((raw) => (/^(-?\d?\.\d|_|1_|1\.)/.test(raw) && !/^64/.test(raw) ? raw : `1.1.2_${raw}`));
  const written = [1e-9, 1e-5, 1.4e-5, 0.012344, 0.012346, 1.2345678, 1234.5678, 1e7].map((ms) => {
    const one = {
      tokens: 64,
      storedMs: ms,
      streamingMs: 1,
      decodeMs: 2,
      storedBytes: 0,
      streamingBytes: 1,
    };
    return `${ms}: ${web.writeResult({ variant: 'simd-threads', threads: 4, cores: 8, rows: [one] })}`;
  });
  requireWritten('cost-results', [
    ...read.map((raw) => `${raw}: ${JSON.stringify(web.readResult(raw)) ?? 'nothing'}`),
    ...['', ...written],
  ]);
});

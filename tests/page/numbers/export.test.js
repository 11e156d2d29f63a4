// The files that panels give, in Node: every column of every table under its heading, and the link in each file.
import assert from 'node:assert/strict';
import { resolveObjectURL } from 'node:buffer';
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { openWindow } from '../support/window.js';

openWindow();
HTMLCanvasElement.prototype.toDataURL = () => 'data:image/png;base64,AAAA';
/** The files that were given, as { name, blob }. */
const given = [];
HTMLAnchorElement.prototype.click = function () {
  given.push({ name: this.download, blob: resolveObjectURL(this.href) });
};

const { modules, resultOf, startEngine } = await import('../support/engine.js');
const engine = await startEngine();
const { qkv, report, tensors } = engine;
/** The frame as the page has it, which knows what it answers. */
const asked = (patch) => ({ ...engine.ask(patch), request: engine.request() });
const out = await modules(
  ...['ui/export_figure', 'ui/heatmap_svg', 'i18n/i18n'],
  ...['map', 'pair', 'masks', 'positions', 'checks', 'row', 'scale', 'temperature'].map(
    (name) => `features/${name}/page/figure`,
  ),
);
const canvas = Object.assign(document.createElement('canvas'), { width: 4, height: 4 });
const LINK = 'https://page.example/?a=1&b=<2>#v=1&p=map';

/** What the function of the table's heading says, for each of its rows. */
function expectColumns(table, rows, columns) {
  const [heading, ...lines] = table;
  assert.deepEqual(
    heading,
    Object.keys(columns).map((name) => name.replace(/ \(\d\)$/, '')),
  );
  assert.equal(lines.length, rows.length);
  lines.forEach((line, i) => {
    const wanted = Object.values(columns).map((column) => column(rows[i], i));
    assert.deepEqual(line, wanted, `line ${i} under ${heading}`);
  });
}

describe('export: files', () => {
  const figure = {
    name: 'row',
    svg: { width: 40, height: 30, body: '<path d="M0 0"/>' },
    table: [
      ['a "b"', 'c,d'],
      ['e\nf', -0.25],
    ],
    data: { numbers: Float32Array.of(1.5, NaN, -Infinity), one: Infinity, name: 'n', none: null },
  };
  const take = async (format, of = figure) => {
    given.length = 0;
    await out.save(of, format, LINK);
    assert.equal(given.length, 1);
    assert.equal(given[0].name, `qkv-row.${format}`);
    const { blob } = given[0];
    return { type: blob.type, bytes: Buffer.from(await blob.arrayBuffer()) };
  };

  test('CSV is quoted as RFC 4180 has it, and marked as UTF-8', async () => {
    const { type, bytes } = await take('csv');
    assert.match(type, /^text\/csv;\s*charset=utf-8$/);
    assert.deepEqual([...bytes.subarray(0, 3)], [0xef, 0xbb, 0xbf]);
    assert.equal(bytes.subarray(3).toString(), '"a ""b""","c,d"\r\n"e\nf",-0.25\r\n');
  });

  test('CSV has no formulas: what begins as one has an apostrophe before it, and numbers are numbers', async () => {
    const table = [['=1+1', '+a', '-b', '@c', '\t=d', 'e=1', '', '−1', -1, '"=f']];
    const { bytes } = await take('csv', { ...figure, table });
    assert.equal(bytes.subarray(3).toString(), `'=1+1,'+a,'-b,'@c,'\t=d,e=1,,−1,-1,"""=f"\r\n`);
  });

  test('SVG has its size, its link, and nothing that breaks XML', async () => {
    const { type, bytes } = await take('svg');
    assert.equal(type, 'image/svg+xml');
    const text = bytes.toString();
    assert.match(text, /^<svg [^>]*width="40" height="30" viewBox="0 0 40 30"/);
    assert.ok(text.includes(figure.svg.body));
    const [, link] = /<metadata>(.*)<\/metadata>/.exec(text);
    const plain = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"' };
    assert.equal(
      link.replace(/&\w+;/g, (name) => plain[name]),
      LINK,
    );
    assert.ok(!/[<>]/.test(link));
  });

  test('JSON has the link and every number, those that JSON lacks as words', async () => {
    const { type, bytes } = await take('json');
    assert.equal(type, 'application/json');
    assert.deepEqual(JSON.parse(bytes.toString()), {
      link: LINK,
      numbers: [1.5, 'NaN', '-Infinity'],
      one: 'Infinity',
      name: 'n',
      none: null,
    });
  });
});

describe('export: the tables of the panels', () => {
  test('map: the weights under their keys; of two heads the shown less the other', () => {
    for (const patch of [{}, { other: 3 }]) {
      const frame = asked({
        text: 'one two three',
        mask: 'none',
        source: 'random',
        head: 1,
        ...patch,
      });
      const all = tensors();
      const view = { frame, state: { look: 'arcs' } };
      const { name, table, data } = out.mapFigure(view, all, canvas);
      assert.equal(name, 'map');
      assert.deepEqual(table[0], ['', 'one', 'two', 'three']);
      const of = (head, at) => all.heads[head].weights[at];
      ['one', 'two', 'three'].forEach((token, row) => {
        const wanted = [0, 1, 2].map((col) => {
          const at = row * 3 + col;
          return patch.other ? Math.fround(of(1, at) - of(3, at)) : of(1, at);
        });
        assert.deepEqual(table[row + 1], [token, ...wanted]);
      });
      assert.equal(data.heads[1].weights, all.heads[1].weights);
    }
  });

  test('map: a cell of its colour for every weight, and hatching where it is masked', () => {
    const frame = asked({ text: 'one two three', source: 'random', show: 'sqrt', mask: 'causal' });
    const all = tensors();
    const view = { frame, state: { look: 'map' } };
    const { svg } = out.mapFigure(view, all, canvas);
    const cells = [...svg.body.matchAll(/<rect x="(\d+)" y="(\d+)" [^>]*fill="([^"]*)"/g)];
    assert.equal(cells.length, 9);
    const [x0, y0] = cells[0].slice(1, 3).map(Number);
    const side = Number(cells[1][1]) - x0;
    const colour = out.colours('sqrt', 1);
    cells.forEach(([, x, y, fill], at) => {
      const [row, col] = [Math.floor(at / 3), at % 3];
      assert.deepEqual([Number(x), Number(y)], [x0 + col * side, y0 + row * side]);
      const wanted = col > row ? 'url(#masked)' : colour(all.heads[0].weights[at]);
      assert.equal(fill, wanted, `row ${row}, col ${col}`);
    });
  });

  test('map: scores where scores are shown, masked ones as -Infinity', () => {
    const frame = asked({ text: 'one two', source: 'random', show: 'scores', mask: 'causal' });
    const all = tensors();
    const { table } = out.mapFigure({ frame, state: { look: 'map' } }, all, canvas);
    const { scores } = all.heads[0];
    assert.equal(scores[1], -Infinity);
    assert.deepEqual(table.slice(1), [['one', scores[0], -Infinity], ['two', scores[2], scores[3]]]); // prettier-ignore
  });

  test('masks: the weights under the mask that is drawn', () => {
    const drawn = { maskKind: 'window', maskSize: 2 };
    const frame = asked({ text: 'one two three', source: 'random', head: 2, ...drawn });
    const { masks } = frame;
    const { table, svg } = out.masksFigure(frame, masks, canvas);
    assert.deepEqual(table[0], ['', 'one', 'two', 'three']);
    for (let row = 0; row < 3; row++) {
      assert.deepEqual(table[row + 1].slice(1), [...masks.weights.slice(row * 3, row * 3 + 3)]);
    }
    assert.equal(
      svg.body.match(/fill="url\(#masked\)"/g).length,
      9 - masks.mask.reduce((a, b) => a + b),
    );
  });

  test('pair: every component with its products, and what it adds to the output', () => {
    const { pair } = asked({ query: 7, temperature: 2 });
    const tokens = 'The cat sat on the mat because it'.split(' ');
    const { table, data } = out.pairFigure(pair, tokens);
    expectColumns(table, [...pair.q.keys()], {
      component: (c) => c + 1,
      q: (c) => pair.q[c],
      k: (c) => pair.k[c],
      'q*k': (c) => pair.q[c] * pair.k[c],
      v: (c) => pair.v[c],
      'weight*v': (c) => pair.weight * pair.v[c],
      output: (c) => pair.output[c],
    });
    assert.deepEqual(data.pair.tokens, { query: 'it', key: 'cat' });
  });

  test('row: every step of every key, and the output', () => {
    for (const patch of [{ rowMasked: 2 }, { rowQuery: 2, rowMax: false, rowScale: 400 }]) {
      const { row } = asked(patch);
      const { table } = out.rowFigure(row);
      const { k, v } = row.request.numbers;
      const pair = (of, j) => `${of[2 * j]} ${of[2 * j + 1]}`;
      const wanted = {
        step: ['key 1', 'key 2', 'key 3'],
        k: [0, 1, 2].map((j) => pair(k, j)),
        q·k: [...row.products],
        '× scale': [...row.scaled],
        '+ mask': [...row.masked],
        exp: [...row.exps],
        weight: [...(patch.rowMax === false ? row.naive : row.weights)],
        v: [0, 1, 2].map((j) => pair(v, j)),
        output: [...(patch.rowMax === false ? row.naiveOutput : row.output)],
      };
      assert.deepEqual(Object.fromEntries(table.map(([name, ...line]) => [name, line])), wanted);
    }
  });

  test('temperature: each curve in its column', () => {
    const frame = asked({ source: 'random', head: 1, temperature: 0.7 });
    const study = resultOf(engine.web.temperatureStudy(qkv, frame.temperature.of));
    const { table } = out.temperatureFigure({ frame, point: frame.temperature, study });
    expectColumns(table, [...study.temperatures], {
      tau: (tau) => tau,
      H: (_, i) => study.entropy[i],
      'ln n - v/(2 tau^2)': (_, i) => study.theory[i],
      'largest weight': (_, i) => study.largest[i],
      '|J|_F': (_, i) => study.gradient[i],
    });
    const at = (i) => [study.entropy[i], study.theory[i], study.largest[i], study.gradient[i]];
    assert.equal(new Set(at(40)).size, 4, 'the columns differ');
  });

  test('scale: variances and entropies, without and with the division', () => {
    const study = resultOf(engine.web.widthStudy(qkv, 1));
    const { table, svg } = out.scaleFigure(study, { width: 64, divided: true, sample: 1 });
    expectColumns(table, study.results, {
      d: ({ width }) => width,
      'Var(q.k)': ({ plain }) => plain.variance,
      'H (1)': ({ plain }) => plain.entropy,
      'standard error (1)': ({ plain }) => plain.entropyError,
      'Var(q.k/sqrt d)': ({ scaled }) => scaled.variance,
      'H (2)': ({ scaled }) => scaled.entropy,
      'standard error (2)': ({ scaled }) => scaled.entropyError,
      'ln n - 1/2': () => Math.log(64) - 0.5,
    });
    assert.ok(svg.body.includes('d = 64, sample 1'));
  });

  test('positions: one row of the encoding for each position', () => {
    const frame = asked({ layout: 'concatenated' });
    const { table, data } = out.positionsFigure(frame.positions, canvas, canvas);
    const { length, data: encoding } = frame.positions.encoding;
    assert.deepEqual(table[0], ['p', ...Array.from({ length: 64 }, (_, c) => c)]);
    assert.equal(table.length, length + 1);
    for (const p of [0, 1, length - 1]) {
      assert.deepEqual(table[p + 1], [p, ...encoding.slice(p * 64, (p + 1) * 64)]);
    }
    assert.equal(data.shift, frame.positions.shift);
  });

  test('checks: every reading beside its name', () => {
    const frame = asked();
    const found = report();
    const values = [
      ...[found.check.weights, found.check.entropy, found.check.rowSum, found.timing.median],
      ...[found.memory.usedBytes, frame.info.isa, frame.info.version],
    ];
    // Of the page in Chinese the table is in Chinese.
    for (const [language, first] of [
      ['en', ['Reading', 'Value', 'Max error of a weight']],
      ['zh', ['读数', '数值', '权重的最大误差']],
    ]) {
      out.setLanguage(language);
      const { table } = out.readingsFigure(found, frame);
      const [heading, ...rows] = table;
      assert.deepEqual([...heading, rows[0][0]], first);
      assert.deepEqual(
        rows.map(([, value]) => value),
        values,
      );
    }
    out.setLanguage('en');
  });
});

/** A tag on each line, so that a person can read what has changed. */
const linesOf = (svg) => `${out.svgFile(svg, LINK).replaceAll('><', '>\n<')}\n`;

/** A drawing without its colours and numbers, and these by themselves. */
function partsOf(drawing) {
  const colours = [];
  const numbers = [];
  const words = drawing
    .replace(/#([0-9a-f]{6})\b/g, (_, hex) => {
      colours.push(...hex.match(/../g).map((channel) => parseInt(channel, 16)));
      return 'colour';
    })
    .replace(/-?\d+(?:\.\d+)?(?:e[-+]?\d+)?/g, (number) => {
      numbers.push(Number(number));
      return 'number';
    });
  return { words, colours, numbers };
}

/**
 * Holds a drawing to the file of this name in tests/page/drawings, which QKV_REFRESH=1 writes. Places and colours follow
 * from what the engine computes, whose builds differ in the last bits: they may differ by what rounding makes of those.
 */
function expectKept(name, { svg }) {
  assert.doesNotMatch(svg.body, /\[[qkvop]\|/, 'the marks of texts are no letters of a picture');
  const file = new URL(`../drawings/${name}.svg`, import.meta.url);
  if (process.env.QKV_REFRESH) writeFileSync(file, linesOf(svg));
  const [now, kept] = [linesOf(svg), readFileSync(file, 'utf8')].map(partsOf);
  assert.equal(now.words, kept.words);
  for (const [what, most] of Object.entries({ colours: 1, numbers: 0.02 })) {
    kept[what].forEach((was, i) => {
      assert.ok(Math.abs(now[what][i] - was) <= most, `${what} ${i}: ${now[what][i]}, was ${was}`);
    });
  }
}

describe('export: drawings are as they are kept', () => {
  // A word that is longer than either side of the map has room for.
  const words = { text: 'one two incomprehensibilities', source: 'random' };
  for (const look of ['map', 'arcs']) {
    test(look, () => {
      const frame = asked({ ...words, mask: 'causal', head: 1 });
      expectKept(look, out.mapFigure({ state: { look }, frame }, tensors(), canvas));
    });
  }
  test('masks', () => {
    const frame = asked({ ...words, head: 2, maskKind: 'window', maskSize: 2 });
    expectKept('masks', out.masksFigure(frame, frame.masks, canvas));
  });
  test('pair', () => {
    expectKept('pair', out.pairFigure(asked({ query: 7 }).pair, words.text.split(' ')));
  });
  test('row', () => {
    expectKept('row', out.rowFigure(asked({ rowMasked: 2 }).row));
  });
  test('temperature', () => {
    const frame = asked({ source: 'random', head: 1, temperature: 0.7 });
    const study = resultOf(engine.web.temperatureStudy(qkv, frame.temperature.of));
    const point = frame.temperature;
    expectKept('temperature', out.temperatureFigure({ frame, point, study }));
  });
  test('scale', () => {
    const study = resultOf(engine.web.widthStudy(qkv, 1));
    expectKept('scale', out.scaleFigure(study, { width: 64, divided: true, sample: 1 }));
  });
  test('positions', () => {
    expectKept('positions', out.positionsFigure(asked({}).positions, canvas, canvas));
  });
});

// The panel about positions, in Chromium: rotations, what float32 does to angles, six schemes, q and k turned.
import assert from 'node:assert/strict';
import { colourOf, dModel, positional } from './support/oracle.js';
import { panelTests, takeAll } from './support/panel.js';
import * as support from './support/page.js';

const { nextFrame, pixelsAt, readNumber, set, settle, snapshot, visit } = support;
const { pageTest } = support.useSite();

const PAIRS = dModel / 2;
const SPAN = 48;
const frequency = (pair) => 10000 ** ((-2 * pair) / dModel);

/** Brings the panel onto the screen and waits for its numbers. */
async function open(page) {
  await visit(page, 'positions');
  await page.waitForFunction(() => window.__qkv.snapshot().frame?.positions);
  await settle(page);
}

const positionsOf = async (page) => (await snapshot(page)).frame.positions;

/** (sine, cosine) of a pair in float64, and by the naive way: each step rounded to float32. */
const exactPair = (p, pair) => [Math.sin(p * frequency(pair)), Math.cos(p * frequency(pair))];
function naivePair(p, pair) {
  const angle = Math.fround(Math.fround(p) * Math.fround(frequency(pair)));
  return [Math.fround(Math.sin(angle)), Math.fround(Math.cos(angle))];
}

/** The largest |PE(p + k) - M_k PE(p)| when PE is formed so; M_k is exact here. */
function residualOf(pairOf, p, k) {
  let most = 0;
  for (let pair = 0; pair < PAIRS; pair++) {
    const [sine, cosine] = pairOf(p, pair);
    const [s, c] = exactPair(k, pair);
    const [toSine, toCosine] = pairOf(p + k, pair);
    most = Math.max(most, Math.abs(toSine - c * sine - s * cosine));
    most = Math.max(most, Math.abs(toCosine + s * sine - c * cosine));
  }
  return most;
}

pageTest('one position, one distance: both places, and both residuals', {}, async (page) => {
  await open(page);
  for (const [position, shift] of [
    [0, 0],
    [10, 37],
    [4096, 37],
    [65536, 128],
  ]) {
    await set(page, { position, shift });
    const { place } = await positionsOf(page);
    for (let c = 0; c < dModel; c++) {
      assert.ok(Math.abs(place.from[c] - positional(position, c)) <= 1.2e-7);
      assert.ok(Math.abs(place.to[c] - positional(position + shift, c)) <= 1.2e-7);
    }
    // The blocks of the core are rounded once, too: two products with an error of half of 2^-24.
    const wanted = residualOf(naivePair, position, shift);
    assert.ok(Math.abs(place.naive - wanted) <= 2 ** -23, `${place.naive}, not ${wanted}`);
    assert.ok(place.core <= 4 * 2 ** -24, `${place.core}`);
    const shown = async (name) => readNumber(await page.textContent(`.drift-now.${name} dd`));
    for (const name of ['naive', 'core']) {
      assert.ok(Math.abs((await shown(name)) - place[name]) <= 0.051 * place[name], name);
    }
  }
});

pageTest(
  'angles in float32 drift with the position, those of the core do not',
  {},
  async (page) => {
    await set(page, { shift: 37 });
    await open(page);
    const { drift } = await positionsOf(page);
    assert.equal(drift.k, 37);
    const at = (p) => drift.positions.indexOf(p);
    drift.positions.forEach((p, i) => {
      const wanted = Math.max(...[0, 1, 2, 3].map((more) => residualOf(naivePair, p + more, 37)));
      assert.ok(Math.abs(drift.naive[i] - wanted) <= 2 ** -23, `at ${p}`);
      assert.ok(drift.core[i] <= 4 * 2 ** -24 && drift.core[i] > 1e-8, `at ${p}: ${drift.core[i]}`);
    });
    assert.ok(drift.naive[at(1)] < 1e-5);
    assert.ok(drift.naive[at(4096)] > 1e-4 && drift.naive[at(4096)] < 1e-3);
    assert.ok(drift.naive[at(65536)] > 1e-3 && drift.naive[at(65536)] < 1e-2);
    // The curve of the picture: up for float32, level for the core.
    const curve = async (name) => {
      const path = await page.getAttribute(`.drift-stage .curve.${name}`, 'd');
      return path
        .slice(1)
        .split('L')
        .map((point) => point.split(' ').map(Number));
    };
    const [naive, core] = [await curve('naive'), await curve('core')];
    assert.equal(naive.length, drift.positions.length);
    assert.ok(naive[0][1] - naive.at(-1)[1] > 100 && Math.abs(core[0][1] - core.at(-1)[1]) < 15);
    const decade =
      (naive[at(4096)][1] - naive[at(65536)][1]) /
      Math.log10(drift.naive[at(65536)] / drift.naive[at(4096)]);
    assert.ok(Math.abs(decade - (250 - 46) / 6.6) < 0.5, 'a logarithmic axis');
    const spoken = await page.getAttribute('.drift-stage svg', 'aria-label');
    assert.match(spoken, /from p = 4096: \d/);
  },
);

pageTest('the dial, its text and the block of the chosen pair agree', {}, async (page) => {
  await open(page);
  for (const [layout, pair] of [
    ['interleaved', 3],
    ['concatenated', 3],
    ['concatenated', 31],
  ]) {
    await set(page, { layout, pair, position: 17, shift: 9 });
    const columns = layout === 'interleaved' ? [2 * pair, 2 * pair + 1] : [pair, pair + PAIRS];
    const { frame } = await snapshot(page);
    const { from, to } = frame.positions.place;
    columns.forEach((col, i) => {
      assert.ok(Math.abs(from[col] - exactPair(17, pair)[i]) <= 1.2e-7);
      assert.ok(Math.abs(to[col] - exactPair(26, pair)[i]) <= 1.2e-7);
      assert.ok(Math.abs(frame.encoding.data[17 * dModel + col] - from[col]) === 0);
    });
    assert.ok(frame.shift.residual <= 4 * 2 ** -24, 'in this layout, too');
    const numbers = async (name) =>
      (await page.locator(`[data-of=${name}] i`).allTextContents()).map(readNumber);
    const [s, c] = exactPair(9, pair);
    const near = (got, wanted) =>
      got.forEach((value, i) => assert.ok(Math.abs(value - wanted[i]) <= 1e-6, `${got}`));
    near(await numbers('block'), [c, s, -s, c]);
    near(await numbers('from'), exactPair(17, pair));
    near(await numbers('product'), exactPair(26, pair));
    near(await numbers('to'), exactPair(26, pair));
    assert.match(
      await page.textContent('qkv-rotation .caption'),
      new RegExp(`dimensions ${columns[0]} and ${columns[1]} at position 17`),
    );
    const hand = async (name) => {
      const line = page.locator(`.dial-large .hand-${name}`);
      return [Number(await line.getAttribute('x2')), -Number(await line.getAttribute('y2'))];
    };
    near(
      await hand('from'),
      exactPair(17, pair).map((v) => Number(v.toFixed(4))),
    );
    near(
      await hand('to'),
      exactPair(26, pair).map((v) => Number(v.toFixed(4))),
    );
    const text = await page.textContent('.dial-text');
    const angle = readNumber(/k·ω = (\S+) rad/.exec(text)[1]);
    assert.ok(Math.abs(angle / (9 * frequency(pair)) - 1) < 1e-3, text);
  }
});

pageTest('dials turn by hand, sliders by keys', {}, async (page) => {
  await set(page, { pair: 4, position: 10, shift: 5 });
  await open(page);
  const large = page.locator('.dial-large svg');
  await large.scrollIntoViewIfNeeded();
  const box = await large.boundingBox();
  const at = (angle) => [
    box.x + box.width / 2 + Math.sin(angle) * box.width * 0.3,
    box.y + box.height / 2 - Math.cos(angle) * box.height * 0.3,
  ];
  const drag = async (from, by) => {
    await page.mouse.move(...at(from));
    await page.mouse.down();
    for (let i = 1; i <= 8; i++) await page.mouse.move(...at(from + (by * i) / 8));
    await page.mouse.up();
    await settle(page);
    const { position, shift } = (await snapshot(page)).state;
    return { position, shift };
  };
  const w = frequency(4);
  assert.deepEqual(await drag(10 * w, 6 * w), { position: 16, shift: 5 });
  assert.deepEqual(await drag(21 * w, 25 * w), { position: 16, shift: 30 }, 'more than one turn');
  assert.deepEqual(await drag(16 * w, -30 * w), { position: 0, shift: 30 }, 'not below 0');
  await page.locator('.dial').nth(9).click();
  await settle(page);
  assert.equal((await snapshot(page)).state.pair, 9);
  await page.keyboard.press('ArrowRight');
  await settle(page);
  assert.equal((await snapshot(page)).state.pair, 10);
  await page.focus('#position');
  for (let p = 1; p <= 3; p++) {
    await page.keyboard.press('ArrowRight');
    await settle(page);
    assert.equal((await snapshot(page)).state.position, p, 'every key moves it');
  }
  await page.keyboard.press('End');
  await settle(page);
  assert.equal((await snapshot(page)).state.position, 65535);
  assert.equal(await page.getAttribute('#position', 'aria-valuetext'), 'p = 65535');
  await page.fill('#position-number', '999999');
  await page.keyboard.press('Enter');
  await settle(page);
  assert.equal((await snapshot(page)).state.position, 65536);
  await page.waitForFunction(() => location.hash.includes('pp=65536'));
});

pageTest('a cell of the picture chooses position and pair', {}, async (page) => {
  await open(page);
  const plot = page.locator('qkv-encoding .matrix-plot');
  await plot.focus();
  await page.keyboard.press('Control+Home');
  await page.keyboard.press('ArrowDown');
  for (let i = 0; i < 7; i++) await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Enter');
  await settle(page);
  const { state } = await snapshot(page);
  assert.deepEqual([state.position, state.pair], [1, 3]);
});

pageTest('only what a slider moves is computed, and nothing off the screen', {}, async (page) => {
  const ran = async (patch) => {
    await set(page, patch);
    return (await snapshot(page)).frame.ran;
  };
  assert.ok(!(await ran({ scheme: 'alibi', position: 3 })).some((name) => name !== 'paint map'));
  await open(page);
  assert.deepEqual(await ran({ position: 4 }), ['place']);
  assert.deepEqual(await ran({ rotaryQ: 40 }), ['rotary']);
  assert.deepEqual(await ran({ scheme: 't5' }), ['scheme', 'paint scheme']);
  assert.deepEqual(await ran({ shift: 6 }), ['shift', 'place', 'drift']);
  assert.deepEqual(await ran({ pair: 6 }), []);
});

// ---- schemes ----

const map = (value) =>
  Array.from({ length: SPAN ** 2 }, (_, at) => value(Math.floor(at / SPAN), at % SPAN));

const rowOf = (data, i) => data.slice(i * dModel, (i + 1) * dModel);
const dot = (a, b) => a.reduce((sum, value, c) => sum + value * b[c], 0);

/** The bucket of a key `distance` after its query: 32 buckets, half for keys after it, up to 128. */
function bucketOf(distance) {
  const far = Math.abs(distance);
  const side = distance > 0 ? 16 : 0;
  if (far < 8) return side + far;
  return side + Math.min(15, 8 + Math.floor((Math.log(far / 8) / Math.log(128 / 8)) * 8));
}

/** R_p x in float64; pairs side by side, or in halves. */
function turned(x, p, layout) {
  const y = [...x];
  for (let i = 0; i < PAIRS; i++) {
    const [a, b] = layout === 'interleaved' ? [2 * i, 2 * i + 1] : [i, i + PAIRS];
    const [s, c] = exactPair(p, i);
    y[a] = c * x[a] - s * x[b];
    y[b] = s * x[a] + c * x[b];
  }
  return y;
}

/** The map of each scheme from its formula, with what it may differ and whether only distance counts. */
const SCHEMES = {
  sinusoidal: {
    of: () => (i, j) =>
      Array.from({ length: PAIRS }, (_, c) => Math.cos((i - j) * frequency(c))).reduce(
        (a, b) => a + b,
      ),
    within: 1e-4,
    toeplitz: true,
  },
  learned: {
    of:
      ({ table }) =>
      (i, j) =>
        dot(rowOf(table, i), rowOf(table, j)),
    within: 1e-4,
    toeplitz: false,
  },
  t5: { of: () => (i, j) => bucketOf(j - i), within: 0, toeplitz: true },
  xl: {
    of:
      ({ q, v }) =>
      (i, j) => {
        const r = Array.from({ length: dModel }, (_, c) => {
          const angle = (i - j) * frequency(c >> 1);
          return c % 2 === 0 ? Math.sin(angle) : Math.cos(angle);
        });
        return (
          dot(
            rowOf(q, i).map((value, c) => value + v[c]),
            r,
          ) / 8
        );
      },
    within: 1e-5,
    toeplitz: false,
  },
  alibi: { of: () => (i, j) => -(2 ** -3) * Math.abs(i - j), within: 0, toeplitz: true },
  rotary: {
    of:
      ({ q, k }, layout) =>
      (i, j) =>
        dot(turned(q, i, layout), turned(k, j, layout)) / 8,
    within: 1e-5,
    toeplitz: true,
  },
};

for (const [scheme, { of, within, toeplitz }] of Object.entries(SCHEMES)) {
  pageTest(`the map of ${scheme} is its formula`, {}, async (page) => {
    await open(page);
    await page.locator(`[name=scheme][value=${scheme}] + span`).click();
    await settle(page);
    const check = async (layout) => {
      const { scheme: got } = await positionsOf(page);
      assert.equal(got.scheme, scheme);
      const wanted = map(of(got.drawn, layout));
      wanted.forEach((value, at) => {
        assert.ok(
          Math.abs(got.values[at] - value) <= within,
          `${at}: ${got.values[at]}, not ${value}`,
        );
      });
      assert.ok(new Set(wanted.map((value) => value.toFixed(4))).size > 10);
      assert.equal(got.alongDiagonals < 1e-4, toeplitz, `${got.alongDiagonals}`);
      const shown = readNumber(/: (.*)$/.exec(await page.textContent('.diagonals'))[1]);
      assert.ok(Math.abs(shown - got.alongDiagonals) <= 0.051 * got.alongDiagonals);
      return got;
    };
    const first = await check('interleaved');
    const random = Object.keys(first.drawn).length > 0;
    assert.equal(await page.isVisible('.drawn'), random, 'says where random numbers are');
    if (random) {
      assert.match(await page.textContent('.drawn'), /seed 7/);
      await set(page, { seed: 8 });
      assert.notDeepEqual((await check('interleaved')).drawn, first.drawn);
      await set(page, { seed: 7 });
      assert.deepEqual((await check('interleaved')).drawn, first.drawn);
    }
    if (scheme === 'rotary') {
      await set(page, { layout: 'concatenated' });
      assert.notDeepEqual((await check('concatenated')).values, first.values);
    }
    const told = await page.textContent('qkv-scheme .told');
    assert.match(told, /^i = 30, j = 20, i − j = 10: /);
    const value = first.values[30 * SPAN + 20];
    const read = readNumber(told.replace(/.*: (bucket )?/, ''));
    if (scheme !== 'rotary') assert.ok(Math.abs(read - value) <= 1e-5 * Math.abs(value), told);
  });
}

pageTest('buckets have colours in order, and a bias of 0 none', {}, async (page) => {
  await set(page, { scheme: 't5' });
  await open(page);
  await nextFrame(page);
  const cells = [0, 1, 9, 20, 40, 47].map((row) => ({ row, col: 20 }));
  const pixels = await pixelsAt(page, 'qkv-scheme', cells);
  cells.forEach(({ row, col }, i) => {
    const wanted = colourOf(bucketOf(col - row) / 31, 'weights');
    pixels[i][0].forEach((value, c) => assert.ok(Math.abs(value - wanted[c]) <= 1, `row ${row}`));
  });
  await set(page, { scheme: 'alibi' });
  await nextFrame(page);
  const [zero, far] = await pixelsAt(page, 'qkv-scheme', [
    { row: 5, col: 5 },
    { row: 0, col: 47 },
  ]);
  assert.deepEqual(zero[0], [0xf4, 0xf2, 0xec], 'neutral');
  assert.ok(far[0][2] > far[0][0] + 50, 'negative is blue');
  const slopes = [1, 2, 3, 4, 5, 6, 7, 8].map((k) => 2 ** -k);
  assert.deepEqual((await positionsOf(page)).slopes, slopes);
  assert.match(await page.textContent('.scheme-side .how'), /head 3 of 8, m = 0\.125/);
});

pageTest('the keyboard walks the map of a scheme', {}, async (page) => {
  await set(page, { scheme: 't5' });
  await open(page);
  await page.locator('qkv-scheme .matrix-plot').focus();
  await page.keyboard.press('Control+Home');
  await page.keyboard.press('ArrowRight');
  await page.waitForFunction(() =>
    document
      .querySelector('qkv-scheme .matrix-stage ~ [role=status]')
      .textContent.includes('i = 0, j = 1, i − j = −1: bucket 17'),
  );
});

pageTest('q at m and k at n: the distance alone decides', {}, async (page) => {
  await open(page);
  for (const layout of ['interleaved', 'concatenated']) {
    for (const [rotaryQ, rotaryK] of [
      [12, 5],
      [0, 300],
      [4096, 4089],
    ]) {
      await set(page, { layout, rotaryQ, rotaryK });
      const { rotary } = await positionsOf(page);
      const wanted = dot(turned(rotary.q, rotaryQ, layout), turned(rotary.k, rotaryK, layout)) / 8;
      for (const name of ['score', 'apart', 'exact']) {
        assert.ok(
          Math.abs(rotary[name] - wanted) < 2e-6,
          `${name}: ${rotary[name]}, not ${wanted}`,
        );
      }
      assert.ok(Math.abs(rotary.exact - wanted) < 1e-12, 'in float64');
      const shown = async (row) => readNumber(await page.textContent(`[data-rotary=${row}]`));
      assert.ok(Math.abs((await shown('score')) - rotary.score) < 1e-6);
      const difference = Math.abs(rotary.score - rotary.apart);
      assert.ok(Math.abs((await shown('difference')) - difference) <= 0.051 * difference);
      const error = Math.abs(rotary.score - rotary.exact);
      assert.ok(Math.abs((await shown('error')) - error) <= 0.051 * error);
    }
  }
});

pageTest(
  'with the distance held both sliders move, and neither leaves its range',
  {},
  async (page) => {
    await set(page, { rotaryQ: 12, rotaryK: 5 });
    await open(page);
    const ends = async () => {
      await settle(page);
      const { rotaryQ, rotaryK } = (await snapshot(page)).state;
      return [rotaryQ, rotaryK];
    };
    const before = (await positionsOf(page)).rotary.score;
    await page.check('#hold');
    await page.focus('#rotaryQ');
    await page.keyboard.press('ArrowRight');
    assert.deepEqual(await ends(), [13, 6]);
    await page.locator('#rotaryQ').fill('2000');
    assert.deepEqual(await ends(), [2000, 1993]);
    assert.ok(Math.abs((await positionsOf(page)).rotary.score - before) < 2e-6);
    await page.locator('#rotaryK').fill('4096');
    assert.deepEqual(await ends(), [4096, 4089], 'the query must stop, so the key does');
    await page.locator('#rotaryQ').fill('0');
    assert.deepEqual(await ends(), [7, 0]);
    await page.uncheck('#hold');
    await page.locator('#rotaryQ').fill('1');
    assert.deepEqual(await ends(), [1, 0]);
    assert.equal(await page.getAttribute('#rotaryQ', 'aria-valuetext'), 'm = 1, m − n = 1');
  },
);

pageTest('links: everything comes back, and numbers out of range come in', {}, async (page) => {
  const patch = {
    position: 300,
    pair: 12,
    layout: 'concatenated',
    scheme: 'xl',
    rotaryQ: 77,
    rotaryK: 4000,
    shift: 40,
  };
  await set(page, patch);
  await page.waitForFunction(() => location.hash.includes('ps=xl'));
  await page.reload();
  await open(page);
  const { state } = await snapshot(page);
  for (const [name, value] of Object.entries(patch)) assert.equal(state[name], value);
  const wild = await page.evaluate(() =>
    window.__qkv.parseFragment('#v=1&pp=-4&pi=99&pl=zz&ps=none&pm=1e9&pn=0.6', 'en'),
  );
  const { position, pair, layout, scheme, rotaryQ, rotaryK } = wild;
  assert.deepEqual(
    [position, pair, layout, scheme, rotaryQ, rotaryK],
    [0, 31, 'interleaved', 'sinusoidal', 4096, 1],
  );
});

pageTest('positions: every file holds its numbers', {}, async (page) => {
  await open(page);
  const { svg, table, data } = await takeAll(page, 'positions');
  assert.equal(svg.match(/<image /g).length, 2);
  assert.match(svg, /angles in float32 \(naive\)/);
  assert.equal(table.length, 65);
  assert.deepEqual(data.positions, await positionsOf(page));
});

panelTests(pageTest, 'positions', async (page) => {
  await open(page);
  await set(page, { scheme: 'alibi', position: 40000, pair: 30, layout: 'concatenated' });
});

// @run full, or after changes in web/src/features/positions web/src/ui
// The panel about positions, in Chromium: dials, curves and maps as drawn, its sliders and its words.
import assert from 'node:assert/strict';
import * as exact from './support/positions.js';
import * as support from './support/page.js';

const { addressed, nextFrame, pixelsAt, readNumber, set, settle, snapshot, visit } = support;
const { pageTest } = support.useSite();
const { frequency, naivePair } = exact;
const { residualOf, SCHEMES, SPAN } = exact;

const open = (page) => visit(page, 'positions');

const positionsOf = async (page) => (await snapshot(page)).frame.positions;

pageTest(
  'positions: the residuals and their curves are as the engine found them',
  {},
  async (page) => {
    await set(page, { position: 4096, shift: 37 });
    await open(page);
    const { place, drift } = await positionsOf(page);
    const wanted = residualOf(naivePair, 4096, 37);
    assert.ok(Math.abs(place.naive - wanted) <= 2 ** -23, `${place.naive}, not ${wanted}`);
    for (const name of ['naive', 'core']) {
      const shown = readNumber(await page.textContent(`.drift-now.${name} dd`));
      assert.ok(Math.abs(shown - place[name]) <= 0.051 * place[name], name);
    }
    // Each level line of the drawing is labelled with its power of ten: the curves have to agree with those.
    const { curves, axis } = await page.evaluate(() => {
      const svg = document.querySelector('.drift-stage svg');
      const points = (name) =>
        svg
          .querySelector(`.curve.${name}`)
          .getAttribute('d')
          .slice(1)
          .split('L')
          .map((point) => Number(point.split(' ')[1]));
      const lines = [...svg.querySelectorAll('path.grid')]
        .map((line) => /^M\S+ (-?[\d.]+)H/.exec(line.getAttribute('d')))
        .filter(Boolean)
        .map(([, y]) => Number(y));
      const labels = [...svg.querySelectorAll('text')].map((label) => label.textContent);
      const axis = lines.map((y, i) => ({ y, label: labels[i] }));
      return { curves: { naive: points('naive'), core: points('core') }, axis };
    });
    const powers = axis.map(({ y, label }) => {
      return { y, power: Math.log10(readNumber(label.replace(/^10(?!\d)/, '1×10'))) };
    });
    const steps = powers.slice(1).map(({ power }, i) => Math.round(power - powers[i].power));
    assert.equal(new Set(steps).size, 1, JSON.stringify(axis));
    const [low, high] = [powers[0], powers.at(-1)];
    assert.ok(high.power - low.power >= 4, JSON.stringify(axis));
    const decade = (high.y - low.y) / (high.power - low.power);
    const y = (value) => low.y + decade * (Math.log10(value) - low.power);
    for (const name of ['naive', 'core']) {
      assert.equal(curves[name].length, drift.positions.length);
      curves[name].forEach((top, i) => {
        assert.ok(Math.abs(top - y(drift[name][i])) < 0.2, `${name} at ${drift.positions[i]}`);
      });
    }
    const spoken = await page.getAttribute('.drift-stage svg', 'aria-label');
    assert.match(spoken, /from p = 4096: \d/);
  },
);

pageTest(
  'positions: names of hands that nearly meet stand aside, each as far',
  {},
  async (page) => {
    await open(page);
    /** The angle at which a name stands, clockwise from above, and that of its hand. */
    const standing = (name) =>
      page.evaluate((which) => {
        const number = (selector, attribute) =>
          Number(document.querySelector(`.dial-large ${selector}`).getAttribute(attribute));
        const [text, tip] = [`.name-${which}`, `.tip-${which}`];
        return {
          name: Math.atan2(number(text, 'x') / 1.36, (0.06 - number(text, 'y')) / 1.3),
          hand: Math.atan2(number(tip, 'cx'), -number(tip, 'cy')),
        };
      }, name);
    for (const shift of [9, -9]) {
      await set(page, { pair: 31, position: 17, shift });
      const [from, to] = [await standing('from'), await standing('to')];
      const aside = Math.sign(shift) * (0.25 - Math.abs(to.hand - from.hand) / 2);
      assert.ok(Math.abs(from.hand - from.name - aside) < 1e-3, JSON.stringify({ from, aside }));
      assert.ok(Math.abs(to.name - to.hand - aside) < 1e-3, JSON.stringify({ to, aside }));
    }
  },
);

pageTest('positions: dials turn by hand, sliders by keys', {}, async (page) => {
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
  await addressed(page, 'pp=65536');
});

pageTest('positions: a cell of the picture chooses position and pair', {}, async (page) => {
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

pageTest(
  'positions: only what a slider moves is computed, and nothing off the screen',
  {},
  async (page) => {
    const ran = async (patch) => {
      await set(page, patch);
      return (await snapshot(page)).frame.ran;
    };
    assert.ok(!(await ran({ scheme: 'alibi', position: 3 })).some((name) => name !== 'paint map'));
    await open(page);
    assert.deepEqual(await ran({ position: 4 }), ['place']);
    assert.deepEqual(await ran({ rotaryQ: 40 }), ['rotary']);
    assert.deepEqual(await ran({ scheme: 't5' }), ['biases', 'scheme', 'paint scheme']);
    assert.deepEqual(
      await ran({ t5Head: 2 }),
      ['scheme', 'paint scheme'],
      'the table is trained once',
    );
    assert.deepEqual(await ran({ shift: 6 }), ['shift', 'place', 'drift']);
    assert.deepEqual(await ran({ pair: 6 }), []);
  },
);

// ---- schemes ----

pageTest('positions: each scheme is chosen, and tells what the engine found', {}, async (page) => {
  await open(page);
  for (const scheme of Object.keys(SCHEMES)) {
    await page.locator(`[name=scheme][value=${scheme}] + span`).click();
    await settle(page);
    const { scheme: got } = await positionsOf(page);
    assert.equal(got.scheme, scheme);
    const shown = readNumber(/: (.*)$/.exec(await page.textContent('.diagonals'))[1]);
    assert.ok(Math.abs(shown - got.alongDiagonals) <= 0.051 * got.alongDiagonals, scheme);
    const random = Object.keys(got.drawn).length > 0;
    const seeded = random || scheme === 't5';
    assert.equal(await page.isVisible('.drawn'), seeded, 'says where random numbers are');
    if (seeded) assert.match(await page.textContent('.drawn'), /seed 7/);
    const told = await page.textContent('qkv-scheme .described');
    assert.match(told, /^i = 30, j = 20, i − j = 10: /);
    const value = got.values[30 * SPAN + 20];
    const read = readNumber(told.replace(/.*: (bucket 8, bias )?/, ''));
    assert.ok(Math.abs(read - value) <= 1e-5 * Math.abs(value) + 1e-6, `${told}, not ${value}`);
  }
});

pageTest('positions: a bias of 0 has no colour, and less than 0 is blue', {}, async (page) => {
  await open(page);
  await set(page, { scheme: 'alibi' });
  await nextFrame(page);
  const [zero, far] = await pixelsAt(page, 'qkv-scheme', [
    { row: 5, col: 5 },
    { row: 0, col: 47 },
  ]);
  assert.deepEqual(zero[0], [0xf4, 0xf2, 0xec], 'neutral');
  assert.ok(far[0][2] > far[0][0] + 50, 'negative is blue');
  assert.match(await page.textContent('.scheme-side .how'), /head 3 of 8, m = 0\.125/);
});

// @run full, or after changes in web/src/features/temperature web/src/ui
// The temperature of a row, in Chromium: its curves as drawn, its dot and its words.
import assert from 'node:assert/strict';
import { curvePoint, law } from './support/curves.js';
import * as support from './support/page.js';

const { nextFrame, readNumber, set, settle, snapshot, visit } = support;
const { pageTest } = support.useSite();

const PANEL = 'qkv-panel-temperature';
/** Most tests are about the row of the query; the panel opens on random scores. */
const ROW = { scores: 'row' };

const numberOf = async (page, name) =>
  readNumber(await page.textContent(`${PANEL} [data-number=${name}]`));

pageTest('temperature: Greek letters of formulas need no mathematical font', {}, async (page) => {
  await visit(page, 'temperature');
  const letters = await page
    .locator('#temperature math mi')
    .evaluateAll((all) =>
      all
        .filter(({ textContent }) => /^[\u0370-\u03ff]$/.test(textContent))
        .map((mi) => [mi.textContent, mi.getAttribute('mathvariant')]),
    );
  assert.ok(letters.length >= 3, `${letters.length} letters`);
  for (const [letter, variant] of letters) assert.equal(variant, 'normal', letter);
});

pageTest('temperature: the numbers that it shows are those of the engine', {}, async (page) => {
  await set(page, { ...ROW, source: 'random', head: 1, mask: 'none', temperature: 3, length: 256 });
  await visit(page, 'temperature');
  const { temperature: point } = (await snapshot(page)).frame;
  const wanted = curvePoint(point.of.scores, 3);
  for (const name of ['entropy', 'largest', 'gradient']) {
    assert.ok(Math.abs(point[name] - wanted[name]) <= wanted.bounds[name], name);
    const shown = await numberOf(page, name);
    assert.ok(Math.abs(shown - point[name]) <= 6e-4 * Math.abs(point[name]), `${name} as shown`);
  }
  const { theory, critical } = law(point.of.scores);
  const difference = theory(3) - wanted.entropy;
  const shown = await numberOf(page, 'difference');
  assert.ok(Math.abs(shown - difference) <= 6e-3 * Math.abs(difference) + 1e-6, 'difference');
  assert.ok(Math.abs((await numberOf(page, 'theory')) / point.theory - 1) < 6e-4);
  const label = await page.textContent(`${PANEL} [data-live=critical]`);
  assert.ok(Math.abs(readNumber(label) / critical - 1) < 1e-3, 'tau_c in the formula');
  for (const [temperature, verdict] of [
    [0.1, 'collapse'],
    [2 * critical, 'close'],
    [20, 'holds'],
  ]) {
    await set(page, { temperature });
    assert.equal((await snapshot(page)).frame.temperature.verdict, verdict);
    assert.equal(await page.getAttribute(`${PANEL} .verdict`, 'data-verdict'), verdict);
  }
});

/** Where the numbers of the axes stand, in CSS pixels of the drawing. */
const axes = (page) =>
  page.evaluate((panel) => {
    const texts = [...document.querySelectorAll(`${panel} .curves text.plot-label`)];
    const at = (content, anchor) => {
      const label = texts.find(
        (e) => e.textContent === content && e.getAttribute('text-anchor') === anchor,
      );
      return { x: Number(label.getAttribute('x')), y: Number(label.getAttribute('y')) - 4 };
    };
    return {
      cold: at('0.05', 'middle').x,
      hot: at('20', 'middle').x,
      zero: at('0', 'end').y,
      one: at('1', 'end').y,
    };
  }, PANEL);

const dot = (page) =>
  page.evaluate((panel) => {
    const circle = [...document.querySelectorAll(`${panel} .curves circle`)].at(-1);
    return { x: Number(circle.getAttribute('cx')), y: Number(circle.getAttribute('cy')) };
  }, PANEL);

pageTest('temperature: the drawing shows these numbers where its axes say', {}, async (page) => {
  await set(page, { ...ROW, source: 'random', head: 1, temperature: 0.7 });
  await visit(page, 'temperature');
  const { frame, studies } = await snapshot(page);
  const { cold, hot, zero, one } = await axes(page);
  const x = (tau) => cold + ((hot - cold) * Math.log(tau / 0.05)) / Math.log(400);
  const y = (entropy) => zero + (one - zero) * entropy;
  const place = await dot(page);
  assert.ok(
    Math.abs(place.x - x(0.7)) < 0.2 && Math.abs(place.y - y(frame.temperature.entropy)) < 0.2,
  );
  const points = (mark) =>
    page.evaluate(
      ([panel, name]) =>
        document
          .querySelector(`${panel} .curves .plot-${name}`)
          .getAttribute('d')
          .split(/[ML]/)
          .filter(Boolean)
          .map((pair) => pair.split(' ').map(Number)),
      [PANEL, mark],
    );
  const { temperatures, entropy, theory } = studies.temperature;
  const drawn = await points('measured');
  assert.equal(drawn.length, 121);
  drawn.forEach(([left, top], i) => {
    assert.ok(Math.abs(left - x(temperatures[i])) < 0.2 && Math.abs(top - y(entropy[i])) < 0.2);
  });
  const { critical } = frame.temperature.of;
  const holding = temperatures.filter((tau) => tau >= 3 * critical);
  const dashed = await points('theory');
  assert.equal(dashed.length, holding.length);
  dashed.forEach(([left, top], i) => {
    assert.ok(Math.abs(left - x(holding[i])) < 0.2);
    assert.ok(Math.abs(top - y(theory[121 - holding.length + i])) < 0.2);
  });
  const line = await page.getAttribute(`${PANEL} .plot-critical`, 'd');
  assert.ok(Math.abs(Number(/M([\d.]+)/.exec(line)[1]) - x(critical)) < 0.2, 'the line of tau_c');
  const shade = page.locator(`${PANEL} .plot-collapse`).first();
  assert.ok(Math.abs(Number(await shade.getAttribute('width')) - x(critical) + cold) < 0.3);
  const counts = studies.temperature.histogram.counts;
  assert.equal(
    counts.reduce((a, b) => a + b),
    frame.temperature.of.scores.length,
  );
  assert.equal(
    await page.locator(`${PANEL} .scores .plot-bar`).count(),
    counts.filter(Boolean).length,
  );
});

pageTest(
  'temperature: the dot is dragged, clicked and pressed, and moves the instrument bar',
  {},
  async (page) => {
    await set(page, { ...ROW, curves: false });
    await visit(page, 'temperature');
    const { cold, hot } = await axes(page);
    const stage = page.locator(`${PANEL} .curves`);
    await stage.scrollIntoViewIfNeeded();
    const handle = page.locator(`${PANEL} .plot-handle`);
    const box = await handle.boundingBox();
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    const left = (await stage.boundingBox()).x;
    const tauAt = (at) => 0.05 * 400 ** ((at - left - cold) / (hot - cold));
    const agrees = async (wanted) => {
      await settle(page);
      const { state, frame } = await snapshot(page);
      assert.ok(
        Math.abs(state.temperature / wanted - 1) < 0.006,
        `${state.temperature}: ${wanted}`,
      );
      assert.equal(frame.temperature.temperature, state.temperature);
      assert.equal(await page.inputValue('#temperature-number'), String(state.temperature));
      const slider = Math.round(100 * Math.log10(state.temperature));
      assert.equal(await page.inputValue('#tau'), String(slider));
      assert.equal(await handle.getAttribute('aria-valuenow'), String(state.temperature));
      return state;
    };
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x + 40, y, { steps: 3 });
    await page.mouse.move(x + 120, y + 10, { steps: 5 });
    await page.mouse.up();
    const { curves } = await agrees(tauAt(x + 120));
    assert.ok(curves, 'whoever drags sees the curves');
    await page.mouse.move(x + 10, y); // no button: nothing happens
    await agrees(tauAt(x + 120));
    await page.mouse.click(left + cold + 60, y - 40);
    await agrees(tauAt(left + cold + 60));
    await set(page, { temperature: 1 });
    await handle.focus();
    for (const [key, wanted] of [
      ['ArrowRight', 10 ** 0.01],
      ['PageUp', 10 ** 0.11],
      ['ArrowDown', 10 ** 0.1],
      ['Home', 0.05],
      ['ArrowLeft', 0.05],
      ['End', 20],
      ['PageDown', 10 ** 1.2],
    ]) {
      await page.keyboard.press(key);
      await agrees(wanted);
    }
    const spoken = await handle.getAttribute('aria-valuetext');
    const { temperature: point } = (await snapshot(page)).frame;
    assert.ok(
      spoken.includes(`entropy ${point.entropy.toPrecision(3)} nats (maximum 2.08)`),
      spoken,
    );
    await set(page, { controls: false });
    assert.ok(!(await handle.isVisible()));
    await page.mouse.click(left + cold + 60, y - 40);
    await nextFrame(page);
    assert.equal(
      (await snapshot(page)).state.temperature,
      point.temperature,
      'put away means put away',
    );
  },
);

pageTest('temperature: forced colours keep the curves apart by their dashes', {}, async (page) => {
  await page.emulateMedia({ forcedColors: 'active' }); // access.test.js begins with them
  await visit(page, 'temperature');
  const looks = await page.evaluate((panel) => {
    const style = (mark) =>
      getComputedStyle(document.querySelector(`${panel} .curves .plot-${mark}`));
    const paper = getComputedStyle(document.querySelector(`${panel} .card`)).backgroundColor;
    return {
      paper,
      strokes: ['measured', 'theory', 'critical', 'weight'].map((mark) => style(mark).stroke),
      dashes: ['measured', 'theory', 'theory-outside', 'critical'].map(
        (m) => style(m).strokeDasharray,
      ),
    };
  }, PANEL);
  assert.equal(new Set(looks.dashes).size, 4);
  for (const stroke of looks.strokes) assert.notEqual(stroke, looks.paper);
});

pageTest(
  'temperature: alone it brings its instruments along',
  { fragment: '?embed=temperature#v=1&ts=row' },
  async (page) => {
    await visit(page, 'temperature');
    assert.ok(await page.isVisible('#tau'));
    assert.ok(await page.isVisible('.chip'));
    await page.locator('.chip').nth(4).click();
    await settle(page);
    assert.equal((await snapshot(page)).frame.temperature.of.row, 4);
    assert.match(await page.textContent(`${PANEL} .lab-row`), /query 4 “the”/);
  },
);

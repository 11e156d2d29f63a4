// The temperature of a row, in Chromium: its curves against the formulas in float64, its dot and its words.
import assert from 'node:assert/strict';
import { allowedKeys, softmax } from './support/oracle.js';
import * as support from './support/page.js';

const { nextFrame, readNumber, set, settle, snapshot, tensors, visit } = support;
const { pageTest } = support.useSite();

const U = 2 ** -24;
const PANEL = 'qkv-panel-temperature';
const norm = (values) => Math.hypot(...values);

/** H, p_max and |J|_F of softmax(scores / tau) in float64, each with a bound for what float32 may differ. */
function exact(scores, tau) {
  // Division by tau, or multiplication by 1/tau, rounds at most twice.
  const logits = scores.map((s) => ({ value: s / tau, error: 2 * U * Math.abs(s / tau) }));
  const { weights, bounds, entropy } = softmax(logits);
  let square = 0;
  weights.forEach((p, i) => {
    weights.forEach((q, j) => (square += ((i === j ? p : 0) - p * q) ** 2));
  });
  const off = norm(bounds);
  const surprise = weights.map((p, j) => bounds[j] * (p > 0 ? 1 - Math.log(p) : 90));
  return {
    entropy,
    largest: Math.max(...weights),
    gradient: Math.sqrt(square) / tau,
    bounds: {
      // |d(-p ln p)| <= (|ln p| + 1) |dp|, and the core rounds the sum once.
      entropy: surprise.reduce((a, b) => a + b) + 2 * U * entropy + 1e-12,
      largest: Math.max(...bounds),
      gradient: (off * (1 + 2 * norm(weights) + off)) / tau + 1e-12,
    },
  };
}

/** n, v, tau_c and ln n - v / (2 tau^2) of a row. */
function law(scores) {
  const n = scores.length;
  const mean = scores.reduce((a, b) => a + b) / n;
  const v = scores.reduce((sum, s) => sum + (s - mean) ** 2, 0) / n;
  return {
    v,
    critical: Math.sqrt(v) / Math.sqrt(2 * Math.log(n)),
    theory: (tau) => Math.log(n) - v / 2 / tau / tau,
  };
}

/** The scores of the query's row that are not masked, from the tensors of the heads. */
async function scoresOf(page) {
  const { request, heads } = await tensors(page);
  const { head, query } = request.view;
  const { tokens, mask } = request.layer;
  const [first, end] = allowedKeys(mask, query, tokens.length);
  const row = heads[head].scores.slice(query * tokens.length, (query + 1) * tokens.length);
  return row.slice(first, end);
}

const numberOf = async (page, name) =>
  readNumber(await page.textContent(`${PANEL} [data-number=${name}]`));

const CASES = [
  { source: 'constructed', mask: 'causal', temperature: 1 },
  { source: 'constructed', head: 1, mask: 'none', temperature: 0.3 },
  { source: 'random', head: 2, mask: 'window', temperature: 0.05 },
  { source: 'random', head: 1, mask: 'none', temperature: 3, length: 256 },
  { source: 'random', head: 3, mask: 'causal', temperature: 20, query: 1 },
];

pageTest('curves and numbers equal the formulas in float64', {}, async (page) => {
  for (const patch of CASES) {
    await set(page, { length: null, query: null, head: 0, ...patch });
    await visit(page, 'temperature');
    const scores = await scoresOf(page);
    const { frame, studies } = await snapshot(page);
    const { temperature: point } = frame;
    const { temperature: study } = studies;
    const { v, critical } = law(scores);
    const close = (a, b, size) => assert.ok(Math.abs(a - b) <= 1e-12 * size, `${a}, not ${b}`);
    // The row alone is computed by another product than the whole head: its scores may round otherwise.
    const own = point.of.scores;
    own.forEach((s, j) =>
      assert.ok(Math.abs(s - scores[j]) < 1e-5 * (1 + Math.abs(s)), `score ${j}`),
    );
    assert.equal(own.length, scores.length);
    const exactly = law(own);
    assert.ok(
      Math.abs(v / exactly.v - 1) < 1e-4 && Math.abs(critical / exactly.critical - 1) < 1e-4,
    );
    close(point.of.critical, exactly.critical, 100);
    const largestErrors = { entropy: 0, largest: 0, gradient: 0 };
    let told = 0;
    study.temperatures.forEach((tau, i) => {
      close(tau, 0.05 * 400 ** (i / 120), 100);
      close(study.theory[i], exactly.theory(tau), 1e3 * (1 + Math.abs(exactly.theory(tau))));
      const wanted = exact(own, tau);
      const wrong = exact(own, tau * 1.02);
      for (const name of Object.keys(largestErrors)) {
        const off = Math.abs(study[name][i] - wanted[name]);
        assert.ok(off <= wanted.bounds[name], `${name} at ${tau}: ${off}`);
        largestErrors[name] = Math.max(largestErrors[name], off);
        if (Math.abs(study[name][i] - wrong[name]) > wanted.bounds[name]) told++;
      }
    });
    assert.ok(told > 150, `the bounds see a temperature off by two percent: ${told} of 363 times`);
    for (const [name, error] of Object.entries(largestErrors)) {
      assert.ok(Math.abs(error - study.error[name]) < 1e-12, `${name}: its own check`);
      assert.ok(study.error[name] < 1e-5);
    }
    const wanted = exact(own, patch.temperature);
    for (const name of ['entropy', 'largest', 'gradient']) {
      assert.ok(Math.abs(point[name] - wanted[name]) <= wanted.bounds[name], name);
      const shown = await numberOf(page, name);
      assert.ok(Math.abs(shown - point[name]) <= 6e-4 * Math.abs(point[name]), `${name} as shown`);
    }
    const difference = exactly.theory(patch.temperature) - wanted.entropy;
    const shown = await numberOf(page, 'difference');
    assert.ok(Math.abs(shown - difference) <= 6e-3 * Math.abs(difference) + 1e-6, 'difference');
    assert.ok(Math.abs((await numberOf(page, 'theory')) / point.theory - 1) < 6e-4);
    const label = await page.textContent(`${PANEL} [data-live=critical]`);
    assert.ok(Math.abs(readNumber(label) / critical - 1) < 1e-3, 'tau_c in the formula');
  }
});

pageTest('its score and entropy are those of the map', {}, async (page) => {
  await set(page, { source: 'random', head: 1, temperature: 0.4 });
  await visit(page, 'temperature');
  const { frame } = await snapshot(page);
  assert.ok(Math.abs(frame.temperature.entropy - frame.query.entropy) < 1e-6);
  const largest = Math.max(...frame.query.weights);
  assert.ok(Math.abs(frame.temperature.largest - largest) < 1e-6);
});

pageTest('where it says that the formula holds, it does', {}, async (page) => {
  await set(page, { source: 'random', mask: 'none', length: 64 });
  await visit(page, 'temperature');
  const seen = {};
  for (let head = 0; head < 4; head++) {
    for (const temperature of [0.1, 0.7, 1.5, 2, 3, 5, 10, 20]) {
      await set(page, { head, temperature });
      const { temperature: point } = (await snapshot(page)).frame;
      const { critical } = law(point.of.scores);
      const { verdict } = point;
      if (temperature < critical) assert.equal(verdict, 'collapse');
      else if (temperature < 3 * critical) assert.equal(verdict, 'close');
      else assert.ok(['shape', 'holds'].includes(verdict), verdict);
      if (verdict === 'holds') assert.ok(Math.abs(point.theory - point.entropy) < 0.04);
      seen[verdict] = (seen[verdict] ?? 0) + 1;
      assert.equal(await page.getAttribute(`${PANEL} .verdict`, 'data-verdict'), verdict);
    }
  }
  assert.ok(seen.collapse && seen.close && seen.shape && seen.holds, JSON.stringify(seen));
});

pageTest('one key, and keys that are all alike, are told as what they are', {}, async (page) => {
  await set(page, { query: 0 });
  await visit(page, 'temperature');
  let { frame, studies } = await snapshot(page);
  assert.equal(frame.temperature.of.critical, null);
  assert.ok(studies.temperature.entropy.every((h) => h === 0));
  assert.ok(studies.temperature.gradient.every((g) => g === 0));
  assert.match(await page.textContent(`${PANEL} .verdict`), /single key/);
  assert.ok(!(await page.isVisible(`${PANEL} .guess`)), 'there is nothing to guess');
  assert.equal(await page.textContent(`${PANEL} [data-live=critical]`), '–');
  await set(page, { query: null, head: 5 });
  ({ frame, studies } = await snapshot(page));
  const most = Math.log(frame.temperature.of.scores.length);
  assert.ok(studies.temperature.entropy.every((h) => Math.abs(h - most) < 1e-6));
  const { temperatures, gradient } = studies.temperature;
  gradient.forEach((g, i) => {
    const wanted = Math.sqrt(7) / 8 / temperatures[i]; // |I/n - 1/n^2|_F, n = 8
    assert.ok(Math.abs(g / wanted - 1) < 1e-6);
  });
  assert.match(await page.textContent(`${PANEL} .verdict`), /All scores are equal/);
  assert.match(await page.textContent(`${PANEL} .gradient-story`), /grows like 1\/τ/);
  await page.fill('#text', '');
  await settle(page);
  assert.match(await page.textContent(`${PANEL} .placeholder`), /first word/);
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

pageTest('the drawing shows these numbers where its axes say', {}, async (page) => {
  await set(page, { source: 'random', head: 1, temperature: 0.7 });
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
  'the dot is dragged, clicked and pressed, and moves the instrument bar',
  {},
  async (page) => {
    await set(page, { curves: false });
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
      spoken.includes(`entropy ${point.entropy.toPrecision(3)} of at most 2.08 nats`),
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

pageTest('a finger drags sideways', {}, async (page) => {
  await visit(page, 'temperature');
  const handle = page.locator(`${PANEL} .plot-handle`);
  await handle.scrollIntoViewIfNeeded();
  const box = await handle.boundingBox();
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  const devtools = await page.context().newCDPSession(page);
  const touch = (type, at) =>
    devtools.send('Input.dispatchTouchEvent', { type, touchPoints: at ? [{ x: at, y }] : [] });
  await touch('touchStart', x);
  for (const step of [10, 30, 60]) await touch('touchMove', x + step);
  await touch('touchEnd');
  await settle(page);
  assert.ok((await snapshot(page)).state.temperature > 1.3);
});

pageTest('the curves are there at once, or the reader guesses first', {}, async (page) => {
  await visit(page, 'temperature');
  const curve = page.locator(`${PANEL} .curves .plot-measured`);
  const told = () => page.textContent(`${PANEL} .guess-answer`);
  assert.equal(await curve.count(), 1);
  // One's own text stays when the language turns, and with it the row that the answer is about.
  await set(page, { text: 'The ship came into the harbour before the storm.' });
  await page.click('.again');
  await page.waitForFunction(() => location.hash.includes('curves=0'));
  await page.reload();
  await visit(page, 'temperature');
  assert.equal(await curve.count(), 0, 'a link can ask first');
  assert.match(await page.textContent(`${PANEL} .guess-question`), /τ from 1 to 20.*up or down\?/);
  assert.doesNotMatch(await page.getAttribute(`${PANEL} .curves svg`, 'aria-label'), /theory/);
  await page.click('[data-guess=up]');
  await settle(page);
  assert.equal(await curve.count(), 1);
  const { point } = { point: (await snapshot(page)).frame.temperature };
  const hot = exact(point.of.scores, 20).entropy;
  const words = `goes up, from ${point.entropy.toPrecision(3)} to ${hot.toPrecision(3)} nats`;
  assert.ok((await told()).startsWith('Right.') && (await told()).includes(words), await told());
  await page.click('.again');
  await set(page, { temperature: 5 });
  assert.equal(await curve.count(), 0);
  await page.click('[data-guess=up]');
  await settle(page);
  assert.match(await told(), /other way round.*goes down/);
  assert.match(
    await page.getAttribute(`${PANEL} .curves svg`, 'aria-label'),
    /critical temperature/,
  );
  const { temperatures, gradient } = (await snapshot(page)).studies.temperature;
  const steepest = temperatures[gradient.indexOf(Math.max(...gradient))].toPrecision(3);
  const label = await page.getAttribute(`${PANEL} .curves svg`, 'aria-label');
  assert.ok(label.includes(`largest at τ = ${steepest}`), label);
  await page.waitForFunction(() => !location.hash.includes('curves'));
  await page.click('.language');
  await settle(page);
  await visit(page, 'temperature');
  assert.match(await told(), /恰好相反。τ 从 5 到 0\.05/);
});

pageTest('a drag computes its point, and the curves once for a row', {}, async (page) => {
  await set(page, { source: 'random' });
  await page.setViewportSize({ width: 1280, height: 500 });
  await visit(page, 'temperature');
  const before = (await snapshot(page)).studies.temperature.id;
  await set(page, { temperature: 2 });
  const { frame, studies } = await snapshot(page);
  assert.deepEqual(frame.ran, ['query row', 'temperature']);
  assert.equal(studies.temperature.id, before);
  await set(page, { query: 2 });
  const after = await snapshot(page);
  assert.deepEqual(after.frame.ran, ['query row', 'row scores', 'temperature']);
  assert.equal(after.studies.temperature.id, before + 1);
  await visit(page, 'use');
  await set(page, { query: 3 });
  const away = await snapshot(page);
  assert.equal(away.frame.temperature, null, 'nothing is computed for a panel out of sight');
  assert.equal(away.studies.temperature.id, before + 1);
});

for (const locale of ['en-US', 'zh-CN']) {
  for (const width of [320, 390, 1280]) {
    pageTest(`nothing is cut off: ${locale}, ${width} px`, { locale, width }, async (page) => {
      for (const patch of [
        {},
        { curves: false },
        { source: 'random', length: 256, mask: 'none' },
      ]) {
        await set(page, patch);
        for (const id of ['temperature', 'scale']) {
          await visit(page, id);
          const { wide, outside } = await page.evaluate((name) => {
            const panel = document.querySelector(`qkv-panel-${name}`);
            const outside = [...panel.querySelectorAll('svg.plot')].flatMap((svg) => {
              const frame = svg.getBoundingClientRect();
              return [...svg.querySelectorAll('text, circle, rect')]
                .map((mark) => [mark, mark.getBoundingClientRect()])
                .filter(([, box]) => box.left < frame.left - 1 || box.right > frame.right + 1)
                .map(([mark]) => mark.textContent || mark.outerHTML);
            });
            return { wide: document.documentElement.scrollWidth, outside };
          }, id);
          assert.deepEqual(outside, [], id);
          assert.ok(wide <= width, `${id}: ${wide}`);
        }
      }
    });
  }
}

const forced = (page) => page.emulateMedia({ forcedColors: 'active' });

pageTest(
  'forced colours keep the curves apart by their dashes',
  { prepare: forced },
  async (page) => {
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
  },
);

pageTest(
  'alone it brings its instruments along',
  { fragment: '?embed=temperature#v=1&curves=1' },
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

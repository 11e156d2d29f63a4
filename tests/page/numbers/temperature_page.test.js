// @about web/src/features/temperature/
// What the panel about temperature shows of a row and does with guesses: rows that are the test's, in both languages.
// tests/page/operated/temperature-*.txt has it; QKV_REFRESH=1 writes it.
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { differences, fire, linesOf, requireWritten, rounded } from '../support/operate.js';
import { openWindow, SIZE } from '../support/window.js';

const { rest, layOut } = openWindow();
const { modules } = await import('../support/engine.js');
const web = await modules(
  ...['page/sentences', 'page/figure', 'page/histogram', 'page/plots', 'panel'].map(
    (name) => `features/temperature/${name}`,
  ),
  ...['ui/plot', 'state/state'],
);

/** Both languages, as the page sets them. */
const inLanguage = (language) => {
  web.setLanguage(language);
  document.documentElement.lang = language === 'zh' ? 'zh-CN' : 'en';
};
beforeEach(() => inLanguage('en'));

// ---- rows ----

let ids = 0;
const rowOf = (more = {}) => ({
  ...{ id: ++ids, source: 'row', row: 2, scores: Float32Array.of(0.5, -1, 2, 0.25), mean: 0.4375 },
  ...{ cumulants: [NaN, NaN, 1.125, 0.4, -0.75, 0.1, 0.2], critical: 0.637, gap: 1.5, ...more },
});
const pointOf = (more = {}, of = rowOf()) => ({
  ...{ of, temperature: 1, entropy: 1.01234, largest: 0.65432, gradient: 0.34567, theory: 0.82345 },
  ...{ correction: 0.0123, verdict: 'holds', error: 1.25e-7, ...more },
});
const studyOf = (of, more = {}) => {
  const temperatures = Float64Array.from({ length: 9 }, (_, i) => 0.05 * 400 ** (i / 8));
  const curve = (make) => temperatures.map(make);
  return {
    ...{ id: of.id, temperatures, entropy: curve((x) => (1.38 * x) / (1 + x)) },
    ...{ largest: curve((x) => 0.25 + 0.7 / (1 + x)), gradient: curve((x) => 1 / (x + 1 / x)) },
    theory: curve((x) => 1.386 - 1.125 / (2 * x * x)),
    histogram: { from: -1, width: 0.6, counts: [1, 0, 2, 0, 1] },
    error: { entropy: 1e-7, largest: 2e-7, gradient: 3e-7 },
    ...more,
  };
};
const frameOf = (temperature, tokens = ['The', 'cat', 'sat', 'on']) => ({
  temperature,
  request: { layer: { tokens, source: 'constructed' }, view: { head: 1 } },
});

// ---- words ----

test('temperature: what is said of a row, in both languages', () => {
  const lines = [];
  for (const language of ['en', 'zh']) {
    inLanguage(language);
    const say = (title, text) =>
      lines.push(`${title}: ${typeof text === 'string' ? text : JSON.stringify(text)}`);
    lines.push('', `=== ${language}`);
    for (const verdict of ['single', 'equal', 'collapse', 'close', 'shape', 'holds']) {
      say(verdict, web.verdict(pointOf({ verdict, temperature: 1.5 })));
    }
    for (const [verdict, theory] of [
      ['collapse', 0.5],
      ['close', 0],
      ['close', -0.01],
      ['holds', 0.5],
    ]) {
      const point = pointOf({ verdict, theory });
      say(`numbers, ${verdict} ${theory}`, web.lawNumbers(point));
      say(`spoken, ${verdict} ${theory}`, web.spoken(point, true));
      say('spoken before the curves', web.spoken(point, false));
    }
    for (const gap of [null, 0, 0.1, 0.1499, 0.15, 0.1501, 2]) {
      say(`gradient, gap ${gap}`, web.gradientStory(pointOf({}, rowOf({ gap }))));
    }
    for (const temperature of [0.05, 0.99, 1, 1.01, 20]) {
      const point = pointOf({ temperature });
      say(`question at ${temperature}`, web.question(point));
      for (const guess of ['up', 'down']) {
        const study = studyOf(point.of);
        say(`${guess} at ${temperature}`, web.answer({ study, point }, guess));
      }
    }
    for (const [critical, entropy] of [
      [0.637, 1],
      [0, 1],
      [null, 0],
    ]) {
      const point = pointOf({ entropy }, rowOf({ critical }));
      const told = web.describe({ study: studyOf(point.of), point });
      for (const sentence of told.split(/(?<=[.。;；])/))
        say(`picture, tau_c ${critical}`, sentence);
    }
    say('random', web.rowName(frameOf(null), pointOf({}, rowOf({ source: 'random', row: 77 }))));
    say('row', web.rowName(frameOf(null), pointOf()));
    say('beyond', web.rowName(frameOf(null), pointOf({}, rowOf({ row: 9 }))));
  }
  requireWritten('temperature-words', lines);
});

// ---- drawings ----

const drawn = (body) => body.replaceAll('><', '>\n<').split('\n').map(rounded);

test('temperature: a histogram at its widths, and of scores without a spread', () => {
  const lines = [];
  for (const [title, width, of, histogram] of [
    ['of four scores', 360, rowOf(), undefined],
    ['narrow', 359, rowOf(), undefined],
    [
      'all alike',
      400,
      rowOf({ cumulants: [NaN, NaN, 0], mean: 3 }),
      { from: 2.5, width: 1, counts: [4] },
    ],
  ]) {
    lines.push(
      '',
      `=== ${title}`,
      ...drawn(web.drawScores(web.pagePen, width, studyOf(of, histogram && { histogram }), of)),
    );
  }
  requireWritten('temperature-histogram', lines);
});

/** One of these is the last that is drawn as outside of the theory with tau_c = 0.4. */
const overlapping = Float64Array.of(0.05, 0.1, 0.2, 0.4, 0.6, 0.9, 3 * 0.4 * 1.05, 8, 20);

test('temperature: curves of one key, of two, and without a gradient', () => {
  const lines = [];
  for (const [title, width, keys, critical, more] of [
    ['one key', 640, 1, null, { gradient: new Float64Array(9), entropy: new Float64Array(9) }],
    ['two keys', 200, 2, 0.4, {}],
    ['keys that are all alike', 640, 3, 0, {}],
    ['tau_c at the left end', 640, 5, 0.05, {}],
    ['tau_c at the right end', 640, 5, 20, {}],
    ['3 tau_c at the right end', 640, 5, 20 / 3, {}],
    ['a temperature where both theories are drawn', 640, 5, 0.4, { temperatures: overlapping }],
  ]) {
    const of = rowOf({ critical, scores: new Float32Array(keys) });
    const places = web.placesOf(width);
    const point = pointOf({ entropy: 0.5 }, of);
    const study = studyOf(of, more);
    const body =
      web.drawCurves(web.pagePen, places, of, study) +
      web.drawHere(web.pagePen, places, study, point);
    lines.push('', `=== ${title}`, ...drawn(body));
    const blind =
      web.drawCurves(web.pagePen, places, of, null) +
      web.drawHere(web.pagePen, places, null, point);
    if (keys === 2) lines.push('', '=== without curves', ...drawn(blind));
  }
  const places = web.placesOf(640);
  for (const tau of [0.05, 0.3, 1, 20]) {
    assert.ok(Math.abs(places.temperatureAt(places.x(tau)) / tau - 1) < 1e-9, 'there and back');
  }
  requireWritten('temperature-curves', lines);
});

/** Marks and words of a drawing, without places and numbers. */
const marksOf = (body) =>
  Array.from(
    body.matchAll(/class="plot-([\w-]+)"(?:[^>]*text-anchor="(\w+)")?[^>]*>([^<]*)/g),
    (all) =>
      all
        .slice(1)
        .join(' ')
        .replace(/= [\d.]+/, '= …'),
  ).join(' ');

test('temperature: where tau_c and 3 tau_c have room, to a pixel', () => {
  const lines = [];
  for (const [width, begin, end] of [
    [640, 25, 150],
    [640, 485, 635],
    [300, 125, 295],
  ]) {
    const places = web.placesOf(width);
    let last = '';
    for (let px = begin; px <= end; px += 1) {
      const of = rowOf({ critical: places.temperatureAt(px + 0.5) });
      const study = studyOf(of, {
        entropy: [],
        largest: [],
        gradient: [],
        theory: new Float64Array(0),
      });
      const marks = marksOf(web.drawCurves(web.pagePen, places, of, study));
      if (marks !== last) lines.push(`${width}: from ${px}`, ...(marks.match(/.{1,150}/g) ?? []));
      last = marks;
    }
  }
  requireWritten('temperature-room', lines);
});

test('temperature: what can be taken away', () => {
  const point = pointOf();
  const { name, svg, table, data } = web.temperatureFigure({
    frame: frameOf(point),
    point,
    study: studyOf(point.of),
  });
  assert.deepEqual(Object.keys(data), ['layer', 'view', 'point', 'study']);
  const rows = table.map((row) =>
    row.map((cell) => (typeof cell === 'number' ? cell.toPrecision(5) : cell)).join(', '),
  );
  requireWritten('temperature-taken', [
    `${name}, ${svg.width} x ${svg.height}`,
    ...drawn(svg.body),
    ...rows,
  ]);
});

// ---- the panel ----

const said = [];
for (const name of ['state-change', 'temperature-held']) {
  document.addEventListener(name, ({ detail }) => said.push(`${name} ${JSON.stringify(detail)}`));
}

/** Drawings are written down above, and the part about a gain. */
const fold = ({ localName, className }) => {
  if (localName === 'qkv-gain') return 'closed';
  return localName === 'svg' && className.baseVal !== '' ? 'short' : 'open';
};

/** The panel on a page of its own, and a way to show it a point. */
async function put() {
  document.body.replaceChildren();
  const panel = document.createElement('qkv-panel-temperature');
  document.body.append(panel);
  await rest();
  const lines = [];
  let before = [];
  const state = { ...web.initialState('en'), scores: 'row' };
  /** Shows it and writes down what is otherwise than before. */
  const show = async (title, point, { study, patch, ...more } = {}) => {
    const frame = point && frameOf(point);
    const view = {
      ...{
        state: { ...state, ...patch },
        list: { tokens: ['The', 'cat', 'sat', 'on'] },
        engine: { kind: 'ready' },
      },
      ...{
        frame,
        studies: { temperature: study ?? (point && studyOf(point.of)) },
        look: 1,
        ...more,
      },
    };
    panel.update(view);
    await rest();
    note(title);
  };
  const note = (title) => {
    const now = linesOf(panel, {
      fold,
    });
    const focus = document.activeElement;
    lines.push(
      '',
      `=== ${title}`,
      ...said.splice(0),
      `focus on ${focus === document.body ? 'nothing' : focus.className || focus.textContent}`,
    );
    lines.push(...differences(before, now));
    before = now;
  };
  const act = async (title, work) => {
    work();
    await rest();
    note(title);
  };
  return { panel, lines, show, act, find: (selector) => panel.querySelector(selector) };
}

test('temperature: the panel before there is a row, without one, and after the engine failed', async () => {
  const { panel, lines, show } = await put();
  await show('before a frame', null);
  assert.equal(await panel.figure(), null);
  await show('after the engine failed', null, { engine: { kind: 'failed' } });
  await show('random scores without a text', null, {
    patch: { scores: 'random' },
    list: { tokens: [] },
  });
  await show('no text', null, { list: { tokens: [] } });
  const point = pointOf();
  await show('curves of another row', point, { study: studyOf(rowOf()) });
  await show('no curves', point, { study: null });
  await show('a frame of another text', point, { list: { tokens: ['x'] } });
  await show('a row', point);
  await show('the text is gone', point, { list: { tokens: [] } });
  await show('the engine is gone', point, { engine: { kind: 'failed' } });
  await show('a text of a moment ago', point, { list: { tokens: ['x'] } });
  const { name } = await panel.figure();
  assert.equal(name, 'temperature');
  requireWritten('temperature-states', lines);
});

test('temperature: verdicts hide what they leave nothing to say of', async () => {
  layOut({ width: 0, height: 0 }); // drawings are written down above
  const { lines, show } = await put();
  for (const verdict of ['holds', 'single', 'equal', 'collapse', 'close', 'shape']) {
    for (const curves of [true, false]) {
      const of =
        verdict === 'single'
          ? rowOf({ critical: null, gap: null, scores: Float32Array.of(2) })
          : rowOf();
      await show(`${verdict}${curves ? '' : ', curves hidden'}`, pointOf({ verdict }, of), {
        patch: { curves },
      });
    }
  }
  layOut(SIZE);
  requireWritten('temperature-verdicts', lines);
});

test('temperature: a guess, what came of it, and another turn', async () => {
  const { lines, show, act, find } = await put();
  const point = pointOf();
  const hidden = { patch: { curves: false }, study: studyOf(point.of) };
  const open = { study: hidden.study };
  await show('asked', point, hidden);
  await act('guessed', () => find('[data-guess=down]').click());
  await show('told', point, open);
  await show('told at another temperature', pointOf({ temperature: 3 }, point.of), open);
  await act('another turn', () => find('.again').click());
  await show('asked again', point, hidden);
  await act('shown without a guess', () => find('[data-guess=show]').click());
  await show('nothing to tell', point, open);
  await show('asked a third time', point, hidden);
  await act('guessed rightly', () => find('[data-guess=up]').click());
  await show('told again', point, open);
  await show('another row', pointOf());
  await show('the first row', point, open);
  requireWritten('temperature-guesses', lines);
});

test('temperature: hands and controls of the panel', async () => {
  const { panel, lines, show, act, find } = await put();
  const point = pointOf();
  const study = studyOf(point.of);
  await show('a row', point, { study });
  const [curves, handle] = [find('.curves'), find('.plot-handle')];
  const at = (clientX) => ({ clientX, pointerId: 1, button: 0, buttons: 1 });
  await act('a click on the curves', () => {
    fire(curves, 'pointerdown', PointerEvent, at(300));
    fire(curves, 'pointerup', PointerEvent, at(300));
  });
  await act('a drag', () => {
    fire(curves, 'pointerdown', PointerEvent, at(300));
    fire(curves, 'pointermove', PointerEvent, at(200));
    fire(curves, 'pointerup', PointerEvent, at(200));
  });
  await act('a key', () => fire(handle, 'keydown', KeyboardEvent, { key: 'PageUp' }));
  for (const radio of panel.querySelectorAll('[name=lab-scores]')) {
    await act(`scores ${radio.value}`, () => {
      radio.checked = true;
      fire(radio, 'change');
    });
  }
  await act('a change of something else', () => fire(find('.lab'), 'change'));
  await act('a slider is no choice of scores', () => fire(find('qkv-gain input'), 'change'));
  await show('without controls', point, { study, patch: { controls: false } });
  await act('a click', () => {
    fire(curves, 'pointerdown', PointerEvent, at(300));
    fire(curves, 'pointerup', PointerEvent, at(300));
  });
  await act('a key without controls', () =>
    fire(handle, 'keydown', KeyboardEvent, { key: 'PageUp' }),
  );
  requireWritten('temperature-hands', lines);
});

test('temperature: while the dot moves only the dot is drawn', async () => {
  const { panel, show, find } = await put();
  const of = rowOf();
  const study = studyOf(of);
  const move = (temperature, more) => show('', pointOf({ temperature }, of), { study, ...more });
  await move(1);
  const parts = ['.drawing svg', '.scores svg', '.lab-row', '.gradient-story', '.here'];
  const nodes = () => parts.map((selector) => find(selector)?.firstChild);
  const first = nodes();
  await move(2);
  const second = nodes();
  const kept = parts.filter((_, i) => first[i] === second[i]);
  assert.deepEqual(kept, ['.drawing svg', '.scores svg', '.lab-row', '.gradient-story']);
  await move(2, { look: 2 });
  assert.ok(find('.drawing svg').firstChild !== first[0], 'another look is drawn anew');
  await move(2, { look: 2, patch: { curves: false } });
  assert.ok(!find('.drawing .plot-measured'));
  const narrow = find('.drawing svg');
  layOut({ width: 300.4, height: 200 });
  await rest();
  assert.ok(find('.drawing svg') !== narrow);
  assert.equal(find('.drawing svg').getAttribute('width'), '300', 'whole pixels');
  layOut({ width: 0, height: 0 });
  await rest();
  assert.equal(find('.drawing svg').getAttribute('width'), '300', 'without a size it stays');
  layOut(SIZE);
  document.body.replaceChildren();
  const other = document.createElement('qkv-panel-temperature');
  document.body.append(other);
  await rest();
  assert.equal(
    other.querySelector('.drawing').innerHTML,
    '',
    'a size is no reason to draw nothing',
  );
  assert.ok(panel);
});

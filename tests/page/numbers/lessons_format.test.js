// What is read out of a lesson's text, its link and its address, in Node: each limit from both sides, and each thing that is
// not what it should be.
import assert from 'node:assert/strict';
import { describe, mock, test } from 'node:test';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { modules } from '../support/engine.js';

const web = await modules(
  'features/lessons/page/{lesson,lesson_codec,lesson_address}',
  'state/{state,field}',
);
const { readLesson, readCode, writeCode, readAddress, writeAddress, stateOf, LESSON_LIMITS, idOf } =
  web;

const lessonOf = (more) => readLesson({ title: 't', steps: [{ text: 'a' }], ...more });
const stepOf = (step) => lessonOf({ steps: [step] })?.steps[0] ?? null;
const exerciseOf = (exercise) => stepOf({ text: 'a', exercises: [exercise] }).exercises[0] ?? null;
const many = (count, of) => Array.from({ length: count }, (_, i) => of(i));

describe('lessons: what is too much is cut', () => {
  test('the limits are those that links were made with', () => {
    assert.deepEqual(LESSON_LIMITS, {
      ...{ title: 120, text: 4000, state: 3000, goals: 8, steps: 20, exercises: 12, choices: 8 },
      ...{ minutes: 600, locks: 40, choice: 300, show: 12, answers: 8 },
    });
  });

  test('from both sides of each limit', () => {
    const long = (count) => 'x'.repeat(count);
    for (const more of [-1, 0, 1]) {
      const most = (limit) => Math.min(limit, limit + more);
      const { title, goals, steps } = lessonOf({
        title: long(120 + more),
        goals: many(8 + more, () => long(300 + more)),
        steps: many(20 + more, () => ({ text: 'a' })),
      });
      assert.deepEqual(
        [title.length, goals.length, goals[0].length, steps.length],
        [120, 8, 300, 20].map(most),
      );
      const step = stepOf({
        ...{ title: long(120 + more), text: long(4000 + more), state: long(3000 + more) },
        lock: many(40 + more, (i) => `f${i}`),
        show: [...many(11 + more, () => 'settings'), 'map'],
        exercises: many(12 + more, () => ({
          text: long(4000 + more),
          choices: many(8 + more, () => long(300 + more)),
        })),
      });
      const [{ text, choices }] = step.exercises;
      const { exercises, lock, state } = step;
      assert.deepEqual(
        [step.title.length, step.text.length, state.length, lock.length, exercises.length],
        [120, 4000, 3000, 40, 12].map(most),
      );
      assert.deepEqual([text.length, choices.length, choices[0].length], [4000, 8, 300].map(most));
      assert.deepEqual(step.show, more > 0 ? ['settings'] : ['settings', 'map']);
      assert.equal(stepOf({ text: 'a', lock: [long(40 + more)] }).lock[0].length, most(40));
    }
  });

  test('a number of minutes is a whole one, from none to the most', () => {
    const minutes = [0, 1, 14.5, 599.4, 600, 601, -1, -0.4, NaN, Infinity, '20', null];
    assert.deepEqual(
      minutes.map((value) => lessonOf({ minutes: value }).minutes),
      [0, 1, 15, 599, 600, 600, 0, 0, 0, 600, 0, 0],
    );
  });
});

describe('lessons: what cannot be understood is left out', () => {
  test('a lesson', () => {
    const none = [
      null,
      undefined,
      1,
      'a',
      true,
      [],
      [{ steps: [{ text: 'a' }] }],
      {},
      { steps: {} },
    ];
    for (const raw of none) assert.equal(readLesson(raw), null);
    assert.equal(readLesson({ title: 't', steps: [] }), null);
    assert.equal(readLesson({ steps: [null, 1, 'a', [], {}] }), null);
    assert.deepEqual(readLesson({ steps: [{ text: 'a' }] }), {
      ...{ title: '', minutes: 0, goals: [] },
      steps: [{ title: '', text: 'a', show: [], exercises: [], state: '', lock: [], guess: false }],
    });
    assert.deepEqual(lessonOf({ goals: ['a', ' ', '', 1, null, 'b'] }).goals, ['a', 'b']);
    assert.deepEqual(lessonOf({ goals: 'abc' }).goals, []);
    assert.equal(lessonOf({ title: '\ud800a' }).title, '\ufffda');
    assert.equal(lessonOf({ title: 5 }).title, '');
  });

  test('a step', () => {
    for (const [step, show] of [
      [{}, null],
      [{ title: 'a' }, []],
      [{ text: 'a' }, []],
      [{ show: ['map'] }, ['map']],
      [{ show: ['sentence'] }, ['sentence']],
      [{ show: ['settings'] }, ['settings']],
      [{ exercises: [{ text: 'a' }] }, []],
      [{ exercises: [{ text: ' ' }] }, null],
      [{ text: 'a', show: ['nothing'] }, null],
      [{ text: 'a', show: ['nothing', 'sentence', 'settings'] }, null],
      [{ text: 'a', show: ['nothing', 'map'] }, ['map']],
      [{ text: 'a', show: ['map', 'row', 'map', 1] }, ['map', 'row']],
      [{ text: 'a', show: ['settings', 'sentence'] }, ['settings', 'sentence']],
      [{ text: 'a', show: 'map' }, []],
    ]) {
      assert.deepEqual(stepOf(step)?.show ?? null, show, JSON.stringify(step));
    }
    for (const [guess, read] of [[true, true], [false, false], [1, false], ['true', false]]) {
      assert.equal(stepOf({ text: 'a', guess }).guess, read);
    } // prettier-ignore
    for (const [notes, read] of [['n', 'n'], [' ', undefined], [5, undefined]]) {
      assert.equal(stepOf({ text: 'a', notes }).notes, read);
    } // prettier-ignore
    for (const [lock, read] of [
      [true, true], [false, []], ['all', []],
      [['head', 'head', 'a b', '', 1, null, 'seed'], ['head', 'seed']],
    ]) {
      assert.deepEqual(stepOf({ text: 'a', lock }).lock, read);
    } // prettier-ignore
  });

  test('a question', () => {
    const text = 'a';
    const choices = ['b', 'c'];
    for (const [exercise, read] of [
      [{}, {}],
      [{ number: 'nothing' }, {}],
      [{ number: 'tokens', within: 0.5 }, { number: 'tokens', within: 0.5 }],
      [{ number: 'tokens', within: 1e-9 }, { number: 'tokens', within: 1e-9 }],
      [{ number: 'tokens', within: 1 }, { number: 'tokens', within: 1 }],
      [{ number: 'tokens', within: 0 }, { number: 'tokens' }],
      [{ number: 'tokens', within: 1.001 }, { number: 'tokens' }],
      [{ number: 'tokens', within: '1' }, { number: 'tokens' }],
      [{ within: 0.5 }, {}],
      [{ choices }, { choices }],
      [{ choices: ['b', ' ', '', 2, 'c'] }, { choices }],
      [{ choices: ['b'], right: 0 }, {}],
      [{ choices: 'bc' }, {}],
      [{ choices, right: 0 }, { choices, right: 0 }],
      [{ choices, right: 1 }, { choices, right: 1 }],
      ...[2, -1, 0.5, '1'].map((right) => [{ choices, right }, { choices }]),
      [{ choices, number: 'largestKey', right: 1 }, { choices, number: 'largestKey' }],
      [{ right: 0 }, {}],
      [{ value: -0.5, off: 0.01 }, { value: -0.5, off: 0.01 }],
      [{ value: 0, off: 0 }, { value: 0, off: 0 }],
      ...[-1, '1', Infinity, NaN].map((off) => [{ value: 2, off }, { value: 2 }]),
      ...['2', NaN, Infinity, null].map((value) => [{ value, off: 1 }, {}]),
      [{ answers: ['one', ' ', 3, 'two'] }, { answers: ['one', 'two'] }],
      [{ answers: many(9, (i) => `a${i}`) }, { answers: many(8, (i) => `a${i}`) }],
      [{ answers: [' '] }, {}],
      [{ value: 2, answers: ['two'] }, { value: 2 }],
      [{ choices, value: 2, answers: ['two'] }, { choices }],
      [{ number: 'tokens', value: 2 }, { number: 'tokens' }],
    ]) {
      assert.deepEqual(exerciseOf({ text, ...exercise }), { text, ...read }, JSON.stringify(exercise));
    } // prettier-ignore
    for (const none of [{ text: ' ' }, { text: 1 }, null, [], 'a']) {
      assert.equal(exerciseOf(none), null, JSON.stringify(none));
    }
  });
});

test('lessons: the state of a step is that of its link, in the language of the reader', () => {
  const step = (more) => stepOf({ text: 'a', ...more });
  const first = web.initialState('en');
  assert.deepEqual(stateOf(step({}), 'en'), first);
  assert.deepEqual(stateOf(step({ state: 'seed=3&lang=zh&controls=0&p=map&v=2' }), 'en'), {
    ...{ ...first, seed: 3 },
    text: first.text,
  });
  assert.deepEqual(stateOf(step({}), 'zh'), web.initialState('zh'));
  const asks = { masksAsk: true, scaleAsk: true, curves: false };
  const show = ['masks', 'scale', 'temperature', 'row', 'sentence'];
  assert.deepEqual(stateOf(step({ show, guess: true }), 'en'), { ...first, ...asks });
  assert.deepEqual(stateOf(step({ show }), 'en'), first);
  assert.deepEqual(web.panelsOf(step({ show: ['settings', 'map', 'sentence', 'row'] })), [
    'map',
    'row',
  ]);
});

describe('lessons: the code of a link', () => {
  const short = lessonOf({ title: '' });
  const json = (lesson) => JSON.stringify(lesson);
  /** A lesson whose JSON is of so many bytes. */
  const ofLength = (bytes) => {
    const least = json(lessonOf({ title: '' })).length;
    return lessonOf({ title: 'é' + 'a'.repeat(bytes - least - 2) });
  };

  test('is packed from two hundred bytes on', async () => {
    for (const [bytes, kind] of [[199, 'j'], [200, 'z'], [201, 'z']]) {
      const lesson = ofLength(bytes);
      assert.equal(Buffer.byteLength(json(lesson)), bytes);
      const code = await writeCode(lesson);
      assert.equal(code[0], kind);
      const packed = Buffer.from(code.slice(1), 'base64url');
      const read = kind === 'j' ? packed : inflateRawSync(packed);
      assert.equal(read.toString(), json(lesson));
      assert.deepEqual(await readCode(code), lesson);
    } // prettier-ignore
  });

  test('where packing has no deflate-raw is not packed, and is said not to be unpacked', async () => {
    const packed = await writeCode(ofLength(300));
    const plain = await writeCode(short);
    assert.deepEqual([packed[0], web.canUnpack(packed), web.canUnpack(plain)], ['z', true, true]);
    const names = ['CompressionStream', 'DecompressionStream'];
    const own = names.map((name) => globalThis[name]);
    // Chrome 80 to 102 have the streams and not the format.
    const old = class {
      constructor(format) {
        throw new TypeError(`Unsupported compression format: '${format}'`);
      }
    };
    try {
      for (const stream of [old, undefined]) {
        for (const name of names) globalThis[name] = stream;
        assert.equal((await writeCode(ofLength(300)))[0], 'j');
        assert.equal(await readCode(packed), null);
        assert.deepEqual([web.canUnpack(packed), web.canUnpack(plain)], [false, true]);
      }
    } finally {
      names.forEach((name, i) => (globalThis[name] = own[i]));
    }
  });

  test('has nothing that an address would change', async () => {
    for (const title of ['>>>???', '÷÷÷', 'ÿÿ', '~~~']) {
      const lesson = lessonOf({ title });
      const code = await writeCode(lesson);
      assert.match(code, /^j[\w-]+$/);
      assert.equal(code.slice(1), Buffer.from(json(lesson)).toString('base64url'));
      assert.deepEqual(await readCode(code), lesson);
    }
    const good = await writeCode(short);
    for (const code of ['', 'j', 'z', 'x', 'jA=', 'j A', 'k', `a${good}`, `${good}+`]) {
      assert.equal(await readCode(code), null, code);
    }
  });

  test('is read up to a hundred thousand letters, and unpacks to four hundred thousand bytes', async () => {
    // White space before the lesson makes the text longer, and says nothing.
    const coded = (bytes) =>
      `j${Buffer.from(' '.repeat(bytes - json(short).length) + json(short)).toString('base64url')}`;
    const fits = coded(74_999);
    const [four, three] = [coded(74_999), coded(75_000)].map(({ length }) => length);
    assert.deepEqual([four, three], [100_000, 100_001]);
    assert.deepEqual(await readCode(fits), short);
    assert.equal(await readCode(coded(75_000)), null);
    const packed = (bytes) => {
      const text = ' '.repeat(bytes - json(short).length) + json(short);
      return `z${deflateRawSync(text).toString('base64url')}`;
    };
    assert.deepEqual(await readCode(packed(400_000)), short);
    assert.equal(await readCode(packed(400_001)), null);
    const cancel = mock.method(ReadableStreamDefaultReader.prototype, 'cancel');
    assert.equal(await readCode(packed(900_000)), null);
    assert.equal(cancel.mock.callCount(), 1, 'the rest is not unpacked');
    mock.restoreAll();
  });
});

describe('lessons: the address', () => {
  test('is read out of the query, and out of a fragment of this version', () => {
    const order = { name: 'order', code: null, step: 1, language: null };
    const longest = 'a'.repeat(40);
    for (const [search, fragment, address] of [
      ['', '', null],
      ['', '#v=1', null],
      ['', '#v=1&lesson=order', order],
      ['', 'v=1&lesson=order', order],
      ['', '#v=2&lesson=order', null],
      ['', '#lesson=order', null],
      ['?lesson=order', '#v=2&lesson=scale&step=3&lang=zh', order],
      ['?lesson=order&step=2&lang=en', '#v=1&lesson=scale&step=3&lang=zh', { name: 'scale', code: null, step: 3, language: 'zh' }],
      ['?lesson=order&step=2&lang=en', '#v=1', { ...order, step: 2, language: 'en' }],
      ['?lesson=order&step=2', '#v=1&lesson=scale', { ...order, name: 'scale', step: 2 }],
      ['?lesson=order', '#v=1&L=zcode', { ...order, name: null, code: 'zcode' }],
      ['?L=zcode', '', null],
      ['', '#L=zcode', null],
      ['', '#v=1&L=', null],
      ['', '#v=1&L=&lesson=order', order],
      ['', '#v=1&lesson=', null],
      ['', `#v=1&lesson=${longest}`, { ...order, name: longest }],
      ['', `#v=1&lesson=${longest}a`, null],
      ['', '#v=1&lesson=a-b', null],
      ['', '#v=1&lesson=a%20b', null],
    ]) {
      assert.deepEqual(readAddress(search, fragment), address, `${search} ${fragment}`);
    } // prettier-ignore
    const steps = {
      0: 1,
      1: 1,
      1.5: 2,
      2.4: 2,
      '-3': 1,
      99: 99,
      100: 99,
      '1e9': 99,
      x: 1,
      '': 1,
      Infinity: 1,
    };
    for (const [raw, step] of Object.entries(steps)) {
      assert.deepEqual(readAddress('', `#v=1&lesson=order&step=${raw}`), { ...order, step }, raw);
    }
    for (const [raw, language] of [['en', 'en'], ['zh', 'zh'], ['fr', null], ['', null]]) {
      const read = readAddress('', `#v=1&lesson=order&lang=${raw}`);
      assert.deepEqual(read, { ...order, language }, raw);
    } // prettier-ignore
  });

  test('tells lessons apart on a device: by name, or by what the link contains', () => {
    const ids = [
      { name: 'order', code: null },
      ...['zcode', 'zcodf', 'jcode'].map((code) => ({ name: null, code })),
    ].map(idOf);
    assert.deepEqual([ids[0], new Set(ids).size], ['order', 4]);
    for (const id of ids.slice(1)) assert.match(id, /^own-[\da-z]+$/);
  });

  test('is written as it is read', () => {
    for (const [address, written] of [
      [{ name: 'order', code: null, step: 1 }, '#v=1&lang=en&lesson=order'],
      [{ name: 'order', code: null, step: 2 }, '#v=1&lang=en&lesson=order&step=2'],
      [{ name: null, code: null, step: 1 }, '#v=1&lang=en&lesson=index'],
      [{ name: 'order', code: 'zcode', step: 99 }, '#v=1&lang=en&L=zcode&step=99'],
      [{ name: null, code: '', step: 0 }, '#v=1&lang=en&lesson=index'],
    ]) {
      assert.equal(writeAddress(address, 'en'), written);
    }
  });
});

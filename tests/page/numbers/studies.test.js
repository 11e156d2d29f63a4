// What panels have worked out beside the frames, in Node: one question at a time, dropped when another is asked; and
// the stages of a frame, which run again when an input changed and not otherwise.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { init } from '../../../dist/index.js';
import { modules } from '../support/engine.js';

const { StudyDesk, FullLayer, makeFeatures, stage } = await modules(
  'worker/study_scheduler',
  'engine/{memo,full_layer}',
  'features/frame_features',
);
const qkv = await init();

/** The row of scores that a frame studies; another id is another question. */
const rowOf = (id, scores) => ({
  ...{ id, row: 0, scores: Float32Array.from(scores), mean: 0 },
  ...{ cumulants: [NaN, NaN, 1, 0, 0, 0, 0], critical: 1, gap: 1 },
});
const asked = { temperature: 'row', scale: null };
const newDesk = () => new StudyDesk(makeFeatures({ qkv, log: [], whole: new FullLayer(qkv) }));

/** All that the desk tells until it has nothing to do; at most `most` steps. */
function allOf(desk, most = 2000) {
  const told = [];
  for (let step = 0; desk.busy && step < most; step++) {
    const news = desk.step();
    if (news) told.push(news);
  }
  return told;
}

describe('studies:', () => {
  test('a question is answered once, however often it is asked', () => {
    const desk = newDesk();
    const row = rowOf(1, [1, 2, 3]);
    desk.ask(asked, { temperature: { of: row } });
    assert.equal(desk.busy, true);
    desk.step();
    desk.ask(asked, { temperature: { of: row } }); // a frame later: it goes on
    const told = allOf(desk);
    assert.deepEqual(
      told.map(({ temperature }) => temperature.id),
      [1],
    );
    desk.ask(asked, { temperature: { of: row } });
    assert.equal(desk.busy, false);
    assert.equal(desk.step(), undefined);
  });

  test('a question that is asked with every frame goes on, and does not begin again', () => {
    const desk = newDesk();
    const row = rowOf(1, [1, 2, 3]);
    let told;
    for (let frame = 0; frame < 200 && !told; frame++) {
      desk.ask(asked, { temperature: { of: row } });
      told = desk.step();
    }
    assert.equal(told?.temperature.id, 1);
  });

  test('another question drops what was under way', () => {
    const desk = newDesk();
    desk.ask(asked, { temperature: { of: rowOf(1, [1, 2, 3]) } });
    desk.step();
    desk.ask(asked, { temperature: { of: rowOf(2, [0, 5]) } });
    const told = allOf(desk);
    assert.deepEqual(
      told.map(({ temperature }) => temperature.id),
      [2],
    );
    assert.equal(
      told[0].temperature.histogram.counts.reduce((a, b) => a + b),
      2,
    );
  });

  test('what is dropped gives back what it holds', () => {
    const ended = [];
    function* begin(question) {
      try {
        for (;;) yield undefined;
      } finally {
        ended.push(question);
      }
    }
    const desk = new StudyDesk({ scale: { study: { question: (asking) => asking, begin } } });
    desk.ask({ scale: 'one' }, {});
    desk.step();
    desk.ask({ scale: 'two' }, {});
    assert.deepEqual(ended, ['one']);
    desk.step();
    desk.drop();
    assert.deepEqual(ended, ['one', 'two']);
  });

  test('what is out of sight is put aside, and goes on when it is seen again', () => {
    const desk = newDesk();
    const row = rowOf(1, [1, 2, 3]);
    desk.ask(asked, { temperature: { of: row } });
    desk.step();
    desk.ask({ temperature: null, scale: null }, {});
    assert.equal(desk.busy, false);
    assert.equal(desk.step(), undefined);
    desk.ask(asked, { temperature: { of: row } });
    assert.equal(allOf(desk).length, 1);
  });

  test('widths come one after the other, and a new sample begins again', () => {
    const desk = newDesk();
    desk.ask({ temperature: null, scale: 1 }, {});
    let news;
    while (!news) news = desk.step();
    assert.deepEqual([news.scale.sample, news.scale.complete], [1, false]);
    desk.ask({ temperature: null, scale: 2 }, {});
    news = undefined;
    while (!news) news = desk.step();
    assert.deepEqual([news.scale.sample, news.scale.results.length], [2, 1]);
  });

  test('a failure lets the same question be asked again', () => {
    const desk = newDesk();
    const row = rowOf(1, [1, 2]);
    desk.ask(asked, { temperature: { of: row } });
    desk.drop();
    assert.equal(desk.busy, false);
    desk.ask(asked, { temperature: { of: row } });
    assert.equal(allOf(desk).length, 1);
  });
});

describe('stages:', () => {
  test('run again when any of their inputs is another', () => {
    const log = [];
    const add = stage('add', log, (a, b, c) => [a, b, c]);
    const first = add(1, 2, 3);
    assert.equal(add(1, 2, 3), first);
    for (const inputs of [
      [0, 2, 3],
      [0, 0, 3],
      [0, 0, 0],
    ]) {
      assert.deepEqual(add(...inputs), inputs);
    }
    assert.equal(log.length, 4);
  });

  test('do not look at an input that another one stands for', () => {
    const log = [];
    const read = stage('read', log, (key, value) => [key, value], [1]);
    const first = read('a', {});
    assert.equal(read('a', {}), first);
    assert.notEqual(read('b', {}), first);
  });

  test('that threw run again', () => {
    let broken = true;
    const part = stage('part', [], () => {
      if (broken) throw new Error('why');
      return 1;
    });
    assert.throws(() => part(1), /why/);
    broken = false;
    assert.equal(part(1), 1);
  });
});

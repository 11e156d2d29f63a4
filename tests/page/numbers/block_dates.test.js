// @run full, or after changes in web/src/features/block web/src/engine
// The model that writes dates, in Node: dates in words and in numbers, a model that is trained, and the part of the panel about the
// block that shows it.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { full, leaveToFullRun } from '../../support/js/full.js';
import { rest, told, web, workers } from '../support/scene.js';

const { modules, packageModule } = await import('../support/engine.js');
const dates = await modules(
  ...['features/block/shared/dates', 'features/block/page/date_maps'],
  ...['features/block/worker/date_model', 'domain/random_ints', 'ui/numbers'],
);
const qkv = await (await packageModule('train')).init({ deterministic: true });
after(() => qkv.dispose());

const LEAP = { year: 2000, month: 2, day: 29 };

test('dates: the same day in both languages and in numbers, and what is no day', () => {
  assert.equal(dates.written(LEAP, 'en'), '29 February 2000');
  assert.equal(dates.written(LEAP, 'zh'), '2000年2月29日');
  assert.equal(dates.isoOf({ year: 1987, month: 3, day: 3 }), '1987-03-03');
  for (const language of ['en', 'zh']) {
    assert.deepEqual(dates.dayOf(dates.written(LEAP, language), language), LEAP);
    const parts = Object.entries(dates.placesOf(LEAP, language)).map(([part, place]) => [
      part,
      dates.written(LEAP, language).slice(...place),
    ]);
    const month = language === 'en' ? 'February' : '2';
    assert.deepEqual(Object.fromEntries(parts), { year: '2000', month, day: '29' });
  }
  const none = ['29 February 1900', '31 April 2001', '0 May 2001', '3 may 2001', '03 May 2001'];
  for (const text of [...none, '3 May 2100', '3 May', '']) {
    assert.equal(dates.dayOf(text, 'en'), null, text);
  }
});

test('dates: what the model cannot read has no tokens', () => {
  for (const text of ['', '3 Märch 1987', '33 September 19877', '3年']) {
    assert.equal(dates.tokensOf(text, 'en'), null, text);
  }
  const tokens = dates.tokensOf('31 September 2087', 'en');
  assert.equal(tokens.length, 17);
  assert.equal(dates.charactersFor(tokens, 'en').join(''), '31 September 2087');
});

test('dates: a tenth of them is held out, and drawn for the test alone', () => {
  const random = dates.dice(5);
  for (const heldOut of [true, false]) {
    const drawn = Array.from({ length: 300 }, () => dates.drawDay(random, heldOut));
    assert.ok(drawn.every((day) => dates.isHeldOut(day) === heldOut));
    for (const day of drawn) assert.deepEqual(dates.dayOf(dates.written(day, 'en'), 'en'), day);
    assert.equal(new Set(drawn.map(({ month }) => month)).size, 12);
  }
  assert.ok(
    dates.isHeldOut({ year: 1987, month: 3, day: 3 }),
    'the date that the page begins with',
  );
});

/** The result of a generator, and how often it yielded. */
function finished(steps) {
  for (let count = 0; ; count++) {
    const { done, value } = steps.next();
    if (done) return { model: value, count };
  }
}

const TEXTS = Object.entries({ en: '21 August 2040', zh: '2040年8月21日' });
if (!full) leaveToFullRun('training on dates in Chinese');

describe('dates: a trained model', () => {
  for (const [language, text] of full ? TEXTS : TEXTS.slice(0, 1)) {
    test(`writes held-out dates (${language}), and attends to what it writes`, () => {
      const { model, count } = finished(dates.trainDates(qkv, language));
      assert.equal(count, 1200);
      assert.ok(model.right >= 190, `${model.right} of 200`); // 200 with each of six seeds
      const reading = model.read(dates.tokensOf(text, language));
      assert.equal(dates.charactersFor(reading.ids, language).join(''), '2040-08-21');
      const cols = [...text].length;
      assert.deepEqual([reading.rows, reading.weights.length], [11, 2 * 11 * cols]);
      for (let row = 0; row < 22; row++) {
        const sum = reading.weights.slice(row * cols, (row + 1) * cols).reduce((a, b) => a + b);
        assert.ok(Math.abs(sum - 1) < 1e-5);
      }
      const day = dates.dayOf(text, language);
      const shares = ['year', 'month', 'day'].map((part) => dates.shareOn(part, reading, day, language)); // prettier-ignore
      assert.ok(
        shares.every((share) => share > 0.4 && share <= 1.0001),
        `${shares}`,
      );
      model.dispose();
    });
  }

  test('that is not trained to the end is given back', () => {
    let trainer;
    const steps = dates.trainDates({ seq2seq: (...of) => (trainer = qkv.seq2seq(...of)) }, 'en');
    steps.next();
    steps.return();
    assert.throws(() => trainer.parameters(), { code: 'disposed' });
  });
});

test('dates: the share of a part is the mean of its rows and heads', () => {
  const tokens = dates.tokensOf('2040年8月21日', 'zh');
  const weights = new Float32Array(2 * 11 * 10);
  // The month is the character 5: head 1 attends to it from row 5, head 2 half from row 6.
  weights[5 * 10 + 5] = 1;
  weights[11 * 10 + 6 * 10 + 5] = 0.5;
  const reading = { tokens, ids: [], rows: 11, weights };
  const day = { year: 2040, month: 8, day: 21 };
  const share = (part) => dates.shareOn(part, reading, day, 'zh');
  assert.deepEqual(['year', 'month', 'day'].map(share), [0, 1.5 / 4, 0]);
});

test('dates: the part trains when asked, reads what is typed, and forgets it with the language', async () => {
  const part = document.createElement('qkv-block-dates');
  document.body.replaceChildren(part);
  workers.length = 0;
  const show = async (more) => {
    part.update({ state: { ...web.initialState('en'), ...more }, look: 1 });
    await rest();
  };
  const text = (selector) => part.querySelector(selector)?.textContent.trim();
  await show({});
  assert.equal(part.querySelector('#block-date').value, '3 March 1987');
  assert.equal(workers.length, 0, 'nothing runs before the press');
  part.querySelector('.dates-train').click();
  const [worker] = workers;
  assert.deepEqual(worker.heard, ['block', { type: 'train', language: 'en' }]);
  worker.say({ type: 'training', step: 300 });
  assert.equal(text('.dates-status'), 'Step 300 of 1200.');
  worker.say({ type: 'trained', right: 199 });
  assert.match(text('.dates-status'), /Of 200 held-out dates it writes 199 /);
  const tokens = dates.tokensOf('3 March 1987', 'en');
  assert.deepEqual(worker.heard.at(-1), { type: 'read', tokens });
  const says = (written, of) => {
    const ids = dates.tokensOf(written, 'en');
    const weights = new Float32Array(2 * 11 * of.length).fill(1 / of.length);
    worker.say({ type: 'reading', reading: { tokens: of, ids, rows: 11, weights } });
  };
  says('1987-03-03', tokens);
  assert.equal(text('.dates-written'), '3 March 1987 → 1987-03-03');
  assert.match(text('.dates-verdict'), /^This is right\.\s+The date is held out\.$/);
  assert.match(text('.dates-shares'), /year, 33\.3% of .* month, 41\.7% is .* day, 8\.3% is/);
  assert.equal(part.querySelectorAll('qkv-matrix').length, 2);
  await show({ blockDate: '3 Mäi 1987' });
  assert.equal(worker.heard.length, 3, 'no model could read this');
  assert.equal(part.querySelector('.dates-unknown').hidden, false);
  assert.match(text('.dates-unknown'), /like “3 March 1987” only, and at most 17/);
  await show({ blockDate: '4 May 2001' });
  says('2001-05-14', worker.heard.at(-1).tokens);
  assert.match(text('.dates-verdict'), /^This is wrong: the date is 2001-05-04\./);
  assert.equal(text('.dates-shares'), undefined);
  told.length = 0;
  await show({ language: 'zh' });
  assert.deepEqual(told, ['ended'], 'its worker');
  assert.deepEqual([text('.dates-written'), text('.dates-status')], [undefined, '']);
});

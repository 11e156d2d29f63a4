// How a trained model writes on and is timed, in Node: of a model and a clock that are written down here, so that what is told,
// when, and what the model was asked for in which order is known.
import assert from 'node:assert/strict';
import { afterEach, describe, mock, test } from 'node:test';
import { modules } from '../support/engine.js';

const web = await modules('features/model/worker/generation');
afterEach(() => mock.restoreAll());

describe('model: writing on', () => {
  /** Writes tokens that take so many milliseconds each, and notes what is told and asked for. */
  async function write({
    takes,
    begin = 1000,
    ask = {},
    info = {},
    fails,
    aborts,
    decode = (ids) => `:${ids}`,
  }) {
    let now = begin;
    const waits = [];
    mock.method(performance, 'now', () => now);
    mock.method(globalThis, 'setTimeout', (act, wait) => {
      waits.push(wait);
      queueMicrotask(act);
    });
    const stop = new AbortController();
    const asked = [];
    const session = {
      ...{ capacity: 50, bytes: 400, length: 2 },
      dispose: () => asked.push('dispose'),
    };
    const model = {
      tokenizer: decode && { decode },
      session: (options) => (asked.push(options), session),
      async *generate(ids, options) {
        asked.push([ids, options]);
        for (const [id, time] of takes.entries()) {
          now += time;
          session.length++;
          yield { id, text: `${id},` };
        }
        if (aborts) stop.abort();
        if (fails) throw new Error('no room');
      },
    };
    const said = [];
    const opened = {
      ...{ model, info: { maxLength: 64, tokenizer: 'characters', ...info } },
      label: (id) => `<${id}>`,
    };
    const sampling = { temperature: 0.5, topK: 3, topP: 0.25 };
    const whole = { ids: [7, 8], sampling, ablated: [[0, 1]], seed: 5, tokens: 9, pace: null };
    const writing = web.generate(
      opened,
      { ...whole, ...ask },
      { signal: stop.signal, say: (generated) => said.push(generated) },
    );
    const error = await writing.then(
      () => null,
      ({ message }) => message,
    );
    return { said, asked, waits, error, signal: stop.signal, session };
  }

  test('asks the model for what the page asks for, and gives the cache back', async () => {
    const { asked, session, signal, error } = await write({ takes: [1] });
    const { session: into, signal: ends, ...options } = asked[1][1];
    assert.equal(into, session);
    assert.equal(ends, signal);
    assert.deepEqual(
      [asked[0], asked[1][0], options, asked[2], error],
      [
        ...[{ capacity: 64 }, [7, 8]],
        {
          ...{ temperature: 0.5, topK: 3, topP: 0.25, seed: 5, maxTokens: 9 },
          inspect: { ablate: [[0, 1]] },
        },
        ...['dispose', null],
      ],
    );
    for (const [maxLength, capacity] of [
      [2047, 2047],
      [2048, 2048],
      [2049, 2048],
    ]) {
      const { asked: then } = await write({ takes: [], info: { maxLength } });
      assert.deepEqual(then[0], { capacity });
    }
  });

  test('tells what was written, and at the end that it is', async () => {
    const { said, waits } = await write({ takes: [3, 5] });
    const common = { before: ':7,8', capacity: 50, bytesPerToken: 8, seed: 5 };
    assert.deepEqual(said, [
      { ...common, text: '0,', tokens: 1, cached: 3, median: NaN, running: true },
      { ...common, text: '0,1,', tokens: 2, cached: 4, median: 5, running: false },
    ]);
    assert.deepEqual(waits, []);
  });

  test('tells every token where there is a pause after each', async () => {
    const { said, waits } = await write({ takes: [1, 1, 1], ask: { pace: 24 } });
    assert.deepEqual(
      said.map(({ tokens, running }) => [tokens, running]),
      [
        [1, true],
        [2, true],
        [3, true],
        [3, false],
      ],
    );
    assert.deepEqual(waits, Array(3).fill(1000 / 24));
  });

  test('the time of a token is the median of the latest 63, without the first', async () => {
    const { said } = await write({ takes: Array.from({ length: 70 }, (_, i) => i + 1) });
    assert.equal(said.at(-1).median, (8 + 70) / 2);
    const { said: few } = await write({ takes: [100, 1, 2, 6] });
    assert.equal(few.at(-1).median, 2);
  });

  test('a stop is no failure, and a failure is told after what was written', async () => {
    for (const [aborts, error] of [
      [true, null],
      [false, 'no room'],
    ]) {
      const found = await write({ takes: [1, 1], fails: true, aborts });
      assert.equal(found.error, error);
      assert.deepEqual(
        found.said.map(({ tokens, running }) => [tokens, running]),
        [
          [1, true],
          [2, false],
        ],
      );
      assert.equal(found.asked.at(-1), 'dispose');
    }
  });
});

describe('model: timing', () => {
  /** A model that reads `maxLength` tokens, and what it was asked for: passes of so many tokens (`p`), tokens behind those in the cache (`t`), and cuts of it (`c`). */
  function modelOf(maxLength) {
    const calls = [];
    const session = {
      length: 0,
      truncate(length) {
        assert.ok(length >= 0 && length <= session.length, `${length} of ${session.length}`);
        session.length = length;
        calls.push(`c${length}`);
      },
      dispose: () => calls.push('dispose'),
    };
    const model = {
      config: { maxLength },
      session: ({ capacity }) => (calls.push(`capacity ${capacity}`), session),
      forward(ids, { session: into, rows }) {
        assert.equal(rows, 'last');
        ids.forEach((id, i) => assert.equal(id, [4, 5, 6][((into?.length ?? 0) + i) % 3]));
        calls.push(`${into ? 't' : 'p'}${ids.length}`);
        if (into) into.length += ids.length;
        const error = into ? 0 : 1 / ids.length;
        return { logits: { data: Float32Array.of(1, 2 - error, 3 + error / 2) } };
      },
    };
    return { calls, model };
  }
  test('takes spans of tokens behind each length, and whole passes beside them, and is told after each length', () => {
    let now = 0;
    mock.method(performance, 'now', () => ++now);
    for (const [maxLength, lengths] of [[9, [1]], [25, [8, 16, 17]], [40, [8, 16, 32]]]) {
      const { calls, model } = modelOf(maxLength);
      const said = [...web.speedOf({ model }, [4, 5, 6])];
      assert.deepEqual(said.map(({ running }) => running), [...said.slice(1).map(() => true), false]);
      assert.deepEqual(said.at(-1).points.map(({ length }) => length), lengths);
      const passes = calls.filter((call) => call.startsWith('p')).map((call) => Number(call.slice(1)));
      assert.ok(passes.every((tokens) => tokens <= maxLength));
      assert.deepEqual([calls[0], calls.at(-1)], [`capacity ${maxLength}`, 'dispose']);
    }
  }); // prettier-ignore

  test('has lengths up to what the model reads, and up to 512', () => {
    let now = 0;
    mock.method(performance, 'now', () => (now += 7));
    const lengthsOf = (maxLength) => {
      const all = [...web.speedOf({ model: modelOf(maxLength).model }, [4, 5, 6])];
      return all.at(-1).points.map(({ length }) => length);
    };
    const full = [8, 16, 32, 64, 128, 192, 256, 384];
    for (const [maxLength, lengths] of [
      ...[
        [1, []],
        [8, []],
        [9, [1]],
        [16, [8]],
        [17, [8, 9]],
        [24, [8, 16]],
      ],
      ...[
        [136, [8, 16, 32, 64, 128]],
        [137, [8, 16, 32, 64, 128, 129]],
        [519, [...full, 511]],
      ],
      ...[
        [520, [...full, 512]],
        [521, [...full, 512]],
        [4096, [...full, 512]],
      ],
    ]) {
      assert.deepEqual(lengthsOf(maxLength), lengths, `${maxLength} tokens`);
    }
  });
});

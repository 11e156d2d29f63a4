// @build any
// Any sequence of calls on a model and its sessions: what is refused is refused by name and changes nothing, and what is
// answered is what a model says that has never heard of the rest.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { init } from 'qkv';
import { charactersTokenizer, create } from 'qkv/models';
import { kinds } from '../../support/js/model-kinds.js';
import { randomWeights } from '../../support/js/model-oracle.js';
import { defined, oddNumbers, rarely as orOdd } from './support/json.js';
import { expectRefusal } from './support/reading.js';
import { about, settings, watchdog } from './support/settings.js';

const usual = 60;
const watch = watchdog();
const engine = await init({ deterministic: true });
after(() => {
  watch.stop();
  engine.dispose();
});

const config = { ...kinds.llama, maxLength: 16 };
const tokenizer = charactersTokenizer(Array.from('abcdefghijklmnopqrs'));
const model = create(engine, config, randomWeights(config, 7), { tokenizer });
const capacity = 12;

const wild = fc.constantFrom(...oddNumbers, NaN, Infinity, null, '3', {}, [], undefined);
const rarely = (usually, odd = wild) => orOdd(usually, odd);
const token = rarely(
  fc.nat(config.vocabulary - 1),
  fc.constantFrom(-1, 19, 0.5, 2 ** 31, NaN, null),
);
const ids = fc.oneof(
  { weight: 8, arbitrary: fc.array(token, { minLength: 1, maxLength: 4 }) },
  { weight: 1, arbitrary: fc.constantFrom([], 'abc', 'a?', 3, null, undefined, Array(17).fill(1)) },
);
/** Options, of which most are right; those that are undefined are left out. */
const sampling = fc.record({
  temperature: rarely(fc.constantFrom(0, 0.7, 3, 1e-40, 1e30)),
  topK: rarely(fc.constantFrom(0, 1, 3, 99)),
  topP: rarely(fc.constantFrom(1, 0.9, 1e-6)),
  minP: rarely(fc.constantFrom(0, 0.1, 1)),
  repetitionPenalty: rarely(fc.constantFrom(1, 1.5, 0.5)),
  seed: rarely(fc.nat(9)),
  maxTokens: rarely(fc.integer({ min: 1, max: 5 })),
  stop: rarely(fc.constantFrom(undefined, ['b'], ['ab', 'cd'], ['zz']), fc.constantFrom('b', [''], [1], {}, 3)),
  stopTokens: rarely(fc.constantFrom(undefined, [], [3], [0, 18]), fc.constantFrom([19], [-1], [0.5], 3, 'b')),
}); // prettier-ignore
const heads = rarely(
  fc.constantFrom(undefined, undefined, [], [[0, 1]], [[1, 3], [0, 0]]),
  fc.constantFrom([[2, 0]], [[0, 4]], [[0]], 3, 'x', null),
); // prettier-ignore
const flag = rarely(fc.constantFrom(undefined, true, false));
const inspect = rarely(
  fc.option(
    fc.record({
      layers: rarely(fc.constantFrom(undefined, [0], [1, 0], []), fc.constantFrom([2], [0, 0], 3, 'x', null, {}, [0.5])),
      ...{ weights: flag, entropy: flag, residuals: flag, logitLens: flag, projections: flag, ablate: heads },
    }),
    { nil: undefined },
  ),
); // prettier-ignore
/** Rows of a session: none so many that it would only take memory. */
const few = fc.constantFrom(0, -1, 2, 0.5, 2 ** 31, NaN, null, '3', undefined);
/** A session by its number; another's, or none. */
const which = rarely(fc.constantFrom(0, 1, undefined));
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ call: fc.constant('forward'), which, ids, inspect, rows: rarely(fc.constantFrom('all', 'last')) }) },
  { weight: 4, arbitrary: fc.record({ call: fc.constant('generate'), which, ids, inspect, sampling, after: fc.nat(5), how: fc.constantFrom('end', 'break', 'abort', 'throw') }) },
  { weight: 2, arbitrary: fc.record({ call: fc.constant('truncate'), which: fc.nat(1), length: rarely(fc.nat(capacity)) }) },
  { weight: 1, arbitrary: fc.record({ call: fc.constant('loss'), ids, inspect: rarely(fc.constantFrom(undefined, {}, { ablate: [[0, 1]] })) }) },
  { weight: 1, arbitrary: fc.record({ call: fc.constant('session'), which: fc.nat(1), options: fc.record({ batch: rarely(fc.constant(1), few), capacity: rarely(fc.constant(capacity)), format: rarely(fc.constant('f32')) }) }) },
  { weight: 1, arbitrary: fc.record({ call: fc.constant('dispose'), which: fc.nat(1) }) },
); // prettier-ignore

const names = {
  forward: 'LanguageModel.forward',
  generate: 'LanguageModel.generate',
  loss: 'LanguageModel.loss',
  session: 'LanguageModel.session',
  truncate: 'Session.truncate',
};
const enough = new Error('enough');

const tokensOf = (given) => (typeof given === 'string' ? tokenizer.encode(given) : given);

/** Two sessions, and the tokens that each must hold; null for one that is gone. */
class Talk {
  sessions = [0, 1].map(() => model.session({ capacity }));
  held = [[], []];
  /** Sessions with keys of passes without some heads, which no fresh pass has. */
  ablated = new Set();

  options(number, rest) {
    // A number that names none is what the call is given.
    const session = number === undefined ? {} : { session: this.sessions[number] ?? number };
    return { ...session, ...defined(rest) };
  }

  forward({ which: number, ids: given, inspect: asked, rows }) {
    const { logits } = model.forward(given, this.options(number, { inspect: asked, rows }));
    const tokens = tokensOf(given);
    this.held[number]?.push(...tokens);
    if (asked?.ablate?.length) this.ablated.add(number);
    assert.equal(logits.shape[1], rows === 'last' ? 1 : tokens.length);
  }

  async generate({ which: number, ids: given, inspect: asked, sampling: how2, after: count, how }) {
    const stop = new AbortController();
    const options = this.options(number, { ...how2, inspect: asked, signal: stop.signal });
    const written = model.generate(given, options);
    const told = [];
    let hasBegun = false;
    try {
      for await (const { id } of written) {
        if (!hasBegun) this.held[number]?.push(...tokensOf(given));
        hasBegun = true;
        if (asked?.ablate?.length) this.ablated.add(number);
        assert.ok(Number.isInteger(id) && id >= 0 && id < config.vocabulary, `${id}`);
        told.push(id);
        if (told.length <= count) continue;
        if (how === 'break') break;
        if (how === 'throw') throw enough;
        if (how === 'abort') stop.abort(enough);
      }
    } catch (error) {
      if (error !== enough) throw error;
    } finally {
      // The last token need not be read where there is no room for it.
      this.held[number]?.push(...told);
      this.held[number]?.splice(capacity);
    }
  }

  truncate({ which: number, length }) {
    this.sessions[number].truncate(length);
    this.held[number].length = length;
  }

  loss({ ids: given, inspect: asked }) {
    const nats = model.loss(given, defined({ inspect: asked }));
    assert.ok(nats > 0 && Number.isFinite(nats), `${nats}`);
  }

  session({ which: number, options }) {
    const made = model.session(defined(options));
    if (options.batch !== 1 || options.capacity !== capacity) return made.dispose();
    this.sessions[number].dispose();
    this.sessions[number] = made;
    this.held[number] = [];
    this.ablated.delete(number);
    return undefined;
  }

  dispose({ which: number }) {
    this.sessions[number].dispose();
    this.held[number] = null;
  }

  /** Every session holds what it must, and says of it what a fresh pass says. */
  expectHeld() {
    for (const [i, session] of this.sessions.entries()) {
      const tokens = this.held[i];
      if (tokens === null) continue;
      assert.equal(session.length, tokens.length, `session ${i}`);
    }
  }
  expectSaid() {
    for (const [i, session] of this.sessions.entries()) {
      const tokens = this.held[i];
      if (tokens === null || tokens.length === capacity || this.ablated.has(i)) continue;
      const { logits } = model.forward([3], { session });
      const fresh = model.forward([...tokens, 3], { rows: 'last' }).logits.data;
      logits.data.forEach((x, at) =>
        assert.ok(
          Math.abs(x - fresh[at]) < 1e-4,
          `logit ${at} of session ${i}: ${x}, ${fresh[at]}`,
        ),
      );
    }
  }

  end() {
    for (const session of this.sessions) session.dispose();
  }
}

/** Whether a call is answered; a refusal has the name of what was called. */
async function isAnswered(talk, each) {
  try {
    await talk[each.call](each);
    return true;
  } catch (error) {
    expectRefusal(error, names[each.call]);
    return false;
  }
}

test('fuzz: any sequence of calls on a model and its sessions', async (t) => {
  t.diagnostic(about(usual));
  const counts = { answered: 0, refused: 0 };
  const { handles } = engine.memory();
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
      watch.note(JSON.stringify(steps));
      const talk = new Talk();
      try {
        for (const each of steps) {
          const wasAnswered = await isAnswered(talk, each);
          counts[wasAnswered ? 'answered' : 'refused'] += 1;
          talk.expectHeld();
        }
        talk.expectSaid();
      } finally {
        talk.end();
      }
      assert.equal(engine.memory().handles, handles);
    }),
    settings(usual),
  );
  t.diagnostic(`${counts.answered} answered, ${counts.refused} refused`);
  assert.ok(Math.min(counts.answered, counts.refused) > settings(usual).numRuns, 'both');
  model.dispose();
});

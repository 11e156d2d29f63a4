// Tokens one after another.

import { QkvError } from '../api/errors.js';
import type { GenerateOptions, Token } from '../api/model-types.js';
import { checkBoolean, checkInteger, mostInt } from '../arguments/numbers.js';
import { oneLoop } from '../arguments/one-loop.js';
import { checkSignal, throwIfAborted } from '../arguments/signal.js';
import { describe, listOf, takeOptions } from '../arguments/values.js';
import { within } from '../arguments/ranges.js';
import { found } from '../language/rows.js';
import type { Group } from '../memory/abi.js';
import { Call } from '../memory/call.js';
import { PassSites, type SitesAsked } from './pass-sites.js';
import { Pause } from './pause.js';
import { editsIn, editsOf, type SiteEdit } from './edits.js';
import {
  addressOf,
  checkIdle,
  createSession,
  type SessionState,
  sessionStateOf,
  keepOnly,
  readInto,
} from './session.js';
import type { ModelState } from './model-state.js';
import { StreamedText } from './streamed-text.js';
import { hasNoTokenizer, tokensOf } from './text.js';

const fn = 'LanguageModel.generate';
const names = [
  ...['maxTokens', 'temperature', 'topK', 'topP', 'minP', 'repetitionPenalty', 'seed', 'stop'],
  ...['stopTokens', 'session', 'inspect', 'signal', 'plain', 'read', 'edit'],
] as const;
/** Tokens of a prompt between two turns of the event loop: as many as the core takes at once, kPieceTokens there. */
const pieceTokens = 240;
/** Most texts or tokens that end it. */
const mostStops = 1000;

type Sampling = Omit<Group<'sampling'>, 'frequencyPenalty' | 'presencePenalty'>;

/** The tokens of a prompt, and how many may follow. */
interface Prompt {
  readonly prompt: Int32Array;
  /** What the encoder of a model with one reads first, unless a session has its own. */
  readonly source?: Int32Array;
  readonly most: number;
}

/** The arguments of generate(), with their defaults. */
interface GenerateRequest extends Prompt {
  /** The same prompt, should the session be longer by now. */
  readonly again: () => Prompt;
  /** The length of the session when generate() was called. */
  readonly length: number;
  readonly sampling: Omit<Sampling, 'step'>;
  readonly stops: readonly string[];
  readonly ends: readonly number[];
  readonly session: SessionState | undefined;
  /** What is read of each token that is chosen. */
  readonly asked: Pick<GenerateOptions, 'inspect' | 'read'>;
  readonly edits: readonly SiteEdit[];
  readonly signal: AbortSignal | undefined;
}

function samplingOf(taken: GenerateOptions): GenerateRequest['sampling'] {
  const { temperature = 0, topK = 0, topP = 1, minP = 0, repetitionPenalty = 1, seed = 0 } = taken;
  checkInteger(fn, 'topK', topK, 0, mostInt);
  checkInteger(fn, 'seed', seed, 0, Number.MAX_SAFE_INTEGER);
  return {
    ...{ topK, seed },
    temperature: within(fn, 'temperature', temperature, 'at least 0'),
    topP: within(fn, 'topP', topP, '(0, 1]'),
    minP: within(fn, 'minP', minP, '[0, 1]'),
    repetitionPenalty: within(fn, 'repetitionPenalty', repetitionPenalty, 'above 0'),
  };
}

function stopsOf(given: unknown): readonly string[] {
  if (given === undefined) return [];
  const list = listOf(fn, 'stop', given, mostStops);
  if (!list?.every((stop): stop is string => typeof stop === 'string' && stop !== '')) {
    throw new QkvError(
      'invalid_argument',
      `${fn}: stop is ${describe(given)}, expected an array of texts that are not empty`,
    );
  }
  return list;
}

function endsOf({ spec }: ModelState, given: unknown): readonly number[] {
  if (given === undefined) return spec.ends;
  const list = listOf(fn, 'stopTokens', given, mostStops);
  if (!list) {
    throw new QkvError(
      'invalid_argument',
      `${fn}: stopTokens is ${describe(given)}, expected an array of tokens`,
    );
  }
  const last = spec.config.vocabulary - 1;
  list.forEach((token, i) => checkInteger(fn, `stopTokens[${i}]`, token, 0, last));
  return list as number[];
}

/** Tokens that the model, or the session, has room for beside the prompt; the last one need not be read. */
function roomFor(
  state: ModelState,
  sessionState: SessionState | undefined,
  prompt: number,
): number {
  const capacity = sessionState?.capacity ?? state.spec.config.maxLength;
  const room = capacity - (sessionState?.length ?? 0) - prompt;
  if (room >= 0) return room + 1;
  throw new QkvError(
    'out_of_range',
    `${fn}: prompt has ${prompt} tokens, expected at most ${room + prompt}: ${sessionState ? 'the session' : 'the model'} has no room for more`,
  );
}

/** In a session with a source a prompt is what the decoder has said, of which a text is no tokens: it would end with the source's end. */
function checkSaid(prompt: unknown): void {
  if (typeof prompt !== 'string') return;
  throw new QkvError(
    'invalid_argument',
    `${fn}: prompt is ${describe(prompt)} and the session has its source, expected the tokens that the decoder begins with, as [model.config.startToken]; without a session the text is the source`,
  );
}

function requestOf(state: ModelState, given: unknown, options: GenerateOptions): GenerateRequest {
  const taken = takeOptions(fn, 'options', options, names);
  const { maxTokens, session, signal, plain = false } = taken;
  const { config, tokenizer } = state.spec;
  const stops = stopsOf(taken.stop);
  if (stops.length > 0 && !tokenizer)
    throw hasNoTokenizer(fn, state.spec, 'stop is given', 'stopTokens');
  checkSignal(fn, signal);
  checkBoolean(fn, 'plain', plain);
  state.live(fn);
  if (maxTokens !== undefined) checkInteger(fn, 'maxTokens', maxTokens, 1, mostInt);
  const sessionState = session === undefined ? undefined : sessionStateOf(fn, state, session);
  if (sessionState) checkInteger(fn, 'the batch of session', sessionState.batch, 1, 1);
  const promptOf = (from: unknown): Prompt => {
    const most = maxTokens ?? mostInt;
    if (config.encoderLayers > 0) {
      if (sessionState) checkSaid(from);
      else {
        const { source } = tokensOf(fn, 'prompt', from, state.spec, { plain });
        const prompt = Int32Array.of(config.startToken);
        return { prompt, source, most: Math.min(most, config.maxLength) };
      }
    }
    const goesOn = sessionState !== undefined && sessionState.length > 0;
    const { source, shape } = tokensOf(fn, 'prompt', from, state.spec, { goesOn, plain });
    return {
      prompt: source,
      most: Math.min(most, roomFor(state, sessionState, shape[1])),
    };
  };
  const first = promptOf(given);
  // For what is wrong with it, before anything is done.
  const pass = { batch: 1, length: 1, keys: 1 };
  const { inspect, read, edit } = taken;
  const places = new PassSites(fn, new Call(state.instance, fn), { inspect, read }, config, pass);
  return {
    ...first,
    again: () => promptOf(typeof given === 'string' ? given : first.prompt),
    sampling: samplingOf(taken),
    ends: endsOf(state, taken.stopTokens),
    asked: { inspect: places.inspect, read: places.read },
    edits: editsOf(fn, edit, config, { ...pass, isOpen: true }),
    ...{ stops, session: sessionState, length: sessionState?.length ?? 0, signal },
  };
}

/** Tokens, each once. */
class Seen {
  readonly #known = new Set<number>();
  #ids = new Int32Array(256);

  constructor(ids: Int32Array) {
    for (const id of ids) this.add(id);
  }

  add(id: number): void {
    const { size } = this.#known;
    if (this.#known.add(id).size === size) return;
    if (size === this.#ids.length) {
      const more = new Int32Array(2 * size);
      more.set(this.#ids);
      this.#ids = more;
    }
    this.#ids[size] = id;
  }

  /** As an argument. */
  get input() {
    const { size } = this.#known;
    return { name: 'seen', shape: [size], source: this.#ids.subarray(0, size) };
  }
}

/** The passes of one generation. */
class Passes {
  readonly #state: ModelState;
  readonly #session: SessionState;
  readonly #request: GenerateRequest;
  /** Tokens that the penalty is for, if there is one. */
  readonly #seen: Seen | undefined;
  readonly #before: number;
  #steps = 0;

  constructor(state: ModelState, sessionState: SessionState, request: GenerateRequest) {
    this.#state = state;
    this.#session = sessionState;
    this.#before = sessionState.length;
    this.#request = request;
    const isPlain = request.sampling.repetitionPenalty === 1;
    this.#seen = isPlain ? undefined : new Seen(request.prompt);
  }

  /** Whether model and session are still there. */
  get isAlive(): boolean {
    return this.#state.isAlive && this.#session.handle.address !== undefined;
  }

  /** Whether a token can be read, also after model or session were disposed. */
  get hasRoom(): boolean {
    return this.isAlive && this.#session.length < this.#session.capacity;
  }

  /** Leaves the session as it was before the first pass. */
  forget(): void {
    if (this.isAlive && this.#session.length > this.#before)
      keepOnly(fn, this.#session, this.#before);
  }

  /** Reads tokens. */
  read(ids: Int32Array): void {
    const { ablate } = this.#request.asked.inspect ?? {};
    const { call, fields } = this.#begin(ids, ablate ? { inspect: { ablate } } : {});
    readInto(fn, this.#session, ids.length, () => {
      call.run('forwardModel', fields());
    });
  }

  /** Reads tokens, and chooses one that follows the last of them. */
  choose(ids: Int32Array): Omit<Token, 'text'> {
    const { call, places, fields } = this.#begin(ids, this.#request.asked);
    const slot = call.output('found', [4]);
    readInto(fn, this.#session, ids.length, () => {
      call.run('generateToken', {
        ...fields(),
        sampling: {
          ...this.#request.sampling,
          ...{ step: this.#steps, frequencyPenalty: 0, presencePenalty: 0 },
        },
        choice: { seen: call.input(this.#seen?.input) },
        found: slot,
      });
    });
    this.#steps += 1;
    const [id = -1, logProbability = NaN] = found(call, slot);
    this.#seen?.add(id);
    return { id, logProbability, ...places.result(call) };
  }

  #begin(ids: Int32Array, asked: SitesAsked) {
    const state = this.#state;
    const sessionState = this.#session;
    const call = new Call(state.instance, fn);
    const { length } = ids;
    const size = { batch: 1, length, keys: sessionState.length + length };
    const edits = editsIn(this.#request.edits, sessionState.length - this.#before, size);
    const places = new PassSites(fn, call, asked, state.spec.config, { ...size, edits });
    const fields = () => ({
      model: state.live(fn),
      session: addressOf(fn, sessionState),
      ids: call.input({ name: 'prompt', shape: [1, length], source: ids }),
      sites: places.fields(call),
    });
    return { call, places, fields };
  }
}

/** Of a prompt what has a text: after an encoder not the token that a decoder begins with. */
const saidIn = ({ spec: { config } }: ModelState, prompt: Int32Array): Int32Array =>
  config.encoderLayers > 0 && prompt[0] === config.startToken ? prompt.subarray(1) : prompt;

async function* tokens(state: ModelState, request: GenerateRequest): AsyncGenerator<Token> {
  const { most, stops, ends, signal, prompt, asked, session, source } = request;
  const capacity = Math.min(state.spec.config.maxLength, prompt.length - 1 + most);
  const own = session ? undefined : createSession(fn, state, { capacity, source });
  const passes = new Passes(state, session ?? sessionStateOf(fn, state, own), request);
  const texts = new StreamedText(fn, state.spec, stops, saidIn(state, prompt));
  const pause = new Pause();
  const breathe = async (): Promise<void> => {
    await pause.maybe();
    throwIfAborted(signal);
  };
  // With readings, the token that chooses is alone in its pass, as those after it.
  const atOnce = asked.inspect || asked.read ? 1 : pieceTokens;
  let ids = prompt;
  /** The token that was yielded last, until the model has read it. */
  let unread: Int32Array | undefined;
  let hasBegun = false;
  const catchUp = (): void => {
    const last = unread;
    unread = undefined;
    if (last && session && passes.hasRoom) passes.read(last);
  };
  try {
    throwIfAborted(signal);
    while (ids.length > atOnce) {
      const count = Math.min(pieceTokens, ids.length - 1);
      passes.read(ids.subarray(0, count));
      ids = ids.subarray(count);
      await breathe();
    }
    for (let count = 1; ; count += 1) {
      const chosen = passes.choose(ids);
      // That pass has read it.
      unread = undefined;
      hasBegun = true;
      ids = Int32Array.of(chosen.id);
      const isEnd = ends.includes(chosen.id);
      const { text, isStopped } = isEnd ? { text: '', isStopped: false } : texts.push(chosen.id);
      const isLast = isEnd || isStopped || count >= most;
      const token = { ...chosen, text: isLast && !isStopped ? text + texts.end() : text };
      // Not before: a tokenizer may have thrown.
      unread = ids;
      yield token;
      if (isLast) return;
      await breathe();
    }
  } catch (error) {
    try {
      catchUp();
    } catch {
      // What failed first is thrown.
    }
    throw error;
  } finally {
    own?.dispose();
    // What this throws reaches whoever ends the iteration.
    catchUp();
    // No token came of a prompt that was refused, or given up, on the way.
    if (session && !hasBegun) passes.forget();
  }
}

/** The tokens of a request, during which its session is nobody else's. */
async function* alone(state: ModelState, request: GenerateRequest): AsyncGenerator<Token> {
  const { session, length } = request;
  if (!session) {
    yield* tokens(state, request);
    return;
  }
  checkIdle(fn, session);
  // An earlier generation may have gone on in it meanwhile.
  const now = session.length === length ? request : { ...request, ...request.again() };
  session.isBusy = true;
  try {
    yield* tokens(state, now);
  } finally {
    session.isBusy = false;
  }
}

export function generate(
  state: ModelState,
  prompt: unknown,
  options: GenerateOptions,
): AsyncGenerator<Token> {
  return oneLoop(fn, alone(state, requestOf(state, prompt, options)));
}

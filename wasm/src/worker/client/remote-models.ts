// What stands here for a model that lives in a worker, its sessions, and the tokens that follow.

import { QkvError } from '../../api/errors.js';
import type { AdapterFiles } from '../../api/adapter-types.js';
import type { ModelCache } from '../../api/load-types.js';
import type {
  ChatMessage,
  ChatOptions,
  ChatPrompt,
  ChatPromptOptions,
  ChatTemplates,
  EncodeOptions,
  Embeddings,
  Filled,
  FillMaskOptions,
  ForwardOptions,
  Beam,
  BeamOptions,
  FinishReason,
  GenerateAllOptions,
  GenerateOptions,
  Generation,
  Generations,
  LanguageModelConfig,
  LossOptions,
  ModelOutput,
  OutputOf,
  Passing,
  Scores,
  SessionOf,
  SessionOptions,
  Token,
  TokenOf,
  TokenOfAll,
  KeptFormat,
} from '../../api/model-types.js';
import type {
  Activations,
  AttributeOptions,
  Attribution,
  Guess,
  HeadScores,
  HeadScoresOptions,
  LensOptions,
  NormWeightsOptions,
  Sweep,
} from '../../api/inspect-types.js';
import type { OwnedArray, Shape3 } from '../../api/types.js';
import type {
  AsyncEmbedOptions,
  AsyncLanguageModel,
  AsyncScoreOptions,
  AsyncSession,
  AsyncSweepOptions,
  CallOptions,
  InWorkerOptions,
  LoadModelOptions,
  ModelSource,
} from '../../api/worker-types.js';
import { revived } from '../../arguments/activations.js';
import {
  copiedOptions,
  describe,
  isRecord,
  listOf,
  reading,
  tagOf,
} from '../../arguments/values.js';
import {
  drawnSeed,
  type Ending,
  generationOf,
  generationsOf,
  seedsFrom,
} from '../../arguments/generation.js';
import { chatText, promptWith } from '../../chat/chat-prompt.js';
import { chatting, splitOptions, withReuse } from '../../chat/chatting.js';
import { checkSignal } from '../../arguments/signal.js';
import { wholeAddress } from '../../platform/addresses.js';
import { type Caller, type Method, Remote } from './handles.js';
import type { Counted, Lane, Manner } from './lane.js';
import { fieldsOf, type SentHandle } from '../protocol/messages.js';

/** Fields that do not change. */
function fix(object: object, { about = {} }: SentHandle): void {
  for (const [name, value] of Object.entries(about)) {
    Object.defineProperty(object, name, { value: Object.freeze(value), enumerable: true });
  }
}

class RemoteSession extends Remote implements AsyncSession, Counted {
  declare readonly capacity: number;
  declare readonly bytes: number;
  declare readonly activations?: Activations;
  #length = 0;

  constructor(caller: Caller, lane: Lane, sent: SentHandle) {
    super(caller, lane, sent.id);
    const { activations, ...about } = sent.about ?? {};
    const read = activations as Activations | undefined;
    fix(this, { ...sent, about: read ? { ...about, ...revived({ activations: read }) } : about });
    this.#length = sent.length ?? 0;
  }

  override get kind(): string {
    return 'session';
  }

  get length(): number {
    return this.#length;
  }

  get [Symbol.toStringTag](): string {
    return 'AsyncSession';
  }

  setLength(length: number): void {
    this.#length = length;
  }

  truncate(length: number, options?: CallOptions): Promise<void> {
    return this.call('Session.truncate', 'truncate', ['length', 'call'], [length, options]);
  }

  remove(begin: number, end: number, options?: CallOptions): Promise<void> {
    const names = ['begin', 'end', 'call'];
    return this.call('Session.remove', 'remove', names, [begin, end, options]);
  }

  fork(options?: CallOptions): Promise<AsyncSession> {
    const method = { fn: 'Session.fork', method: 'fork', names: ['call'] };
    return this.make(method, [options], (...of) => new RemoteSession(...of));
  }

  save(options?: CallOptions): Promise<ReturnType<Uint8Array['slice']>> {
    return this.call('Session.save', 'save', ['call'], [options]);
  }
}

class RemoteTokens extends Remote implements Counted {
  readonly #session: AsyncSession | undefined;

  constructor(caller: Caller, lane: Lane, { id }: SentHandle, session: AsyncSession | undefined) {
    super(caller, lane, id);
    this.#session = session;
  }

  override get kind(): string {
    return 'generation';
  }

  protected override get leaves(): readonly Counted[] {
    return [this];
  }

  /** So long is the session after each token, and after the last that is read on the way out. */
  setLength(length: number): void {
    if (this.#session instanceof RemoteSession) this.#session.setLength(length);
  }

  async next(signal: AbortSignal | undefined): Promise<IteratorResult<Token>> {
    const [fn, method, names] = ['LanguageModel.generate', 'next', ['isAborted', 'call']];
    if (!signal?.aborted) return this.call(fn, method, names, [false, { signal }], stoppable);
    try {
      // A generation whose last token has come has ended, and is not aborted any more.
      return await this.call(fn, method, names, [true]);
    } catch {
      throw signal.reason;
    }
  }
}

/** The session of a model holds the token that is chosen, unless the worker stops before: only its answer says which. */
const stoppable: Manner = { isWithheld: false, onAbort: 'wait' };

/** A generation in the worker. */
interface Begun {
  readonly tokens: RemoteTokens;
  readonly signal: AbortSignal | undefined;
}

function tokensOf(begun: Promise<Begun>, seed: number): Generation<Token> {
  const ending: Ending = {};
  let hasBegun = false;
  // Once it is known, the worker gets next() at once, before what the caller does next in the session.
  let known: Begun | undefined;
  begun.then((value) => (known = value)).catch(() => undefined);
  async function* tokens(): AsyncGenerator<Token, void, undefined> {
    hasBegun = true;
    try {
      const { tokens, signal } = known ?? (await begun);
      try {
        for (;;) {
          const next = await tokens.next(signal);
          if (next.done) return;
          ending.reason = next.value.finishReason;
          yield revived(next.value);
        }
      } finally {
        await tokens.dispose();
      }
    } finally {
      ending.reason ??= 'aborted';
    }
  }
  const all = tokens();
  const end = all.return.bind(all);
  all.return = async (value) => {
    // What has not begun has no `finally` to come to.
    if (!hasBegun) await begun.then(({ tokens }) => tokens.dispose()).catch(() => undefined);
    return end(value);
  };
  return generationOf('LanguageModel.generate', all, seed, ending);
}

/** The tokens of several generations, which the worker has in one. */
async function* tokensOfAll(
  begun: Promise<Begun>,
  reasons: (FinishReason | undefined)[],
): AsyncGenerator<TokenOfAll, void, undefined> {
  try {
    for await (const token of tokensOf(begun, 0)) {
      const { index, finishReason } = token as TokenOfAll;
      if (finishReason) reasons[index] = finishReason;
      yield token as TokenOfAll;
    }
  } finally {
    reasons.forEach((reason, i) => (reasons[i] = reason ?? 'aborted'));
  }
}

/** More prompts than a call has; the other side says so. */
const mostPrompts = 2 ** 16;

class RemoteModel extends Remote implements AsyncLanguageModel {
  declare readonly config: Filled<LanguageModelConfig>;
  declare readonly parameterCount: number;
  declare readonly bytes: number;
  declare readonly format: KeptFormat;
  declare readonly pooling: 'mean' | 'cls' | 'last' | undefined;
  declare readonly ignored: readonly string[];
  declare readonly chatTemplates: ChatTemplates | undefined;
  declare readonly tokenizerProblem: string | undefined;

  constructor(caller: Caller, lane: Lane, sent: SentHandle) {
    super(caller, lane, sent.id);
    fix(this, sent);
  }

  override get kind(): string {
    return 'model';
  }

  get [Symbol.toStringTag](): string {
    return 'AsyncLanguageModel';
  }

  forward<
    O extends Passing<O, InWorkerOptions<ForwardOptions> & CallOptions> =
      InWorkerOptions<ForwardOptions> & CallOptions,
  >(ids: string | ArrayLike<number>, options?: O): Promise<OutputOf<O>>;
  async forward(ids: string | ArrayLike<number>, options?: object): Promise<ModelOutput> {
    const [fn, names] = ['LanguageModel.forward', ['ids', 'options']];
    return revived(await this.call<ModelOutput>(fn, 'forward', names, [ids, options]));
  }

  attribute(
    ids: string | ArrayLike<number>,
    options: AttributeOptions<AsyncSession> & CallOptions,
  ): Promise<Attribution> {
    return this.call('LanguageModel.attribute', 'attribute', ['ids', 'options'], [ids, options]);
  }

  async sweep(options: AsyncSweepOptions): Promise<Sweep> {
    const fn = 'LanguageModel.sweep';
    const { onProgress, ...rest } = copyOf(fn, options);
    const manner = stoppedAt(fn, onProgress);
    return this.call(fn, 'sweep', ['options'], [rest], manner);
  }

  headScores(options?: HeadScoresOptions & CallOptions): Promise<readonly HeadScores[]> {
    return this.call('LanguageModel.headScores', 'headScores', ['options'], [options]);
  }

  normWeights(
    ids: string | ArrayLike<number>,
    options: NormWeightsOptions<AsyncSession> & CallOptions,
  ): Promise<OwnedArray<Shape3>> {
    const [fn, names] = ['LanguageModel.normWeights', ['ids', 'options']];
    return this.call(fn, 'normWeights', names, [ids, options]);
  }

  lens(
    ids: string | ArrayLike<number>,
    options?: LensOptions<AsyncSession> & CallOptions,
  ): Promise<readonly (readonly Guess[])[][]> {
    return this.call('LanguageModel.lens', 'lens', ['ids', 'options'], [ids, options]);
  }

  loss(ids: string | ArrayLike<number>, options?: LossOptions & CallOptions): Promise<number> {
    return this.call('LanguageModel.loss', 'loss', ['ids', 'options'], [ids, options]);
  }

  async embed(
    texts: readonly (string | ArrayLike<number>)[],
    options: AsyncEmbedOptions = {},
  ): Promise<Embeddings> {
    const fn = 'LanguageModel.embed';
    const { onProgress, ...rest } = copyOf(fn, options);
    const manner = stoppedAt(fn, onProgress);
    return this.call(fn, 'embed', ['texts', 'options'], [texts, rest], manner);
  }

  async score(
    texts: readonly (string | readonly [string, string] | ArrayLike<number>)[],
    options: AsyncScoreOptions = {},
  ): Promise<Scores> {
    const fn = 'LanguageModel.score';
    const { onProgress, ...rest } = copyOf(fn, options);
    const manner = stoppedAt(fn, onProgress);
    return this.call(fn, 'score', ['texts', 'options'], [texts, rest], manner);
  }

  fillMask(
    text: string | ArrayLike<number>,
    options?: FillMaskOptions & CallOptions,
  ): Promise<readonly (readonly Guess[])[]> {
    return this.call('LanguageModel.fillMask', 'fillMask', ['text', 'options'], [text, options]);
  }

  withAdapters(files: AdapterFiles, options?: CallOptions): Promise<AsyncLanguageModel> {
    const [fn, method] = ['LanguageModel.withAdapters', 'withAdapters'];
    const names = ['adapters', 'call'];
    return this.make({ fn, method, names }, [files, options], (...of) => new RemoteModel(...of));
  }

  save(options?: CallOptions): Promise<ReturnType<Uint8Array['slice']>> {
    return this.call('LanguageModel.save', 'save', ['call'], [options]);
  }

  session<O extends Passing<O, SessionOptions & CallOptions> = SessionOptions & CallOptions>(
    options?: O,
  ): Promise<SessionOf<O, AsyncSession>>;
  session(options?: SessionOptions & CallOptions): Promise<AsyncSession> {
    const method = { fn: 'LanguageModel.session', method: 'session', names: ['options'] };
    return this.make(method, [options], (...of) => new RemoteSession(...of));
  }

  /** Sent at the call, whose prompt and options count; what is wrong with them is thrown for the first token. */
  generate<
    O extends Passing<O, InWorkerOptions<GenerateOptions>> = InWorkerOptions<GenerateOptions>,
  >(prompt: string | ArrayLike<number>, options?: O): Generation<TokenOf<O>>;
  generate(
    prompt: string | ArrayLike<number>,
    options: InWorkerOptions<GenerateOptions> = {},
  ): Generation<Token> {
    const { seed = drawnSeed() } = (isRecord(options) ? options : {}) as GenerateOptions;
    const begun = this.#begin(prompt, options, seed);
    begun.catch(() => undefined);
    return tokensOf(begun, seed);
  }

  /** Sent at the call, as that of `generate`. */
  generateAll(
    prompts: readonly (string | ArrayLike<number>)[],
    options: InWorkerOptions<GenerateAllOptions> = {},
  ): Generations<TokenOfAll> {
    const fn = 'LanguageModel.generateAll';
    const { seed = drawnSeed() } = (isRecord(options) ? options : {}) as GenerateAllOptions;
    const count = listOf(fn, 'prompts', prompts, mostPrompts)?.length ?? 0;
    const seeds = typeof seed === 'number' ? seedsFrom(seed, count) : [];
    const begun = this.#begin(prompts, options, seed, 'generateAll');
    begun.catch(() => undefined);
    const reasons = seeds.map((): FinishReason | undefined => undefined);
    return generationsOf(fn, tokensOfAll(begun, reasons), seeds, reasons);
  }

  beams(
    prompt: string | ArrayLike<number>,
    options?: InWorkerOptions<BeamOptions> & CallOptions,
  ): Promise<Beam[]> {
    const manner: Manner = { onAbort: 'stop' };
    return this.call(
      'LanguageModel.beams',
      'beams',
      ['prompt', 'options'],
      [prompt, options],
      manner,
    );
  }

  /** The template is rendered here, where `jinja` is; its text becomes tokens in the worker. */
  chatPrompt(
    messages: readonly ChatMessage[],
    options: ChatPromptOptions & CallOptions = {},
  ): Promise<ChatPrompt> {
    return this.#prompt('LanguageModel.chatPrompt', messages, options);
  }

  chat<O extends Passing<O, InWorkerOptions<ChatOptions>> = InWorkerOptions<ChatOptions>>(
    messages: readonly ChatMessage[],
    options?: O,
  ): Generation<TokenOf<O>>;
  chat(
    messages: readonly ChatMessage[],
    options: InWorkerOptions<ChatOptions> = {},
  ): Generation<Token> {
    const fn = 'LanguageModel.chat';
    const { prompt, generation } = splitOptions(fn, options);
    const { seed = drawnSeed() } = generation as ChatOptions;
    const ids = this.#prompt(fn, messages, prompt).then((made) => made.ids);
    return chatting(fn, ids, seed, (all) => this.generate(all, { ...withReuse(generation), seed }));
  }

  encode(text: string, options?: EncodeOptions & CallOptions): Promise<Int32Array> {
    return this.call('LanguageModel.encode', 'encode', ['text', 'options'], [text, options]);
  }

  decode(ids: ArrayLike<number>, options?: CallOptions): Promise<string> {
    return this.call('LanguageModel.decode', 'decode', ['ids', 'call'], [ids, options]);
  }

  async #prompt(
    fn: string,
    messages: readonly ChatMessage[],
    given: ChatPromptOptions & CallOptions,
  ): Promise<ChatPrompt> {
    const { signal, transfer, ...options } = copyOf(fn, given);
    const written = chatText(fn, this.chatTemplates, messages, options);
    const { text, escape } = written;
    const ids = await this.encode(text, {
      ...{ bare: true, signal, transfer },
      ...(escape !== '' && { escape }),
    });
    return promptWith(written, ids);
  }

  async #begin(
    prompt: unknown,
    options: InWorkerOptions<GenerateOptions>,
    seed: number,
    name: 'generate' | 'generateAll' = 'generate',
  ): Promise<Begun> {
    const fn = `LanguageModel.${name}`;
    const own = { ...copyOf(fn, options), seed };
    const { signal, session } = own;
    checkSignal(fn, signal);
    // It does nothing until a token is wanted, so there is nothing to withhold.
    const manner = { isWithheld: false };
    const method = { fn, method: name, names: ['prompt', 'options'], manner };
    const tokens = await this.make(
      method,
      [prompt, own],
      (...of) => new RemoteTokens(...of, session),
    );
    return { tokens, signal };
  }
}

/** Options as they are now, of which some stay here. */
const copyOf = <T extends object>(fn: string, options: T): T => copiedOptions(fn, options) as T;

/** What takes long tells how far it is, and ends in the worker when it is aborted. */
function stoppedAt(fn: string, onProgress: unknown): Manner {
  if (onProgress !== undefined && typeof onProgress !== 'function') {
    throw new QkvError(
      'invalid_argument',
      `${fn}: onProgress is ${describe(onProgress)}, expected a function`,
    );
  }
  return { onAbort: 'stop', onProgress: onProgress as Manner['onProgress'] };
}

/** An address as a worker understands it, whose own is another one. */
function sendable(place: unknown): unknown {
  if (tagOf(place) === 'ArrayBuffer') return new Uint8Array(place as ArrayBuffer);
  const isText = typeof place === 'string';
  if (!isText && tagOf(place) !== 'URL') return place;
  return isText ? wholeAddress(place) : String(place);
}

/** More files than a model has; the other side says so. */
const mostFiles = 2 ** 16;

/** Files beside the weights, each parsed or where it is. */
const besides = ['config', 'generation', 'pooling', 'tokenizer', 'tokenizerConfig'] as const;

/** A template, or where it is. */
const sentTemplate = (given: unknown): unknown =>
  typeof given === 'string' && /\{[{%#]/.test(given) ? given : sendable(given);
/** The source of a model as it is sent. */
function sentSource(source: unknown): unknown {
  // As an object, to which a load() of somebody's may add.
  if (typeof source === 'string' || tagOf(source) === 'URL') return { weights: sendable(source) };
  if (!isRecord(source)) return source;
  return reading('loadModel', 'source', () => {
    // What it has now, inherited fields too, as messages.ts sends them.
    const { weights, ...rest } = Object.fromEntries(fieldsOf(source));
    const places = listOf('loadModel', 'weights', weights, mostFiles)?.map(sendable);
    for (const name of besides) {
      if (rest[name] !== undefined) rest[name] = sendable(rest[name]);
    }
    if (rest['chatTemplate'] !== undefined)
      rest['chatTemplate'] = sentTemplate(rest['chatTemplate']);
    return { ...rest, weights: places ?? sendable(weights) };
  });
}

/** A cache as it is sent: what it was made of, of which the worker makes it again. */
function sentCache(cache: unknown): unknown {
  if (tagOf(cache) !== 'ModelCache') return cache;
  const { name, kind, folder, maxBytes } = cache as ModelCache;
  return { name, kind, maxBytes, ...(folder !== undefined && { folder }) };
}

/** Loads a model in a worker. */
export async function loadModel(
  caller: Caller,
  source: ModelSource | string,
  options: LoadModelOptions = {},
): Promise<AsyncLanguageModel> {
  const fn = 'loadModel';
  const { onProgress, cache, ...given } = copyOf(fn, options);
  const rest = { ...given, ...(cache !== undefined && { cache: sentCache(cache) }) };
  const manner = stoppedAt(fn, onProgress);
  const method: Method = { ...{ fn, method: fn, names: ['source', 'options'] }, manner };
  const { answer, lane } = await caller.run(method, [sentSource(source), rest]);
  if (!answer.handle) throw new TypeError('no handle');
  return new RemoteModel(caller, lane, answer.handle);
}

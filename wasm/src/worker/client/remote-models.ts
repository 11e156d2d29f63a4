// What stands here for a model that lives in a worker.

import type { AdapterFiles } from '../../api/adapter-types.js';
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
} from '../../api/worker-types.js';
import { revived } from '../../arguments/activations.js';
import { copiedOptions, listOf } from '../../arguments/values.js';
import { checkProgress } from '../../arguments/progress.js';
import { drawnSeed, generationsOf, seedsFrom } from '../../arguments/generation.js';
import { chatText, promptWith } from '../../chat/chat-prompt.js';
import { chatting, splitOptions, withReuse } from '../../chat/chatting.js';
import { checkSignal } from '../../arguments/signal.js';
import type { SentHandle } from '../protocol/messages.js';
import { type Caller, fix, Remote } from './handles.js';
import type { Lane, Manner } from './lane.js';
import { RemoteSession } from './remote-sessions.js';
import { type Begun, RemoteTokens, tokensOf, tokensOfAll } from './remote-tokens.js';

/** More prompts than a call has; the other side says so. */
const mostPrompts = 2 ** 16;

export class RemoteModel extends Remote implements AsyncLanguageModel {
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

  sweep(options: AsyncSweepOptions): Promise<Sweep> {
    return this.#long('sweep', ['options'], [], options);
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

  embed(
    texts: readonly (string | ArrayLike<number>)[],
    options: AsyncEmbedOptions = {},
  ): Promise<Embeddings> {
    return this.#long('embed', ['texts', 'options'], [texts], options);
  }

  score(
    texts: readonly (string | readonly [string, string] | ArrayLike<number>)[],
    options: AsyncScoreOptions = {},
  ): Promise<Scores> {
    return this.#long('score', ['texts', 'options'], [texts], options);
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
    const { begun, seed } = this.#start('generate', prompt, options);
    return tokensOf(begun, seed);
  }

  /** Sent at the call, as that of `generate`. */
  generateAll(
    prompts: readonly (string | ArrayLike<number>)[],
    options: InWorkerOptions<GenerateAllOptions> = {},
  ): Generations<TokenOfAll> {
    const fn = 'LanguageModel.generateAll';
    const list = listOf(fn, 'prompts', prompts, mostPrompts);
    const { begun, seed } = this.#start('generateAll', list ?? prompts, options);
    const seeds = typeof seed === 'number' ? seedsFrom(seed, list?.length ?? 0) : [];
    const reasons = seeds.map((): FinishReason | undefined => undefined);
    return generationsOf(fn, tokensOfAll(begun, reasons), seeds, reasons);
  }

  async beams(
    prompt: string | ArrayLike<number>,
    options: InWorkerOptions<BeamOptions> & CallOptions = {},
  ): Promise<Beam[]> {
    const fn = 'LanguageModel.beams';
    const given = [prompt, copiedOptions(fn, options)];
    return this.call(fn, 'beams', ['prompt', 'options'], given, { onAbort: 'stop' });
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
    const { signal, transfer, ...options } = copiedOptions(fn, given);
    const written = chatText(fn, this.chatTemplates, messages, options);
    const { text, escape } = written;
    const ids = await this.encode(text, {
      ...{ bare: true, signal, transfer },
      ...(escape !== '' && { escape }),
    });
    return promptWith(written, ids);
  }

  /** A call that says how far it is, and ends in the worker when it is aborted; its options are the last argument. */
  async #long<T>(
    method: 'sweep' | 'embed' | 'score',
    names: readonly string[],
    given: readonly unknown[],
    options: AsyncSweepOptions | AsyncEmbedOptions | AsyncScoreOptions,
  ): Promise<T> {
    const fn = `LanguageModel.${method}`;
    const { onProgress, ...rest } = copiedOptions(fn, options);
    return this.call(fn, method, names, [...given, rest], stoppedAt(fn, onProgress));
  }

  /** A generation that is sent, and its seed: that of the options, which are read once and at the call, or one that is drawn. */
  #start(
    name: 'generate' | 'generateAll',
    prompt: unknown,
    options: InWorkerOptions<GenerateOptions>,
  ): { begun: Promise<Begun>; seed: number } {
    const fn = `LanguageModel.${name}`;
    let seed = drawnSeed();
    const begin = async (): Promise<Begun> => {
      const given = copiedOptions(fn, options);
      const { signal, session } = given;
      seed = given.seed === undefined ? seed : given.seed;
      checkSignal(fn, signal);
      // It does nothing until a token is wanted, so there is nothing to withhold.
      const manner = { isWithheld: false };
      const method = { fn, method: name, names: ['prompt', 'options'], manner };
      const tokens = await this.make(
        method,
        [prompt, { ...given, seed }],
        (...of) => new RemoteTokens(...of, session),
      );
      return { tokens, signal };
    };
    const begun = begin();
    begun.catch(() => undefined);
    return { begun, seed };
  }
}

/** What takes long tells how far it is, and ends in the worker when it is aborted. */
export function stoppedAt(fn: string, onProgress: unknown): Manner {
  checkProgress(fn, onProgress);
  return { onAbort: 'stop', onProgress: onProgress as Manner['onProgress'] };
}

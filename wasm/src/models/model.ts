// The object that callers have.

import type { AdapterFiles } from '../api/adapter-types.js';
import type {
  ChatMessage,
  ChatOptions,
  ChatPrompt,
  ChatPromptOptions,
  ChatTemplates,
  Embeddings,
  EmbedOptions,
  EncodeOptions,
  FillMaskOptions,
  ForwardOptions,
  Beam,
  BeamOptions,
  GenerateAllOptions,
  GenerateOptions,
  Generation,
  Generations,
  LanguageModel,
  LossOptions,
  ModelOutput,
  OutputOf,
  Passing,
  ScoreOptions,
  Scores,
  Session,
  SessionOf,
  SessionOptions,
  Token,
  TokenOf,
  TokenOfAll,
  Tokenizer,
  KeptFormat,
} from '../api/model-types.js';
import type {
  AttributeOptions,
  Attribution,
  Guess,
  HeadScores,
  HeadScoresOptions,
  LensOptions,
  NormWeightsOptions,
  Sweep,
  SweepOptions,
} from '../api/inspect-types.js';
import type { OwnedArray, Shape3 } from '../api/types.js';
import { checkBoolean, checkChoice, checkInteger, mostInt } from '../arguments/numbers.js';
import { takeOptions } from '../arguments/values.js';
import { type Config, outputsOf } from '../language/config.js';
import { checkFollowed, checkRows, optionalWhole, take } from '../language/rows.js';
import { Call } from '../memory/call.js';
import { disposeSymbol } from '../memory/handle.js';
import type { Instance } from '../memory/instance.js';
import { withAdapters } from './adapters/merge.js';
import { embed, usualPooling } from './embed.js';
import { chat, chatPrompt } from './chat.js';
import { decodeIds, encodeText } from './encoding.js';
import { fillMask } from './fill-mask.js';
import { beams } from './generation/beams.js';
import { generateAll } from './generation/generate-all.js';
import { generate } from './generation/generate.js';
import { attribute } from './microscope/attribute.js';
import { headScores } from './microscope/head-scores.js';
import { lens } from './microscope/lens.js';
import { normWeights } from './microscope/norm-weights.js';
import { checkTokenLogits } from './microscope/one-pass.js';
import { sweep } from './microscope/sweep.js';
import { PassSites } from './pass-sites.js';
import { addressOf, createSession, makeRoom, sessionStateOf, readInto } from './session.js';
import type { ModelSpec } from './model-spec.js';
import { ModelState } from './model-state.js';
import { save } from './save.js';
import { score } from './score.js';
import { checkAlone, idsOf } from './text.js';

const forwardNames = [
  ...['batch', 'rows', 'hidden', 'session', 'tokenTypes', 'keyLengths', 'inspect', 'plain'],
  ...['read', 'edit'],
] as const;

/** Rows of tokens, or the one row of a text. */
function rowsOf(
  fn: string,
  given: unknown,
  spec: ModelSpec,
  { batch, ...encoding }: { batch: number; plain: boolean; goesOn?: boolean },
) {
  checkBoolean(fn, 'plain', encoding.plain);
  const ids = idsOf(fn, 'ids', given, spec, encoding);
  if (typeof given === 'string') checkInteger(fn, 'the batch of a text', batch, 1, 1);
  return checkRows(fn, 'ids', ids, batch);
}

export class WasmLanguageModel implements LanguageModel {
  declare readonly config: Config;
  declare readonly parameterCount: number;
  declare readonly bytes: number;
  declare readonly format: KeptFormat;
  declare readonly tokenizer: Tokenizer | undefined;
  declare readonly chatTemplates: ChatTemplates | undefined;
  declare readonly pooling: 'mean' | 'cls' | 'last' | undefined;
  declare readonly ignored: readonly string[];
  declare readonly tokenizerProblem: string | undefined;
  readonly #state: ModelState;

  /** `fill` is what puts the weights into the arrays, now or later; nothing else may use the model before. */
  constructor(fn: string, instance: Instance, spec: ModelSpec, fill: (state: ModelState) => void) {
    const state = new ModelState(this, fn, instance, spec);
    this.#state = state;
    const { config, format, tokenizer, tokenizerProblem, chatTemplates, ignored = [] } = spec;
    const { parameterCount, bytes } = state;
    const fixed = {
      ...{ config, format, tokenizer, tokenizerProblem, parameterCount, bytes, chatTemplates },
      ...{ pooling: usualPooling(spec), ignored: Object.freeze([...ignored]) },
    };
    for (const [name, value] of Object.entries(fixed)) {
      Object.defineProperty(this, name, { value, enumerable: true });
    }
    try {
      fill(state);
    } catch (error) {
      state.dispose();
      throw error;
    }
  }

  get [Symbol.toStringTag](): string {
    return 'LanguageModel';
  }

  forward<O extends Passing<O, ForwardOptions> = ForwardOptions>(
    ids: string | ArrayLike<number>,
    options?: O,
  ): OutputOf<O>;
  forward(ids: string | ArrayLike<number>, given: ForwardOptions = {}): ModelOutput {
    const fn = 'LanguageModel.forward';
    const state = this.#state;
    const { config } = this;
    const taken = takeOptions(fn, 'options', given, forwardNames);
    const { rows: which = 'all', hidden: wantsHidden = !config.head } = taken;
    const { session } = taken;
    const sessionState = session === undefined ? undefined : sessionStateOf(fn, state, session);
    const { batch = sessionState?.batch ?? 1 } = taken;
    checkInteger(fn, 'batch', batch, 1, mostInt);
    checkChoice(fn, 'rows', which, ['all', 'last']);
    checkBoolean(fn, 'hidden', wantsHidden);
    const { plain = false } = taken;
    const goesOn = sessionState !== undefined && sessionState.length > 0;
    const rows = rowsOf(fn, ids, state.spec, { batch, plain, goesOn });
    const [, length] = rows.shape;
    makeRoom(fn, sessionState, rows);
    const call = new Call(state.instance, fn);
    const pass = { batch, length, keys: (sessionState?.length ?? 0) + length, hasRows: true };
    const places = new PassSites(fn, call, taken, config, pass);
    const answers = [batch, which === 'last' ? 1 : length];
    const ofHead = config.headPooling === 'none' ? answers : [batch, 1];
    const logits = config.head ? call.output('logits', [...ofHead, outputsOf(config)]) : undefined;
    const hidden = wantsHidden ? call.output('hidden', [...answers, config.dModel]) : undefined;
    const types = optionalWhole(fn, 'tokenTypes', taken.tokenTypes, batch * length);
    const fields = {
      ...{ ids: call.input(rows), tokenTypes: call.input(types, rows.shape), logits, hidden },
      keyLengths: call.input(optionalWhole(fn, 'keyLengths', taken.keyLengths, batch)),
      sites: places.fields(call),
      session: sessionState && addressOf(fn, sessionState),
      model: state.live(fn),
    };
    readInto(fn, sessionState, rows.source as Int32Array, () => {
      call.run('forwardModel', fields);
    });
    return {
      ...(logits && { logits: take<Shape3>(call, logits) }),
      ...(hidden && { hidden: take<Shape3>(call, hidden) }),
      ...places.result(call),
    };
  }

  session<O extends Passing<O, SessionOptions> = SessionOptions>(options?: O): SessionOf<O>;
  session(options: SessionOptions = {}): Session {
    return createSession('LanguageModel.session', this.#state, options);
  }

  generate<O extends Passing<O, GenerateOptions> = GenerateOptions>(
    prompt: string | ArrayLike<number>,
    options?: O,
  ): Generation<TokenOf<O>>;
  generate(prompt: string | ArrayLike<number>, options: GenerateOptions = {}): Generation<Token> {
    return generate('LanguageModel.generate', this.#state, prompt, options);
  }

  generateAll(
    prompts: readonly (string | ArrayLike<number>)[],
    options: GenerateAllOptions = {},
  ): Generations<TokenOfAll> {
    return generateAll(this.#state, prompts, options);
  }

  beams(prompt: string | ArrayLike<number>, options: BeamOptions = {}): Promise<Beam[]> {
    return beams(this.#state, prompt, options);
  }

  chatPrompt(messages: readonly ChatMessage[], options: ChatPromptOptions = {}): ChatPrompt {
    return chatPrompt(this.#state, messages, options);
  }

  chat<O extends Passing<O, ChatOptions> = ChatOptions>(
    messages: readonly ChatMessage[],
    options?: O,
  ): Generation<TokenOf<O>>;
  chat(messages: readonly ChatMessage[], options: ChatOptions = {}): Generation<Token> {
    return chat(this.#state, messages, options);
  }

  encode(text: string, options: EncodeOptions = {}): Int32Array {
    this.#state.live('LanguageModel.encode');
    return encodeText(this.#state.spec, text, options);
  }

  decode(ids: ArrayLike<number>): string {
    this.#state.live('LanguageModel.decode');
    return decodeIds(this.#state.spec, ids);
  }

  loss(ids: string | ArrayLike<number>, given: LossOptions = {}): number {
    const fn = 'LanguageModel.loss';
    const state = this.#state;
    const names = ['batch', 'inspect', 'edit', 'plain'] as const;
    const { batch = 1, inspect, edit, plain = false } = takeOptions(fn, 'options', given, names);
    checkAlone(fn, state.spec, 'forward() in a session with a source');
    checkTokenLogits(fn, state.spec);
    checkInteger(fn, 'batch', batch, 1, mostInt);
    const rows = rowsOf(fn, ids, state.spec, { batch, plain });
    const [, length] = rows.shape;
    checkFollowed(fn, length);
    const call = new Call(state.instance, fn);
    const inspected =
      inspect === undefined ? undefined : takeOptions(fn, 'inspect', inspect, ['ablate']);
    const pass = { batch, length, keys: length };
    const places = new PassSites(fn, call, { inspect: inspected, edit }, this.config, pass);
    const surprisal = call.output('surprisal', [batch, length - 1]);
    const sites = places.fields(call);
    call.run('forwardModel', { model: state.live(fn), ids: call.input(rows), surprisal, sites });
    const nats = call.read(surprisal);
    return nats.reduce((sum, each) => sum + each, 0) / nats.length;
  }

  embed(
    texts: readonly (string | ArrayLike<number>)[],
    options: EmbedOptions = {},
  ): Promise<Embeddings> {
    return embed(this.#state, texts, options);
  }

  score(
    texts: readonly (string | readonly [string, string] | ArrayLike<number>)[],
    options: ScoreOptions = {},
  ): Promise<Scores> {
    return score(this.#state, texts, options);
  }

  fillMask(
    text: string | ArrayLike<number>,
    options: FillMaskOptions = {},
  ): readonly (readonly Guess[])[] {
    return fillMask(this.#state, text, options);
  }

  attribute(ids: string | ArrayLike<number>, options: AttributeOptions<Session>): Attribution {
    return attribute(this.#state, ids, options);
  }

  sweep(options: SweepOptions): Promise<Sweep> {
    return sweep(this.#state, options);
  }

  headScores(options?: HeadScoresOptions): readonly HeadScores[] {
    return headScores(this.#state, options);
  }

  normWeights(
    ids: string | ArrayLike<number>,
    options: NormWeightsOptions<Session>,
  ): OwnedArray<Shape3> {
    return normWeights(this.#state, ids, options);
  }

  lens(
    ids: string | ArrayLike<number>,
    options?: LensOptions<Session>,
  ): readonly (readonly Guess[])[][] {
    return lens(this.#state, ids, options);
  }

  save(): Uint8Array<ArrayBuffer> {
    return save(this.#state);
  }

  withAdapters(files: AdapterFiles): WasmLanguageModel {
    const { instance } = this.#state;
    return withAdapters(this.#state, files, (fn, spec, fill) => {
      return new WasmLanguageModel(fn, instance, spec, fill);
    });
  }

  dispose(): void {
    this.#state.dispose();
  }

  [disposeSymbol](): void {
    this.dispose();
  }
}

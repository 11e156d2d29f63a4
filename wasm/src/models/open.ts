// openModel(): everything that is known of a model before its arrays are read, and their reading.
//
//   openModel -> readers/         which files there are, and what their headers say (sources/ brings the bytes)
//             -> families/        the config, and by which names the family has its arrays (describe.ts)
//             -> plan.ts          which rows of which tensor go where; refuses what is missing, surplus or of another shape
//   stream    -> stream.ts        the rows, in the order of the file
//
// load() makes the model of the engine from `config` and gives it the rows.

import { QkvError } from '../api/errors.js';
import type { ChatTemplates } from '../api/chat-types.js';
import type { Progress, Source } from '../api/load-types.js';
import type { LanguageModelConfig, Tokenizer } from '../api/model-types.js';
import { checkInteger } from '../arguments/numbers.js';
import { describe, isRecord, listOf, takeOptions } from '../arguments/values.js';
import { chatTemplatesOf } from './chat-templates.js';
import { checkConfig, type Parameter, parametersOf } from './config.js';
import { quoted, refuse, refuseUnsupported } from './errors.js';
import { describeModel, type Described } from './families/describe.js';
import {
  longFactors,
  ropeFactors,
  shortFactors,
  withLongFactors,
  withRopeFactors,
} from './families/rope-factors.js';
import { endTokensOf } from './families/end-tokens.js';
import type { Names } from './families/locate.js';
import { type Pooling, poolingOf } from './families/pooling.js';
import { withStartToken } from './families/start-token.js';
import type { ModelFile } from './file.js';
import { besides, findOnHub, type Role } from './hub/hub-files.js';
import { isHubAddress } from './hub/hub-address.js';
import { readFiles } from './readers/read-files.js';
import { readJson, readText } from './readers/read-text.js';
import { type Kept, keptOf } from './kept.js';
import { type LoadStep, otherHeadsOf, planOf } from './plan.js';
import { Rate } from './rate.js';
import { fileName, isAddress, Opener } from './sources/opener.js';
import { type ByteSource, readAll } from './sources/source.js';
import { bytesOf, type OnRows, streamPlan } from './stream.js';
import { type FoundTokenizer, remedy } from './tokenizers/found.js';
import { ggufTokenizer } from './tokenizers/gguf-tokenizer.js';
import { givenTokenizer } from './tokenizers/given-tokenizer.js';
import { trainerTokenizer } from './tokenizers/trainer-tokenizer.js';

interface OpenOptions {
  /** Most tokens of a row, at most what the file says, which is the default. */
  maxLength?: number | undefined;
  /** Whether heads for masked tokens and for classes are read. */
  head?: boolean;
  signal?: AbortSignal | undefined;
  /** How files of servers are requested, and where they are kept. */
  opener?: Opener | undefined;
}

interface StreamOptions {
  signal?: AbortSignal | undefined;
  /** Where rows of matrices are put together, as stream.ts has it; by default in a buffer of JavaScript's. */
  room?: ((size: number) => Uint8Array) | undefined;
  /** Bytes of arrays, of `totalBytes`. */
  onProgress?: ((progress: Progress) => void) | undefined;
}

/** A model of which the arrays have not been read. */
export interface OpenedModel {
  readonly config: LanguageModelConfig;
  /** The arrays of the model, in the order of the core. */
  readonly parameters: readonly Parameter[];
  /** What is read, in the order of the file. */
  readonly steps: readonly LoadStep[];
  /** Bytes that stream() reads. */
  readonly totalBytes: number;
  /** How the file's numbers in matrices can be kept without a loss, or with the least. */
  readonly kept: Kept;
  /** The one that was given, or the one in the file. */
  readonly tokenizer: Tokenizer | undefined;
  /** Why there is none, or why the one in the file may not be the right one. */
  readonly tokenizerProblem: string | undefined;
  /** Tokens after which a text is over, as the files say. */
  readonly endTokens: readonly number[];
  /** How the rows of a text become its vector, as the files say; undefined where they do not. */
  readonly pooling: Pooling | undefined;
  /** Templates of conversations; undefined where the files have none. */
  readonly chatTemplates: ChatTemplates | undefined;
  /** How files of the hub have its arrays, of a file of it. */
  readonly names: Names | undefined;
  /** Arrays of the file that are left out: of heads that are not computed. */
  readonly ignored: readonly string[];
  /**
   * Reads all arrays, once, and closes the files, also when it fails. What `onRows` throws is thrown on.
   *
   * @throws {@link QkvError} `invalid_argument` for a file that ends early, `load_failed` for one that cannot be read; the
   * reason of the signal
   */
  stream(onRows: OnRows, options?: StreamOptions): Promise<void>;
  /** Closes the files. Idempotent. */
  close(): void;
}

type Besides = Partial<Record<Role, unknown>>;

/** Such a file, from where it is. In an object of ours, because what a promise is given it asks for then(). */
async function readBeside(
  opener: Opener,
  role: Role,
  given: unknown,
  signal?: AbortSignal,
): Promise<{ value: unknown }> {
  const isThere = role === 'tokenizer' || given === undefined || isRecord(given);
  if (isThere && !isAddress(given)) return { value: given };
  if (!isAddress(given))
    refuse(`${role} is ${describe(given)}`, `an object, or the URL or path of ${besides[role]}`);
  const source = await opener.open(role, given, signal);
  try {
    return { value: await readJson(source, signal) };
  } finally {
    source.close();
  }
}

/** All of them that were given, one after another. */
async function readBesides(opener: Opener, given: Besides, signal?: AbortSignal): Promise<Besides> {
  const read: Besides = {};
  for (const role of Object.keys(besides) as Role[]) {
    const { value } = await readBeside(opener, role, given[role], signal);
    read[role] = value;
  }
  return read;
}

/** The text of a chat template, or where it is: no address has the braces of one. */
async function templateOf(
  opener: Opener,
  given: unknown,
  signal?: AbortSignal,
): Promise<string | undefined> {
  if (given === undefined) return undefined;
  if (typeof given === 'string' && /\{[{%#]/.test(given)) return given;
  if (!isAddress(given)) {
    refuse(
      `chatTemplate is ${describe(given)}`,
      'the text of a template, or the URL or path of chat_template.jinja',
    );
  }
  const source = await opener.open('chatTemplate', given, signal);
  try {
    return await readText(source, signal);
  } finally {
    source.close();
  }
}

const now = (): number => performance.now();

/** A small array of a file. */
async function numbersOf(
  { tensors }: ModelFile,
  name: string,
  signal?: AbortSignal,
): Promise<Float32Array> {
  const { type, source, begin, end } =
    tensors.get(name) ?? refuse(`weights have no ${quoted(name)}`, 'it');
  if (type !== 'F32') refuseUnsupported(`${quoted(name)} is ${type}`, 'F32');
  const bytes = await readAll(source, begin, Math.min(end, begin + 2 ** 20), signal);
  return new Float32Array(bytes.buffer);
}

/** What only arrays of the file say of the config. */
async function completed(
  file: ModelFile,
  described: Described,
  signal?: AbortSignal,
): Promise<Described> {
  const { config } = described;
  if (file.format !== 'gguf' || !config.rotary) return described;
  const isLong = 'scaling' in config.rotary && config.rotary.scaling?.type === 'longrope';
  const of = (name: string) => numbersOf(file, name, signal);
  if (isLong) {
    const [short, long] = [await of(shortFactors), await of(longFactors)];
    return { ...described, config: withLongFactors(config, short, long) };
  }
  if (!file.tensors.has(ropeFactors)) return described;
  if (Array.isArray(config.rotary))
    refuseUnsupported(`weights have ${quoted(ropeFactors)}`, 'one rotation in all layers');
  return { ...described, config: withRopeFactors(config, await of(ropeFactors)) };
}

/** The tokenizer in a file. */
function tokenizerIn(file: ModelFile): FoundTokenizer {
  if (file.format === 'gguf') return ggufTokenizer(file);
  if (file.format !== 'llama2.c') return trainerTokenizer(file);
  return {
    problem: `llama2.c has tokenizers in files of their own: ${remedy('llama2cTokenizer() of its bytes')}`,
  };
}

/** A config with fewer tokens in a row. */
function shortened(described: Described, maxLength: number | undefined): Described {
  if (maxLength === undefined) return described;
  checkInteger('load', 'maxLength', maxLength, 1, described.config.maxLength);
  return { ...described, config: { ...described.config, maxLength } };
}

const sourceNames = [
  ...(['config', 'weights', 'tokenizer', 'tokenizerConfig'] as const),
  ...(['chatTemplate', 'generation', 'pooling'] as const),
] as const;

/** What was given, with the files of a hub that were not. */
async function completeSource(
  opener: Opener,
  source: Source,
  signal?: AbortSignal,
): Promise<{ source: Source; hasFoundTokenizer: boolean }> {
  const { weights } = source;
  const asIs = { source, hasFoundTokenizer: false };
  if (!isAddress(weights) || !isHubAddress(String(weights))) return asIs;
  const given = new Set(sourceNames.filter((name) => source[name] !== undefined));
  const found = await findOnHub(opener, String(weights), given, signal);
  const hasFoundTokenizer = found.besides.tokenizer !== undefined;
  const whole = { ...found.besides, ...source, weights: found.weights };
  return { source: whole, hasFoundTokenizer };
}

/** The tokenizer that was given. One that was found, and that nothing here can read, is a problem of texts alone. */
function tokenizerOf(given: unknown, isFound: boolean): FoundTokenizer {
  try {
    return { tokenizer: givenTokenizer(given) };
  } catch (error) {
    if (!isFound || !(error instanceof QkvError)) throw error;
    return {
      problem: `the tokenizer.json of the model cannot be read (${error.message.replace(/^load: /, '')}): ${remedy('@huggingface/tokenizers')}`,
    };
  }
}

/** An address alone is where the weights are. */
const sourceOf = (given: Source | string | URL): Source =>
  takeOptions('load', 'source', isAddress(given) ? { weights: given } : given, sourceNames);

/**
 * Reads the headers of a model's files.
 *
 * @throws {@link QkvError} `unsupported` names the family, tensor or type that nothing here can read; `invalid_argument` what is
 * wrong with the file, the config or an argument; `out_of_range` for maxLength; `load_failed` what could not be read; and
 * the reason of the signal. No file is open then.
 */
export async function openModel(
  given: Source | string | URL,
  options: OpenOptions = {},
): Promise<OpenedModel> {
  const { maxLength, head = true, signal, opener = new Opener() } = options;
  const { source: taken, hasFoundTokenizer } = await completeSource(
    opener,
    sourceOf(given),
    signal,
  );
  const { weights } = taken;
  const sources: ByteSource[] = [];
  const close = (): void => sources.forEach((source) => source.close());
  try {
    const places = listOf('load', 'weights', weights, 2 ** 16) ?? [weights];
    const read = await readBesides(opener, taken, signal);
    const { config, generation, pooling, tokenizer, tokenizerConfig } = read;
    const chatTemplate = await templateOf(opener, taken.chatTemplate, signal);
    const own = tokenizerOf(tokenizer, hasFoundTokenizer);
    const file = await readFiles(places, sources, signal, opener);
    opener.checkHashes();
    const model = describeModel(file, config, head);
    const found = { ...model, config: withStartToken(model.config, generation) };
    // Each layer has arrays of its own, but for llama2.c.
    checkConfig(found.config, file.format === 'llama2.c' ? Infinity : file.tensors.size);
    const described = shortened(await completed(file, found, signal), maxLength);
    const plan = planOf(file, described);
    const { steps } = plan;
    const total = bytesOf(steps);
    const text = own.tokenizer || own.problem !== undefined ? own : tokenizerIn(file);
    return {
      config: described.config,
      parameters: parametersOf(described.config),
      ...{ steps, totalBytes: total, kept: keptOf(steps) },
      tokenizer: text.tokenizer,
      tokenizerProblem: text.problem,
      endTokens: endTokensOf(file, config, generation),
      chatTemplates: chatTemplatesOf(file, { tokenizerConfig, chatTemplate }, text.tokenizer),
      pooling: poolingOf(file, pooling, found.config.dModel),
      ...{ names: described.names, ignored: otherHeadsOf(file, described) },
      close,
      async stream(onRows, { signal: stop, onProgress, room } = {}) {
        let loaded = 0;
        const rate = new Rate(now());
        const onBytes = (count: number, name: string): void => {
          loaded += count;
          const cacheProblem = opener.cache?.problem;
          onProgress?.({
            ...{ loaded, total, rate: rate.add(count, now()), file: fileName(name) },
            ...(cacheProblem !== undefined && { cacheProblem }),
          });
        };
        try {
          await streamPlan(plan, { signal: stop, onRows, onBytes, room });
          for (const source of sources) await source.check?.(stop);
        } finally {
          close();
        }
      },
    };
  } catch (error) {
    close();
    throw error;
  }
}

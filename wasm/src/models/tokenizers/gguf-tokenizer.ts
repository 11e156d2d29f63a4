// Tokenizers out of the metadata of GGUF files: of the kinds 'llama' (pieces with scores), 'gpt2' (pairs of bytes, with the ways to cut
// a text that cuts.ts has), 'bert' (pieces of words) and 't5' (the unigram model).

import type { SavedTokenizer } from '../../api/model-types.js';
import { isRecord } from '../../arguments/values.js';
import type { ModelFile } from '../file.js';
import { Fields } from '../fields.js';
import { GrowingTextList, TextList } from '../text-list.js';
import { cutOf } from './cuts.js';
import type { Frame } from './frame.js';
import { pairsTokenizer } from './pairs.js';
import { classPair } from './json/post-processors.js';
import { once } from './once.js';
import { pairEncoder } from './pair-encoder.js';
import { piecesTokenizer } from './scored-pieces.js';
import { CharMap } from './char-map.js';
import { endTexts, namesOfEnds } from './end-texts.js';
import { mostSpecial } from './special.js';
import { unknownPenalty } from './unigram.js';
import { unigramTokenizer } from './unigram-tokenizer.js';
import { type FoundTokenizer, remedy } from './found.js';
import { wordsTokenizer } from './words.js';

/** Types of tokens. */
const [normal, unknownType, control, userDefined, unused] = [1, 2, 3, 4, 5];

const isNumbers = (list: readonly unknown[]): list is number[] =>
  list.every((each) => Number.isFinite(each));

/** What a file has of a tokenizer, whatever its kind. */
interface Parts {
  readonly fields: Fields;
  readonly tokens: TextList;
  /** The types of the tokens. */
  readonly types: readonly unknown[];
  readonly shared: Omit<Frame, 'begin' | 'end'>;
}

/** A kind as messages have it, whatever a stranger calls it. */
const nameOf = (model: string, pre: string): string =>
  (pre === '' ? model : `${model}/${pre}`).slice(0, 80);

const none = (what: string): FoundTokenizer => ({ problem: `${what}: ${remedy()}` });

/** A token that the metadata names. Files without it may say -1, or any other that is none. */
function tokenOf({ fields, tokens }: Parts, name: string, fallback = -1): number | undefined {
  const id = fields.number(`${name}_token_id`, fallback);
  return Number.isInteger(id) && id >= 0 && id < tokens.length ? id : undefined;
}

/** The tokens around a text. */
function frameOf(parts: Parts, addsBegin: boolean): Frame & { bos: number | undefined } {
  const { fields, shared } = parts;
  const bos = tokenOf(parts, 'bos');
  const begin = fields.flag('add_bos_token', addsBegin) ? bos : undefined;
  const end = fields.flag('add_eos_token', false) ? tokenOf(parts, 'eos') : undefined;
  return { ...shared, begin, end, bos };
}

/** A score for each token. */
function scoresOf({ fields, tokens }: Parts): number[] | undefined {
  const scores = fields.list('scores') ?? [];
  return scores.length === tokens.length && isNumbers(scores) ? scores : undefined;
}
const noScores = ({ tokens }: Parts, kind: string): FoundTokenizer =>
  none(`the file has ${tokens.length} tokens of the kind ${kind} and not as many scores`);

function pieces(parts: Parts): FoundTokenizer {
  const { fields, tokens } = parts;
  const scores = scoresOf(parts);
  if (!scores) return noScores(parts, 'llama');
  return {
    tokenizer: piecesTokenizer({
      ...frameOf(parts, true),
      ...{ scores, texts: once(() => tokens.all().map((text) => text.replaceAll('\u2581', ' '))) },
      unknown: fields.count('unknown_token_id', 0, 0),
      addsSpace: fields.flag('add_space_prefix', true),
    }),
  };
}

/** The rules for letters, which some files have. */
function charMapOf({ fields }: Parts): CharMap | undefined {
  const field = 'precompiled_charsmap';
  const bytes = fields.list(field);
  // As int8 they may be negative.
  if (!bytes || !isNumbers(bytes)) return undefined;
  return new CharMap(fields.pathOf(field), Uint8Array.from(bytes));
}

/** The tokens that are pieces of texts. What a user defined is taken wherever it stands. */
function* piecesIn({ tokens, types }: Parts, scores: readonly number[]) {
  for (const [id, text] of tokens.all().entries()) {
    const type = types[id];
    const score = type === userDefined ? 0 : (scores[id] ?? 0);
    if (type === normal || type === userDefined || type === unused)
      yield [text, id, score] as const;
  }
}

function scored(parts: Parts): FoundTokenizer {
  const { fields, tokens, types, shared } = parts;
  const scores = scoresOf(parts);
  if (!scores) return noScores(parts, 't5');
  const least = scores.reduce(
    (min, score, id) => (types[id] === normal ? Math.min(min, score) : min),
    Infinity,
  );
  return {
    tokenizer: unigramTokenizer({
      ...shared,
      begin: fields.flag('add_bos_token', false) ? tokenOf(parts, 'bos') : undefined,
      end: fields.flag('add_eos_token', true) ? tokenOf(parts, 'eos', 1) : undefined,
      texts: () => tokens.all(),
      pieces: piecesIn(parts, scores),
      ...{ unknown: fields.count('unknown_token_id', 2, 0), unknownScore: least - unknownPenalty },
      ...{ map: charMapOf(parts), addsSpace: fields.flag('add_space_prefix', false) },
      mergesSpaces: fields.flag('remove_extra_whitespaces', false),
    }),
  };
}

function pairs(parts: Parts): FoundTokenizer {
  const { fields, tokens } = parts;
  const merges = fields.texts('merges');
  const pre = fields.text('pre', 'default');
  const cut = cutOf(pre);
  const name = nameOf('gpt2', pre);
  if (!cut) return none(`the file's tokenizer is of the kind ${name}, which is not known here`);
  if (!merges) return none(`the file's tokenizer is of the kind ${name} and has no list of merges`);
  const tokenizer = pairsTokenizer({
    ...frameOf(parts, cut.addsBegin),
    ...{ texts: () => tokens.all(), merges: () => merges.all(), cut },
  });
  if (pre !== 'default') return { tokenizer };
  // llama.cpp warns of it too.
  const was = fields.has('pre') ? 'is "default"' : 'is missing';
  const problem =
    `tokenizer.ggml.pre ${was}, so that texts are cut as llama.cpp does by default, which may not be how the model ` +
    `learnt it: ${remedy()}`;
  return { tokenizer, problem };
}

function words(parts: Parts): FoundTokenizer {
  const { fields, tokens, shared } = parts;
  const lowercase = fields.flag('normalizer.lowercase', true);
  // [UNK], [CLS] and [SEP] of BERT.
  const unknown = tokenOf(parts, 'unknown', 100);
  if (unknown === undefined)
    return none("the file's tokenizer is of the kind bert and has no unknown token");
  const cls = tokenOf(parts, 'bos', tokenOf(parts, 'cls', 101));
  const sep = tokenOf(parts, 'seperator', 102); // as GGUF spells it
  return {
    tokenizer: wordsTokenizer({
      ...{ ...shared, texts: () => tokens.all(), unknown, lowercase },
      begin: fields.flag('add_bos_token', true) ? cls : undefined,
      end: fields.flag('add_sep_token', true) ? sep : undefined,
      stripAccents: fields.flag('normalizer.strip_accents', lowercase),
    }),
  };
}

const kinds: ReadonlyMap<unknown, (parts: Parts) => FoundTokenizer> = new Map([
  ['llama', pieces],
  ['gpt2', pairs],
  ['bert', words],
  ['t5', scored],
]);

/** Tokens that the file says end a text, and that have a text of such, whatever their type: some files have them as ordinary ones. */
function endsOf(fields: Fields, tokens: TextList): ReadonlySet<number> {
  const named = namesOfEnds.map((name) => fields.number(`${name}_token_id`, -1));
  return new Set(named.filter((id) => endTexts.has(tokens.text(id))));
}

/** Architectures that read a text to both sides. */
const encoders: readonly unknown[] = ['bert', 'nomic-bert', 'jina-bert-v2', 'modern-bert'];

/** What such models need besides: two texts, if there is one token before a text and one after it, and the mask. */
function withPairs(parts: Parts, found: FoundTokenizer, isRoberta: boolean): FoundTokenizer {
  const { tokenizer } = found;
  if (!tokenizer?.encodeBare) return found;
  const [cls, sep, ...more] = Array.from(tokenizer.encode(''));
  const bare = (text: string): number[] => Array.from(tokenizer.encodeBare?.(text) ?? []);
  const isFramed = cls !== undefined && sep !== undefined && more.length === 0;
  const mask = tokenOf(parts, 'mask');
  return {
    ...found,
    tokenizer: {
      ...tokenizer,
      ...(isFramed && { encodePair: pairEncoder(classPair({ cls, sep, isRoberta }), bare) }),
      ...(mask !== undefined && { mask }),
    },
  };
}

const prefix = 'tokenizer.ggml.';
const architecture = 'general.architecture';

/** What the metadata has of a tokenizer, as JSON has it. */
function ggufSaved(metadata: ModelFile['metadata']): SavedTokenizer {
  const own = [...metadata].filter(([name]) => name.startsWith(prefix) || name === architecture);
  const plain = own.map(([name, value]) => [name, TextList.is(value) ? value.all() : value]);
  return { type: 'gguf', metadata: Object.fromEntries(plain) as Record<string, unknown> };
}

/** The metadata of what ggufSaved() made, which a stranger may have written. */
export function ggufMetadata(saved: unknown): ModelFile['metadata'] {
  const encoder = new TextEncoder();
  const listOf = (texts: readonly string[]): TextList => {
    const list = new GrowingTextList();
    for (const text of texts) list.add(encoder.encode(text));
    return list.done();
  };
  const isTexts = (value: unknown): value is string[] =>
    Array.isArray(value) && value.every((each) => typeof each === 'string');
  const entries = Object.entries(isRecord(saved) ? saved : {});
  return new Map(entries.map(([name, value]) => [name, isTexts(value) ? listOf(value) : value]));
}

/** The tokenizer of a file, or why there is none. */
export function ggufTokenizer({ metadata }: Pick<ModelFile, 'metadata'>): FoundTokenizer {
  const fields = new Fields('metadata', metadata, prefix);
  if (!fields.has('model')) return none('the file has no tokenizer');
  const kind = fields.text('model');
  const read = kinds.get(kind);
  const pre = fields.text('pre', '');
  const name = nameOf(kind, pre);
  if (!read) return none(`the file's tokenizer is of the kind ${name}, which is not known here`);
  const tokens = fields.texts('tokens');
  if (!tokens) return none(`the file's tokenizer is of the kind ${name} and has no list of tokens`);
  const types = fields.list('token_type') ?? [];
  const ends = endsOf(fields, tokens);
  const isControl = (id: number): boolean =>
    types[id] === control || types[id] === unknownType || ends.has(id);
  const found = tokens.where((id) => isControl(id) || types[id] === userDefined);
  const specials = new Map(found.filter(([text]) => text !== ''));
  const length = [...specials.keys()].reduce((sum, text) => sum + text.length, 0);
  if (length > mostSpecial)
    return none(`the special tokens of the file have ${length} letters, more than ${mostSpecial}`);
  const parts = { fields, tokens, types, shared: { isControl, specials } };
  const made = read(parts);
  const whole = encoders.includes(metadata.get(architecture))
    ? withPairs(parts, made, kind !== 'bert')
    : made;
  if (whole.tokenizer) Object.assign(whole.tokenizer, { toJSON: () => ggufSaved(metadata) });
  return whole;
}

// Tokenizers out of the metadata of GGUF files: of the kinds 'llama' (pieces with scores) and 'gpt2' (pairs of bytes, with the
// ways to cut a text that the most usual families have). For other kinds a model has no tokenizer of its own.

import type { ModelFile } from '../file.js';
import { Fields } from '../fields.js';
import { cuts, pairsTokenizer } from './pairs.js';
import { piecesTokenizer } from './pieces.js';
import type { Tokenizer } from './tokenizer.js';

/** Types of tokens. */
const [unknownType, control, userDefined] = [2, 3, 4];

const isTexts = (list: readonly unknown[]): list is string[] =>
  list.every((text) => typeof text === 'string');
const isNumbers = (list: readonly unknown[]): list is number[] =>
  list.every((each) => Number.isFinite(each));

/** The tokenizer of a file; undefined where it has none, one of another kind, or one that is not whole. */
export function ggufTokenizer({ format, metadata }: ModelFile): Tokenizer | undefined {
  const fields = new Fields('metadata', metadata, 'tokenizer.ggml.');
  const tokens = fields.list('tokens');
  if (format !== 'gguf' || !tokens || !isTexts(tokens)) return undefined;
  const types = fields.list('token_type') ?? [];
  const isControl = (id: number): boolean => types[id] === control || types[id] === unknownType;
  const specials = new Map<string, number>();
  tokens.forEach((text, id) => {
    if (text !== '' && (types[id] === control || types[id] === userDefined)) specials.set(text, id);
  });
  // More than any model has, and every place of a text is compared with them.
  if ([...specials.keys()].join('').length > 2 ** 17) return undefined;
  // Files without such a token may say -1, or any other that is none.
  const told = fields.number('bos_token_id', -1);
  const begin = Number.isInteger(told) && told >= 0 && told < tokens.length ? told : undefined;
  const shared = { begin, isControl, specials };
  if (fields.get('model') === 'llama') {
    const scores = fields.list('scores') ?? [];
    if (scores.length !== tokens.length || !isNumbers(scores)) return undefined;
    return piecesTokenizer({
      ...{ ...shared, scores, texts: tokens.map((text) => text.replaceAll('\u2581', ' ')) },
      unknown: fields.count('unknown_token_id', 0, 0),
      addsBegin: fields.flag('add_bos_token', true),
      addsSpace: fields.flag('add_space_prefix', true),
    });
  }
  const [merges, cut] = [fields.list('merges'), cuts.get(fields.text('pre', 'default'))];
  if (fields.get('model') !== 'gpt2' || !merges || !isTexts(merges) || !cut) return undefined;
  const addsBegin = fields.flag('add_bos_token', cut.addsBegin);
  const begins = addsBegin ? { begin } : { begin: undefined };
  return pairsTokenizer({ ...shared, ...cut, ...begins, texts: tokens, merges });
}

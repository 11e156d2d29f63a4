// tokenizer.json of Hugging Face's tokenizers, without that package:
//
//   text -> added-tokens.ts     texts that are one token are cut out
//        -> normalizers.ts      what is between them is made plain (and searched for tokens that are plain too)
//        -> pre-tokenizers.ts   cut into words
//        -> models.ts           and these into pieces
//        -> post-processors.ts  tokens around the text
//
// and from tokens to a text by decoders.ts. Whatever a file has that nothing here knows is refused by name.

import { describe, isRecord, reading } from '../../../arguments/values.js';
import { QkvError } from '../../../api/errors.js';
import type { Tokenizer } from '../../../api/model-types.js';
import { refuse } from '../../errors.js';
import { Fields } from '../../fields.js';
import { wellFormed } from '../frame.js';
import { pairEncoder } from '../pair-encoder.js';
import { cutterOf, type Parts, withoutEscape } from '../special.js';
import { type AddedToken, addedTokens } from './added-tokens.js';
import { decoderOf } from './decoders.js';
import { piecesOf } from './models.js';
import { normalizerOf } from './normalizers.js';
import { known } from './parts.js';
import { aroundOf } from './post-processors.js';
import { preTokenizerOf } from './pre-tokenizers.js';

const name = 'tokenizer';
/** `truncation` and `padding` are about several texts at once, which nothing here makes. */
const sections = [
  ...['version', 'truncation', 'padding', 'added_tokens', 'normalizer', 'pre_tokenizer'],
  ...['post_processor', 'decoder', 'model'],
];

/** The tokens of a text, by the added tokens that are looked for in it. */
function encoderOf(fields: Fields, encodeWord: (word: string) => number[]) {
  const normalize = normalizerOf(fields.part('normalizer'));
  const wordsOf = preTokenizerOf(fields.part('pre_tokenizer'));
  const { before, after, pair } = aroundOf(fields.part('post_processor'));
  const encoderBy = (added: readonly AddedToken[]) => {
    const cut = cutterOf(added.filter(({ isNormalized }) => !isNormalized));
    const cutPlain = cutterOf(
      added.filter(({ isNormalized }) => isNormalized),
      normalize,
    );
    const cutWritten = cutterOf(
      added.filter(({ isNormalized, isSpecial }) => isNormalized && !isSpecial),
      normalize,
    );
    const partsOf = (part: string | number, escape: string): Parts => {
      if (typeof part === 'number') return [part];
      const written = withoutEscape(part, escape);
      // With it a text of control tokens is in this part that is none.
      return (written === part ? cutPlain : cutWritten)(normalize(written));
    };
    return (text: string, escape = ''): number[] => {
      const ids: number[] = [];
      cut(wellFormed(text)).forEach((part, i) => {
        partsOf(part, escape).forEach((each, k) => {
          if (typeof each === 'number') ids.push(each);
          else
            for (const word of wordsOf({ text: each, isFirst: i === 0 && k === 0 }))
              for (const id of encodeWord(word)) ids.push(id);
        });
      });
      return ids;
    };
  };
  return { encoderBy, before, after, pair, begin: before.length === 1 ? before[0] : undefined };
}

/** What files call the token that is to be filled in. */
const maskTexts = ['[MASK]', '<mask>'];

function make(fields: Fields): Tokenizer {
  known(fields, ...sections);
  const { ids, encode: encodeWord } = piecesOf(
    fields.part('model') ?? refuse(`${name} has no model`, 'tokenizer.json, parsed'),
  );
  const added = addedTokens(fields);
  const { encoderBy, begin, before, after, pair } = encoderOf(fields, encodeWord);
  const { decode, bytesOf } = decoderOf(fields.part('decoder'));
  const texts = new Map(Array.from(ids, ([text, id]) => [id, text]));
  for (const { id, text, isSpecial } of added) {
    if (isSpecial) texts.delete(id);
    else texts.set(id, text);
  }
  const bare = encoderBy(added);
  const barePlain = encoderBy(added.filter(({ isSpecial }) => !isSpecial));
  const mask = added.find(({ text, isSpecial }) => isSpecial && maskTexts.includes(text))?.id;
  return {
    begin,
    encode: (text) => [...before, ...bare(text), ...after],
    encodePlain: (text) => [...before, ...barePlain(text), ...after],
    encodeBare: bare,
    controls: added.filter(({ isSpecial }) => isSpecial).map(({ text }) => text),
    ...(pair && { encodePair: pairEncoder(pair, bare) }),
    ...(mask !== undefined && { mask }),
    decode: (list) => decode(Array.from(list).flatMap((id) => texts.get(id) ?? [])),
    ...(bytesOf && {
      bytesOf(id) {
        const text = texts.get(id);
        return text === undefined ? undefined : bytesOf(text);
      },
    }),
  };
}

/**
 * The tokenizer of a tokenizer.json, parsed.
 *
 * @throws {@link QkvError} `unsupported` names the part that nothing here knows, `invalid_argument` what is wrong
 */
export function jsonTokenizer(json: unknown): Tokenizer {
  if (!isRecord(json)) refuse(`${name} is ${describe(json)}`, 'tokenizer.json, parsed');
  // Lists of a caller may run code of his, and what is deep cannot be followed to its end.
  const made = reading('load', name, () => {
    try {
      return make(Fields.of(name, json));
    } catch (error) {
      if (error instanceof QkvError) return error;
      throw error;
    }
  });
  if (made instanceof QkvError) throw made;
  return made;
}

// How tokenizer.json cuts a text into words.

import type { Fields } from '../../fields.js';
import { lettersOfText } from '../byte-letters.js';
import { gpt2Words } from '../cuts.js';
import { signs } from '../words.js';
import { expressionOfText, patternOf } from './pattern.js';
import { chainOf, known, type Makers } from './parts.js';
import { behaviors, splitBy } from './split.js';

/** A word, and whether the text begins with it. */
interface Word {
  readonly text: string;
  readonly isFirst: boolean;
}

/** The words of a word. */
type PreTokenizer = (word: Word) => string[];

/** How a word is cut, whatever stands before it. */
const cutting =
  (cut: (text: string) => string[]): PreTokenizer =>
  ({ text }) =>
    cut(text);

const spaces = /\p{White_Space}/gu;
const removed = splitBy(spaces, behaviors.Removed);
const bySign = splitBy(signs, behaviors.Isolated);
const wordsAndSigns =
  /[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\u200c\u200d]+|[^\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\u200c\u200d\p{White_Space}]+/gu;
const gpt2 = splitBy(gpt2Words, behaviors.Isolated);

/** Which words get the sign of a space before them. */
const schemes = { always: 'always', first: 'first', never: 'never' } as const;

/** The scheme; older files say only whether. */
export function prependOf(fields: Fields): keyof typeof schemes {
  known(fields, 'replacement', 'add_prefix_space', 'prepend_scheme', 'split', 'str_rep');
  const usual = fields.flag('add_prefix_space', true) ? 'always' : 'never';
  return fields.choice('prepend_scheme', schemes, usual);
}

function metaspace(fields: Fields): PreTokenizer {
  const scheme = prependOf(fields);
  const sign = fields.text('replacement', '\u2581');
  const isCut = fields.flag('split', true);
  const split = splitBy(
    expressionOfText(fields.pathOf('replacement'), sign),
    behaviors.MergedWithNext,
  );
  return ({ text, isFirst }) => {
    const spaced = text.replaceAll(' ', () => sign);
    const isGiven = scheme === 'never' || (scheme === 'first' && !isFirst);
    const whole = isGiven || spaced.startsWith(sign) ? spaced : sign + spaced;
    return isCut ? split(whole) : [whole];
  };
}

const makers: Makers<PreTokenizer> = {
  ByteLevel(fields) {
    known(fields, 'add_prefix_space', 'trim_offsets', 'use_regex');
    const addsSpace = fields.flag('add_prefix_space', true);
    const cut = fields.flag('use_regex', true) ? gpt2 : (text: string) => [text];
    return ({ text }) =>
      cut(addsSpace && !text.startsWith(' ') ? ` ${text}` : text).map((word) =>
        lettersOfText(word).join(''),
      );
  },
  Metaspace: metaspace,
  BertPreTokenizer(fields) {
    known(fields);
    return cutting((text) => removed(text).flatMap(bySign));
  },
  Whitespace(fields) {
    known(fields);
    return cutting(splitBy(wordsAndSigns, behaviors.Removed, true));
  },
  WhitespaceSplit(fields) {
    known(fields);
    return cutting(removed);
  },
  Digits(fields) {
    known(fields, 'individual_digits');
    const each = fields.flag('individual_digits', false);
    return cutting(splitBy(/\p{N}/gu, each ? behaviors.Isolated : behaviors.Contiguous));
  },
  Punctuation(fields) {
    known(fields, 'behavior');
    return cutting(splitBy(signs, fields.choice('behavior', behaviors, 'Isolated')));
  },
  Split(fields) {
    known(fields, 'pattern', 'behavior', 'invert');
    const behave = fields.choice('behavior', behaviors);
    return cutting(splitBy(patternOf(fields), behave, fields.flag('invert', false)));
  },
};

/** The words of a part of a text, in their order. */
export function preTokenizerOf(fields: Fields | undefined): PreTokenizer {
  const chain = chainOf(fields, 'pretokenizers', makers);
  return (word) => {
    let words: readonly Word[] = [word];
    for (const cut of chain) {
      words = words.flatMap((each) =>
        cut(each)
          .map((text, i) => ({ text, isFirst: each.isFirst && i === 0 }))
          .filter(({ text }) => text !== ''),
      );
    }
    return words.map(({ text }) => text);
  };
}

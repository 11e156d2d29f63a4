// What tokenizer.json does with a text before it is cut.

import { refuse } from '../../errors.js';
import type { Fields } from '../../fields.js';
import { bytesOfText } from '../byte-letters.js';
import { CharMap } from '../char-map.js';
import { lowered, plainText } from '../words.js';
import { patternOf } from './pattern.js';
import { chainOf, known, type Makers } from './parts.js';

type Normalizer = (text: string) => string;

const unicode =
  (form: string) =>
  (fields: Fields): Normalizer => {
    known(fields);
    return (text) => text.normalize(form);
  };

/** The bytes of base64. */
function bytesOf(fields: Fields, field: string): Uint8Array {
  try {
    return Uint8Array.from(atob(fields.text(field)), (letter) => letter.charCodeAt(0));
  } catch {
    return refuse(`${fields.pathOf(field)} cannot be read`, 'base64');
  }
}

/** The grapheme clusters of a text; its code points where the engine has no Intl.Segmenter. */
const clusters: (text: string) => Iterable<string> = (() => {
  if (typeof Intl === 'undefined' || !('Segmenter' in Intl)) return (text: string) => text;
  const segmenter = new Intl.Segmenter('und');
  return (text: string) => Array.from(segmenter.segment(text), ({ segment }) => segment);
})();

/** Longer clusters, in bytes, are replaced letter by letter. */
const longestCluster = 6;

function precompiled(fields: Fields): Normalizer {
  known(fields, 'precompiled_charsmap');
  const field = 'precompiled_charsmap';
  const map = new CharMap(fields.pathOf(field), bytesOf(fields, field));
  // The shortest prefix that has a replacement, for the whole.
  const replaced = (part: string): string | undefined =>
    map.prefixes(bytesOfText(part), 0)[0]?.text;
  const byLetter = (cluster: string): string =>
    Array.from(cluster, (letter) => replaced(letter) ?? letter).join('');
  return (text) => {
    let all = '';
    for (const cluster of clusters(text)) {
      const isShort = bytesOfText(cluster).length < longestCluster;
      all += (isShort ? replaced(cluster) : undefined) ?? byLetter(cluster);
    }
    return all;
  };
}

const makers: Makers<Normalizer> = {
  BertNormalizer(fields) {
    known(fields, 'clean_text', 'handle_chinese_chars', 'strip_accents', 'lowercase');
    const lowercase = fields.flag('lowercase', true);
    const options = {
      ...{ lowercase, stripsAccents: fields.flag('strip_accents', lowercase) },
      cleans: fields.flag('clean_text', true),
      partsHan: fields.flag('handle_chinese_chars', true),
    };
    return (text) => plainText(text, options);
  },
  ...{ NFC: unicode('NFC'), NFD: unicode('NFD'), NFKC: unicode('NFKC'), NFKD: unicode('NFKD') },
  Lowercase(fields) {
    known(fields);
    return lowered;
  },
  StripAccents(fields) {
    known(fields);
    return (text) => text.replace(/\p{M}/gu, '');
  },
  Strip(fields) {
    known(fields, 'strip_left', 'strip_right');
    const left = fields.flag('strip_left', true) ? /^\p{White_Space}+/u : '';
    const right = fields.flag('strip_right', true) ? /\p{White_Space}+$/u : '';
    return (text) => text.replace(left, '').replace(right, '');
  },
  Replace(fields) {
    known(fields, 'pattern', 'content');
    const [pattern, content] = [patternOf(fields), fields.text('content')];
    return (text) => text.replace(pattern, () => content);
  },
  Prepend(fields) {
    known(fields, 'prepend');
    const before = fields.text('prepend');
    return (text) => (text === '' ? text : before + text);
  },
  Precompiled: precompiled,
};

export function normalizerOf(fields: Fields | undefined): Normalizer {
  const chain = chainOf(fields, 'normalizers', makers);
  return (text) => chain.reduce((changed, normalize) => normalize(changed), text);
}

// Tokenizers of small vocabularies, and states of constraints over them.
import { constraints } from './bundle.js';

const { beginning, jsonTokenizer, charactersTokenizer } = constraints;

/** A tokenizer of these bytes: lists, texts, or undefined for a control token. */
export const tokenizerOf = (tokens) => ({
  encode: () => [],
  decode: () => '',
  bytesOf(id) {
    const token = tokens[id];
    return typeof token === 'string'
      ? new TextEncoder().encode(token)
      : token && Uint8Array.from(token);
  },
});

/** The state of a constraint at the begin of a text. */
export const stateOf = (tokenizer, vocabulary, constraint, ends = []) =>
  beginning('generate', { tokenizer, config: { vocabulary } }, constraint, ends);

/** The tokens of a mask. */
export const tokensIn = (mask, vocabulary) =>
  Array.from({ length: vocabulary }, (_, id) => id).filter(
    (id) => (mask[id >> 5] >>> (id & 31)) & 1,
  );

/** Bytes as letters, as GPT-2 has them. */
const letters = Array.from({ length: 256 }, (_, byte) => byte);
const seen = letters.filter((byte) => (byte > 32 && byte < 127) || (byte > 160 && byte !== 173));
const byteLetter = letters.map((byte) =>
  String.fromCharCode(
    seen.includes(byte)
      ? byte
      : 256 + letters.filter((other) => other < byte && !seen.includes(other)).length,
  ),
);

/** Pieces of JSON as pairs of bytes would have them. */
const pieces = [
  ...[
    '": "',
    '", "',
    '{"',
    '"}',
    '": ',
    ', "',
    '":',
    '",',
    '[]',
    '{}',
    '[{"',
    '"}, {"',
    ': ',
    ', ',
    '"]',
    '}}',
    ']]',
    '], "',
  ],
  ...[
    'true',
    'false',
    'null',
    'name',
    'age',
    'tags',
    'value',
    'children',
    'kind',
    'circle',
    '10',
    '123',
    '2024',
    '-0',
    '.5',
    'e1',
  ],
  ...[
    'é',
    '中',
    '中文',
    ' a',
    'the',
    ' the',
    'ab',
    '\\n',
    '\\"',
    '\\u00',
    '\n  ',
    '  ',
    '😀',
    'a"',
    'b": [',
    '\r\n',
  ],
];

/** tokenizer.json of pairs of bytes: all bytes, these pieces, and one token that ends a text. */
export function byteLevel() {
  const vocab = {};
  for (const letter of byteLetter) vocab[letter] = Object.keys(vocab).length;
  const merges = [];
  const spell = (text) => Array.from(new TextEncoder().encode(text), (byte) => byteLetter[byte]);
  for (const piece of pieces) {
    spell(piece).reduce((left, right) => {
      if (vocab[left + right] === undefined) {
        vocab[left + right] = Object.keys(vocab).length;
        merges.push(`${left} ${right}`);
      }
      return left + right;
    });
  }
  const end = Object.keys(vocab).length;
  const tokenizer = jsonTokenizer({
    model: { type: 'BPE', vocab, merges },
    pre_tokenizer: { type: 'ByteLevel', add_prefix_space: false },
    decoder: { type: 'ByteLevel' },
    added_tokens: [{ id: end, content: '<|end|>', special: true }],
  });
  return { tokenizer, vocabulary: end + 3, end };
}

/** All letters that can be seen, each a token, and one that ends a text. */
export function letterByLetter() {
  const all = Array.from({ length: 95 }, (_, i) => String.fromCharCode(32 + i));
  const tokenizer = charactersTokenizer([...all, '\n', 'é', '中', '😀']);
  return { tokenizer, vocabulary: all.length + 5, end: all.length + 4 };
}

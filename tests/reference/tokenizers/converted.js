// The vocabulary of a GGUF file as the tokenizer.json that its family has, for a third opinion: how the families cut texts is in their
// files on the Hugging Face hub.
import { models } from '../../package/models/support/bundle.js';

const byteLevel = (use_regex) => ({ type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex }); // prettier-ignore
const digits = (individual_digits) => ({ type: 'Digits', individual_digits });
const split = (Regex) => ({ type: 'Split', pattern: { Regex }, behavior: 'Isolated', invert: false }); // prettier-ignore
const sequence = (...pretokenizers) => ({ type: 'Sequence', pretokenizers });
const nfc = { type: 'NFC' };
const newer = (letters, others, count) =>
  `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?${letters}+|\\p{N}${count}| ?[^\\s${others}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+`;
const eastAsian = '[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+';

/** Letters with a case, as the tokenizer.json of DeepSeek LLM lists them. */
const deepseekLetters =
  'A-Za-z\u00b5\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u01ba\u01bc-\u01bf\u01c4-\u0293\u0295-\u02af\u0370-\u0373\u0376\u0377\u037b-\u037d\u037f\u0386\u0388-\u038a\u038c\u038e-\u03a1\u03a3-\u03f5\u03f7-\u0481\u048a-\u052f\u0531-\u0556\u10a0-\u10c5\u13a0-\u13f5\u13f8-\u13fd\u1c90-\u1cba\u1cbd-\u1cbf\u1d00-\u1d2b\u1d6b-\u1d77\u1d79-\u1d9a\u1e00-\u1f15\u1f18-\u1f1d\u1f20-\u1f45\u1f48-\u1f4d\u1f50-\u1f57\u1f59\u1f5b\u1f5d\u1f5f-\u1f7d\u1f80-\u1fb4\u1fb6-\u1fbc\u1fbe\u1fc2-\u1fc4\u1fc6-\u1fcc\u1fd0-\u1fd3\u1fd6-\u1fdb\u1fe0-\u1fec\u1ff2-\u1ff4\u1ff6-\u1ffc\u2102\u2107\u210a-\u2113\u2115\u2119-\u211d\u2124\u2126\u2128\u212a-\u212d\u212f-\u2134\u2139\u213c-\u213f\u2145-\u2149\u214e\u2183\u2184\u2c00-\u2c7b\u2c7e-\u2ce4\u2ceb-\u2cee\u2cf2\u2cf3\ua640-\ua66d\ua680-\ua69b\ua722-\ua76f\ua771-\ua787\ua78b-\ua78e\uab70-\uabbf\ufb00-\ufb06\ufb13-\ufb17\uff21-\uff3a\uff41-\uff5a\u{10400}-\u{1044f}\u{104b0}-\u{104d3}\u{104d8}-\u{104fb}\u{10c80}-\u{10cb2}\u{10cc0}-\u{10cf2}\u{118a0}-\u{118df}\u{1e900}-\u{1e943}'; // prettier-ignore

/** By the names of GGUF: the cut, and what is done before it. */
const cuts = {
  'gpt-2': [byteLevel(true)],
  mpt: [byteLevel(true), nfc],
  starcoder: [sequence(digits(true), byteLevel(true))],
  refact: [sequence(digits(true), byteLevel(true))],
  'command-r': [sequence(digits(true), byteLevel(true)), nfc],
  'llama-bpe': [sequence(split(newer('\\p{L}', '\\p{L}', '{1,3}')), byteLevel(false))],
  qwen2: [sequence(split(newer('\\p{L}', '\\p{L}', '')), byteLevel(false)), nfc],
  qwen35: [sequence(split(newer('[\\p{L}\\p{M}]', '\\p{L}\\p{M}', '')), byteLevel(false)), nfc],
  falcon: [sequence({ type: 'Punctuation', behavior: 'Contiguous' }, byteLevel(true), digits(false), split('[0-9][0-9][0-9]'))], // prettier-ignore
  'deepseek-llm': [sequence(split('[\r\n]'), split(`\\s?[${deepseekLetters}]+`), split('\\s?[!-/:-~\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3000-\u3002]+'), split('\\s+$'), split(eastAsian), digits(true), byteLevel(false))], // prettier-ignore
  'deepseek-coder': [sequence(split('[\r\n]'), split('\\s?\\p{L}+'), split('\\s?\\p{P}+'), split(eastAsian), digits(true), byteLevel(false))], // prettier-ignore
};

const [control, unknown, userDefined] = [3, 2, 4];
const mark = '\u2581';

/** Tokens of whole texts. */
function added({ tokens, types }) {
  return tokens.flatMap((content, id) => {
    const special = types[id] === control || types[id] === unknown;
    if (content === '' || !(special || types[id] === userDefined)) return [];
    return [{ id, content, single_word: false, lstrip: false, rstrip: false, normalized: false, special }]; // prettier-ignore
  });
}

const vocabOf = (tokens) => Object.fromEntries(tokens.map((text, id) => [text, id]));

function pairs(file) {
  const { tokens, merges, pre } = file;
  const [pre_tokenizer, normalizer = null] = cuts[pre] ?? [];
  if (!pre_tokenizer) return undefined;
  const vocab = vocabOf(tokens);
  const usable = merges.filter((pair) => pair.split(' ').every((part) => part in vocab) && pair.replace(' ', '') in vocab); // prettier-ignore
  return {
    ...{ normalizer, pre_tokenizer, decoder: byteLevel(true) },
    model: { type: 'BPE', ignore_merges: pre === 'llama-bpe', vocab, merges: usable },
  };
}

/** Pieces with scores as pairs in the order of the scores of what they make, then of their own numbers. */
function scoredPairs({ tokens, types, scores, addsSpace }) {
  const vocab = vocabOf(tokens);
  const isPiece = (text) => vocab[text] !== undefined && (types[vocab[text]] === 1 || types[vocab[text]] === userDefined); // prettier-ignore
  const merges = tokens.flatMap((text, id) => {
    const letters = Array.from(text);
    if (types[id] !== 1 || letters.length < 2) return [];
    const own = letters.slice(1).map((_, i) => [letters.slice(0, i + 1).join(''), letters.slice(i + 1).join('')]); // prettier-ignore
    return own
      .filter((pair) => pair.every(isPiece))
      .map(([a, b]) => ({ pair: [a, b], score: scores[id], at: [vocab[a], vocab[b]] }));
  });
  merges.sort((a, b) => b.score - a.score || a.at[0] - b.at[0] || a.at[1] - b.at[1]);
  const space = { type: 'Replace', pattern: { String: ' ' }, content: mark };
  const normalizers = [...(addsSpace ? [{ type: 'Prepend', prepend: mark }] : []), space];
  const strip = addsSpace ? [{ type: 'Strip', content: ' ', start: 1, stop: 0 }] : [];
  return {
    normalizer: { type: 'Sequence', normalizers },
    pre_tokenizer: null,
    decoder: { type: 'Sequence', decoders: [{ type: 'Replace', pattern: { String: mark }, content: ' ' }, { type: 'ByteFallback' }, { type: 'Fuse' }, ...strip] }, // prettier-ignore
    model: { type: 'BPE', unk_token: tokens[types.indexOf(unknown)], fuse_unk: true, byte_fallback: true, vocab, merges: merges.map(({ pair }) => pair) }, // prettier-ignore
  };
}

function words({ tokens, types }) {
  const text = (token, id) => (types[id] === control || types[id] === unknown ? token : token.startsWith(mark) ? token.slice(1) : `##${token}`); // prettier-ignore
  return {
    normalizer: { type: 'BertNormalizer', clean_text: true, handle_chinese_chars: true, strip_accents: null, lowercase: true }, // prettier-ignore
    pre_tokenizer: { type: 'BertPreTokenizer' },
    decoder: { type: 'WordPiece', prefix: '##', cleanup: true },
    model: { type: 'WordPiece', unk_token: '[UNK]', continuing_subword_prefix: '##', max_input_chars_per_word: 100, vocab: vocabOf(tokens.map(text)) }, // prettier-ignore
  };
}

function unigram({ tokens, scores, charsmap, unknownId }) {
  const metaspace = { type: 'Metaspace', replacement: mark, prepend_scheme: 'always', split: true };
  return {
    normalizer: { type: 'Precompiled', precompiled_charsmap: Buffer.from(charsmap).toString('base64') }, // prettier-ignore
    pre_tokenizer: sequence({ type: 'WhitespaceSplit' }, metaspace),
    decoder: metaspace,
    model: { type: 'Unigram', unk_id: unknownId, vocab: tokens.map((text, id) => [text, scores[id]]) }, // prettier-ignore
  };
}

/** What GGUF has of a tokenizer. */
export function vocabularyOf(metadata) {
  const own = (name) => {
    const value = metadata.get(`tokenizer.ggml.${name}`);
    return models.TextList.is(value) ? value.all() : value;
  };
  return {
    ...{ kind: own('model'), pre: own('pre') ?? 'default', tokens: own('tokens') },
    ...{ types: own('token_type') ?? [], merges: own('merges') ?? [], scores: own('scores') ?? [] },
    ...{ charsmap: own('precompiled_charsmap'), unknownId: own('unknown_token_id') },
    addsSpace: own('add_space_prefix') ?? true,
  };
}

const kinds = { gpt2: pairs, llama: scoredPairs, bert: words, t5: unigram };

/** The tokenizer.json, without tokens around a text; undefined where nobody knows how the family cuts. */
export function converted(vocabulary) {
  const parts = kinds[vocabulary.kind]?.(vocabulary);
  return (
    parts && { version: '1.0', added_tokens: added(vocabulary), post_processor: null, ...parts }
  );
}

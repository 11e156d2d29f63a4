// A small encoder of the BERT family whose words tell its vectors apart, and a text that it knows.
import { Tokenizer } from '@huggingface/tokenizers';
import { huggingFaceTokenizer } from 'qkv/models';
import { families } from '../package/models/support/families.js';

const words = '[UNK] [CLS] [SEP] the a dog cat in park sleeps .'.split(' ');
const special = words
  .slice(0, 3)
  .map((content, id) => ({ id, content, special: true, normalized: false }));
/** A tokenizer of whole words as the hub has them, between [CLS] and [SEP]; programs read it without the package that the test has. */
export const wordTokenizer = {
  'tokenizer_config.json': { tokenizer_class: 'BertTokenizer', do_lower_case: true },
  'tokenizer.json': {
    ...{ version: '1.0', truncation: null, padding: null, added_tokens: special },
    normalizer: {
      ...{ type: 'BertNormalizer', clean_text: true, handle_chinese_chars: true },
      ...{ strip_accents: null, lowercase: true },
    },
    pre_tokenizer: { type: 'BertPreTokenizer' },
    post_processor: { type: 'BertProcessing', cls: ['[CLS]', 1], sep: ['[SEP]', 2] },
    decoder: { type: 'WordPiece', prefix: '##', cleanup: true },
    model: {
      ...{ type: 'WordPiece', unk_token: '[UNK]', continuing_subword_prefix: '##' },
      ...{ max_input_chars_per_word: 100, vocab: Object.fromEntries(words.map((w, i) => [w, i])) },
    },
  },
};
export const ofHub = () => {
  const { 'tokenizer.json': json, 'tokenizer_config.json': config } = wordTokenizer;
  return huggingFaceTokenizer(new Tokenizer(json, config));
};

/** { config, tensors }, without what all vectors have in common. */
export function encoder() {
  const bert = families.bert();
  for (const [name, { values }] of Object.entries(bert.tensors))
    if (/bias$|token_type/.test(name)) values.fill(0);
  return bert;
}

/** The fourth is longer than the encoder reads. */
export const sentences = [
  ...['The dog sleeps.', 'A cat in the park.', 'The cat sleeps in the park.'],
  ...['A dog in a park in the park in a park.', 'Park.', 'The cat.'],
];

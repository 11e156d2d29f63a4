// A small model that can be talked to: bytes are its tokens, besides those that stand around messages.
import { create } from 'qkv/models';
import { kinds } from '../../../support/js/model-kinds.js';
import { randomWeights } from '../../../support/js/model-oracle.js';

/** The letters that byte-level vocabularies have for bytes: those that can be seen for themselves, others from 256 on. */
function lettersOfBytes() {
  let next = 256;
  const isSeen = (byte) => (byte >= 33 && byte <= 126) || (byte >= 161 && byte !== 173);
  return Array.from({ length: 256 }, (_, byte) =>
    String.fromCharCode(isSeen(byte) ? byte : next++),
  );
}

export const controls = ['<|im_start|>', '<|im_end|>', '<s>'];
export const [imStart, imEnd, bos] = [256, 257, 258];

/** tokenizer.json: token i is byte i; a text begins with <s>. */
export const tokenizerJson = {
  added_tokens: controls.map((content, i) => ({
    ...{ id: 256 + i, content, special: true, normalized: false },
    ...{ single_word: false, lstrip: false, rstrip: false },
  })),
  pre_tokenizer: {
    type: 'ByteLevel',
    add_prefix_space: false,
    trim_offsets: true,
    use_regex: false,
  },
  decoder: { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true },
  post_processor: {
    type: 'TemplateProcessing',
    single: [{ SpecialToken: { id: '<s>', type_id: 0 } }, { Sequence: { id: 'A', type_id: 0 } }],
    pair: [],
    special_tokens: { '<s>': { id: '<s>', ids: [bos], tokens: ['<s>'] } },
  },
  model: {
    ...{ type: 'BPE', merges: [] },
    vocab: Object.fromEntries(lettersOfBytes().map((letter, byte) => [letter, byte])),
  },
};

/** As most chat models have it. */
export const chatMl =
  "{{ bos_token }}{% for message in messages %}<|im_start|>{{ message['role'] }}\n" +
  "{{ message['content'] | trim }}<|im_end|>\n{% endfor %}" +
  '{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}';

export const tokenizerConfig = {
  ...{ chat_template: chatMl, bos_token: '<s>' },
  eos_token: { content: '<|im_end|>', special: true },
};

/** Its files, as load() takes them. */
export function chatFiles(engine, { maxLength = 600 } = {}) {
  const config = { ...kinds.llama, vocabulary: 259, maxLength };
  const model = create(engine, config, randomWeights(config, 5));
  const weights = model.save();
  model.dispose();
  return {
    weights,
    tokenizer: tokenizerJson,
    tokenizerConfig,
    generation: { eos_token_id: imEnd },
  };
}

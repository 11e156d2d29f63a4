// A model whose answers are known: it says the alphabet, or counts on where it is asked to. Its files are as those of the hub.
import { randomArray } from '../support/js/arrays.js';
import { imEnd, tokenizerConfig, tokenizerJson } from '../package/models/support/chat-model.js';
import { safetensors } from '../package/models/support/files.js';

const [vocabulary, width] = [259, 64];
export const alphabet = 'abcdefghijklmnopqrstuvwxyz';

const codeOf = (letter) => letter.charCodeAt(0);
/** The token that follows each. */
const follows = new Map([[codeOf('\n'), codeOf('a')]]);
for (const letter of alphabet) follows.set(codeOf(letter), codeOf(letter) + 1);
for (const digit of '0123456789')
  follows.set(codeOf(digit), codeOf('0') + ((Number(digit) + 1) % 10));
follows.set(codeOf('z'), imEnd);

/** A conversation as most models have it; an answer to what has "count" in it begins with 0, which stands in the prompt. */
export const template = tokenizerConfig.chat_template.replace(
  'assistant\n{% endif %}',
  "assistant\n{% if 'count' in messages[-1]['content'] %}0{% endif %}{% endif %}",
);

/** Which config.json says it, and the tensors: attention and feed-forward parts add nothing, so that only the last token counts. */
function model(maxLength) {
  const config = {
    ...{ model_type: 'llama', vocab_size: vocabulary, num_hidden_layers: 1, hidden_size: width },
    ...{ num_attention_heads: 1, num_key_value_heads: 1, intermediate_size: width },
    ...{ hidden_act: 'silu', rms_norm_eps: 1e-5, max_position_embeddings: maxLength },
    ...{ tie_word_embeddings: false, rope_theta: 10_000 },
  };
  const filled = (shape, value) => ({
    shape,
    values: new Float32Array(shape.reduce((a, b) => a * b)).fill(value),
  });
  // Rows of signs: the product of two is the width for the same, and far less for others.
  const embedding = {
    shape: [vocabulary, width],
    values: randomArray([vocabulary, width], 7).data.map(Math.sign),
  };
  const head = filled([vocabulary, width], 0);
  for (const [id, next] of follows)
    head.values.set(embedding.values.subarray(id * width, (id + 1) * width), next * width);
  const at = 'model.layers.0.';
  const maps = [
    'self_attn.q_proj',
    'self_attn.k_proj',
    'self_attn.v_proj',
    'self_attn.o_proj',
    'mlp.gate_proj',
    'mlp.up_proj',
    'mlp.down_proj',
  ];
  const norms = ['model.norm', `${at}input_layernorm`, `${at}post_attention_layernorm`];
  const tensors = {
    ...{ 'model.embed_tokens.weight': embedding, 'lm_head.weight': head },
    ...Object.fromEntries(maps.map((name) => [`${at}${name}.weight`, filled([width, width], 0)])),
    ...Object.fromEntries(norms.map((name) => [`${name}.weight`, filled([width], 1)])),
  };
  return { config, tensors };
}

/** Its files by their names: bytes of weights, and what else is JSON. */
export function talker({ maxLength = 20_000 } = {}) {
  const { config, tensors } = model(maxLength);
  return {
    'config.json': config,
    'model.safetensors': safetensors(tensors),
    'tokenizer.json': tokenizerJson,
    'tokenizer_config.json': { ...tokenizerConfig, chat_template: template },
    'generation_config.json': { eos_token_id: imEnd },
  };
}

// Adapters of low rank as the library PEFT defines and stores them, by its documentation: W + alpha / r B A of a module whose weight W is [out, in],
// with A [r, in] as `lora_A.weight` and B [out, r] as `lora_B.weight`; with use_rslora alpha / sqrt(r).
import { randomArray } from '../../../support/js/arrays.js';
import { safetensors } from './files.js';

/** Numbers that bfloat16 holds. */
const short = (x) => Math.round(32 * x) / 64;

/** Random pairs for modules, each [out, in], by their paths. */
export const pairsOf = (modules, rankOf = () => 3) =>
  Object.fromEntries(
    Object.entries(modules).map(([path, [out, width]], i) => {
      const rank = rankOf(path);
      const a = randomArray([rank, width], 2 * i + 100);
      const b = randomArray([out, rank], 2 * i + 101);
      return [path, { rank, a: a.data.map(short), b: b.data.map(short), out, width }];
    }),
  );

/** factor B A of a pair in float64, [out, in]. */
export const deltaOf = ({ rank, a, b, out, width }, factor) =>
  Float64Array.from({ length: out * width }, (_, at) => {
    const [j, i] = [Math.floor(at / width), at % width];
    let sum = 0;
    for (let r = 0; r < rank; r += 1) sum += b[j * rank + r] * a[r * width + i];
    return factor * sum;
  });

/** The two files. */
export function filesOf(pairs, config = {}, { type = 'F32', metadata = { format: 'pt' } } = {}) {
  const tensors = Object.fromEntries(
    Object.entries(pairs).flatMap(([path, { rank, a, b, out, width }]) => [
      [`base_model.model.${path}.lora_A.weight`, { type, shape: [rank, width], values: a }],
      [`base_model.model.${path}.lora_B.weight`, { type, shape: [out, rank], values: b }],
    ]),
  );
  return {
    'adapter_config.json': { ...usual, ...config },
    'adapter_model.safetensors': safetensors(tensors, metadata),
  };
}

/** As PEFT 0.17 writes it. */
export const usual = {
  ...{ alpha_pattern: {}, auto_mapping: null, base_model_name_or_path: 'someone/something' },
  ...{ bias: 'none', corda_config: null, eva_config: null, exclude_modules: null },
  ...{ fan_in_fan_out: false, inference_mode: true, init_lora_weights: true },
  ...{ layer_replication: null, layers_pattern: null, layers_to_transform: null, loftq_config: {} },
  ...{ lora_alpha: 6, lora_bias: false, lora_dropout: 0, megatron_config: null },
  ...{ megatron_core: 'megatron.core', modules_to_save: null, peft_type: 'LORA' },
  ...{ qalora_group_size: 16, r: 3, rank_pattern: {}, revision: null, target_modules: null },
  ...{ target_parameters: null, task_type: 'CAUSAL_LM', trainable_token_indices: null },
  ...{ use_dora: false, use_qalora: false, use_rslora: false },
};

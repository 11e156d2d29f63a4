// Where a model is: files that a person gave, or an address.
import type { ModelSource } from 'qkv/worker';

/** The files that stand beside the weights, by their names in the Hugging Face hub. */
const besides = {
  config: 'config.json',
  generation: 'generation_config.json',
  tokenizer: 'tokenizer.json',
  tokenizerConfig: 'tokenizer_config.json',
};

/** A GGUF file alone, or the files of a folder of the hub. */
export async function sourceOfFiles(files: readonly File[]): Promise<ModelSource> {
  const find = (wanted: string): File | undefined => files.find(({ name }) => name === wanted);
  const source: ModelSource = {
    weights: files.filter(({ name }) => /\.(gguf|safetensors|bin)$/i.test(name)),
    chatTemplate: await find('chat_template.jinja')?.text(),
  };
  for (const [key, name] of Object.entries(besides)) {
    const file = find(name);
    if (file) Object.assign(source, { [key]: JSON.parse(await file.text()) });
  }
  return source;
}

/** A GGUF file, or a folder such as https://huggingface.co/HuggingFaceTB/SmolLM2-135M-Instruct/resolve/main. */
export function sourceOfAddress(address: string): ModelSource {
  if (/\.gguf(\?|$)/i.test(address)) return { weights: address };
  const at = (name: string): string => `${address.replace(/\/+$/, '')}/${name}`;
  const others = Object.entries(besides).map(([key, name]) => [key, at(name)]);
  return { weights: at('model.safetensors'), ...Object.fromEntries(others) };
}

// Where a model is: files that a person gave, or an address.
import type { LoadModelOptions, ModelSource } from 'qkv/worker';

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

/** A model of a hub (hub:owner/name, or the address of its page), or the address of a GGUF file. */
export function sourceOfAddress(address: string): [source: string, options: LoadModelOptions] {
  if (/^hub:/i.test(address)) return [address, {}];
  const { href, origin, pathname } = new URL(address, document.baseURI);
  const [, model] = /^\/([\w.-]+\/[\w.-]+)\/?$/.exec(pathname) ?? [];
  const isFile = model === undefined || /\.gguf$/i.test(pathname);
  return isFile ? [href, {}] : [`hub:${model}`, { hub: { host: origin } }];
}

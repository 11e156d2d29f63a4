// Tokenizers of others, from packages that are not installed here: `tokenizers` (Hugging Face's, in Rust) and the library of llama.cpp
// that `@node-llama-cpp/linux-x64` carries.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

/** What such packages in `folder` know, or undefined where they are not. */
export function referencesIn(folder) {
  const require = createRequire(join(folder, 'package.json'));
  const addonPath = '@node-llama-cpp/linux-x64/bins/linux-x64/llama-addon.node';
  if (!existsSync(join(folder, 'node_modules/tokenizers'))) return undefined;
  const { Tokenizer } = require('tokenizers');
  let addon;
  const llamaCpp = async () => {
    if (addon) return addon;
    addon = require(join(folder, 'node_modules', addonPath));
    addon.setLogger(() => {});
    addon.setLoggerLogLevel(0);
    addon.loadBackends?.();
    await addon.init?.();
    return addon;
  };
  return {
    /** The tokenizer of a tokenizer.json, as a text. */
    async huggingFace(json) {
      const tokenizer = Tokenizer.fromString(json);
      // What is about several texts at once.
      tokenizer.disableTruncation();
      tokenizer.disablePadding();
      return {
        encode: async (text) => (await tokenizer.encode(text.toWellFormed())).getIds(),
        decode: (ids) => tokenizer.decode(ids, true),
      };
    },
    /** The tokenizer of a GGUF file. */
    async llamaCpp(path) {
      const addon = await llamaCpp();
      const options = { addonExports: addon, vocabOnly: true, gpuLayers: 0, useMmap: true };
      const model = new addon.AddonModel(path, options);
      if (!(await model.init())) throw new Error(`llama.cpp cannot read ${path}`);
      return {
        encode: (text) => [...model.tokenize(text.toWellFormed(), true)],
        dispose: () => model.dispose(),
      };
    },
  };
}

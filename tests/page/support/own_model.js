// A reader's own files of a model, as the page opens them.
import { families } from '../../package/models/support/families.js';
import { safetensors } from '../../package/models/support/files.js';

/**
 * A model of a family with two layers of four heads over 11 tokens that are numbers, by the page's `open`; `changed` changes its file.
 */
export async function openFamily(open, qkv, family, changed = () => {}) {
  const { tensors, config } = families[family]();
  changed(config, tensors);
  const files = [
    new File([safetensors(tensors)], `${family}.safetensors`),
    new File([JSON.stringify(config)], 'config.json'),
  ];
  const options = { signal: new AbortController().signal, onProgress: () => undefined };
  return open(qkv, { kind: 'files', files }, options);
}

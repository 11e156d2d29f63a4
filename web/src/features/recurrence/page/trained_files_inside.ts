import gru from '../../../../../models/recurrence/gru.safetensors?base64';
import gruAttention from '../../../../../models/recurrence/gru_attention.safetensors?base64';
import transformer from '../../../../../models/recurrence/transformer.safetensors?base64';
import type { Kind } from '../shared/model_configs';

const read = (text: string) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

/** The same in the single file, where they are strings: nothing can be fetched from a disk. */
export const trainedFiles = (): Promise<Record<Kind, Uint8Array>> =>
  Promise.resolve({
    gru: read(gru),
    gru_attention: read(gruAttention),
    transformer: read(transformer),
  });

import gru from '../../../../../models/recurrence/gru.safetensors?url';
import gruAttention from '../../../../../models/recurrence/gru_attention.safetensors?url';
import transformer from '../../../../../models/recurrence/transformer.safetensors?url';
import type { Kind } from '../shared/model_configs';

async function read(url: string): Promise<Uint8Array> {
  try {
    const response = await fetch(url);
    if (!response.ok) throw new Error(`${url} answered ${response.status}`);
    return new Uint8Array(await response.arrayBuffer());
  } catch (error) {
    throw Object.assign(error as Error, { code: 'load_failed' });
  }
}

/** The weights that were trained before, fetched when they are asked for. The single file has another module in this one's place. */
export async function trainedFiles(): Promise<Record<Kind, Uint8Array>> {
  const files = await Promise.all([read(gru), read(gruAttention), read(transformer)]);
  return { gru: files[0], gru_attention: files[1], transformer: files[2] };
}

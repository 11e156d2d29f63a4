import gru from '../../../../../models/recurrence/gru.safetensors?url';
import gruAttention from '../../../../../models/recurrence/gru_attention.safetensors?url';
import transformer from '../../../../../models/recurrence/transformer.safetensors?url';
import { fileAt } from '../../file_at';
import type { Kind } from '../shared/model_configs';

/** The weights that were trained before, fetched when they are requested. The single file has another module in this one's place. */
export async function trainedFiles(): Promise<Record<Kind, Uint8Array>> {
  const files = await Promise.all([fileAt(gru), fileAt(gruAttention), fileAt(transformer)]);
  return { gru: files[0], gru_attention: files[1], transformer: files[2] };
}

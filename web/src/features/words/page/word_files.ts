import address from '../../../../../models/words/words.safetensors?url';
import { fileAt } from '../../file_at';

/** The file of vectors, fetched when the panel is. The single file has another module in this one's place. */
export const wordFile = (): Promise<Uint8Array> => fileAt(address);

import address from '../../../../../models/words/words.safetensors?url';

/** The file of vectors, fetched when the panel is. The single file has another module in this one's place. */
export async function wordFile(): Promise<Uint8Array> {
  try {
    const response = await fetch(address);
    if (!response.ok) throw new Error(`${address} answered ${response.status}`);
    return new Uint8Array(await response.arrayBuffer());
  } catch (error) {
    throw Object.assign(error as Error, { code: 'load_failed' });
  }
}

import { init, type Spectra } from 'qkv/spectra';
import wasm from 'virtual:spectra-wasm';

/** The same in the single file, where the .wasm is a string: nothing can be fetched from a disk. */
export async function spectraEngine(): Promise<Spectra> {
  const packed = Uint8Array.from(atob(wasm), (letter) => letter.charCodeAt(0));
  const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  return init({ wasm: await new Response(unpacked).arrayBuffer() });
}

import { init, type TrainQkv } from 'qkv/train';
import wasm from 'virtual:train-wasm';

/** The same in the single file, where the .wasm is a string: nothing can be fetched from a disk. */
export async function trainEngine(): Promise<TrainQkv> {
  const packed = Uint8Array.from(atob(wasm), (letter) => letter.charCodeAt(0));
  const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  return init({ deterministic: true, wasm: await new Response(unpacked).arrayBuffer() });
}

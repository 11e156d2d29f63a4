import { init, type TrainQkv } from 'qkv/train';
import wasm from 'virtual:train-wasm';

/** The same in the single file, where the .wasm is a string: nothing can be fetched from a disk. */
export function trainEngine(): Promise<TrainQkv> {
  const bytes = Uint8Array.from(atob(wasm), (letter) => letter.charCodeAt(0));
  return init({ deterministic: true, wasm: bytes });
}

import { init, type TrainQkv } from 'qkv/train';
import wasm from 'virtual:train-wasm';
import { unpacked } from './unpacked';

/** train_engine.ts of the single file, which holds the .wasm of the deterministic build. */
export const trainEngine = async (): Promise<TrainQkv> =>
  init({ deterministic: true, wasm: await unpacked(wasm) });

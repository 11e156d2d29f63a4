import { init, type Spectra } from 'qkv/spectra';
import wasm from 'virtual:spectra-wasm';
import { unpacked } from './unpacked';

/** spectra_engine.ts of the single file, which holds the .wasm. */
export const spectraEngine = async (): Promise<Spectra> => init({ wasm: await unpacked(wasm) });

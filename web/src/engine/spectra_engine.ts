import { init, type Spectra } from 'qkv/spectra';

/** What takes matrices apart, for workers. The single file has another module in this one's place. */
export const spectraEngine = (): Promise<Spectra> => init();

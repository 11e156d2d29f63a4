// What stands in wasm/src by name (wasm/src/load/defined.d.ts) and is put there by the bundler.
import { abiOf, baseSchema, methodsOf, modelsAbi, schema, spectraAbi, trainAbi } from '../abi.js';
import { version } from '../environment.js';

/** The expression of each constant. */
export const constants = {
  QKV_VERSION: JSON.stringify(version),
  QKV_ABI: JSON.stringify(abiOf(schema, baseSchema)),
  // As text: objects go into what entries have in common, whoever uses them.
  QKV_MODELS_ABI: JSON.stringify(JSON.stringify(modelsAbi())),
  QKV_TRAIN_ABI: JSON.stringify(JSON.stringify(trainAbi())),
  QKV_SPECTRA_ABI: JSON.stringify(JSON.stringify(spectraAbi())),
  QKV_METHODS: JSON.stringify(methodsOf(schema)),
  QKV_INLINE: 'false',
};

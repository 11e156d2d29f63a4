// A small model of each format, with tokens that it can be asked about.
import { checkpoint, checkpointConfig } from '../../../support/js/checkpoints.js';
import { families } from './families.js';
import { ggufFile, safetensors } from './files.js';
import { ggufModels } from './gguf-models.js';
import { ownMetadata, ownModel } from './own.js';

/** Matrices in another type. */
const stored = (tensors, type) =>
  Object.fromEntries(
    Object.entries(tensors).map(([name, tensor]) => [
      name,
      tensor.shape.length === 2 ? { ...tensor, type } : tensor,
    ]),
  );

const hub = families.gpt2();
const gguf = ggufModels.llama();
const own = ownModel({ format: 'int8' });

/** { source, tokens } by name. Bytes are Blobs, of which every read is asynchronous. */
export const files = Object.fromEntries(
  Object.entries({
    'llama2.c': {
      weights: checkpoint(
        checkpointConfig({
          ...{ vocabulary: 19, numLayers: 2, dModel: 16, numHeads: 4, numKvHeads: 2 },
          ...{ dFeedForward: 24, maxLength: 16 },
        }),
      ),
    },
    safetensors: { config: hub.config, weights: new Blob([safetensors(hub.tensors)]) },
    'safetensors in bf16': {
      config: hub.config,
      weights: new Blob([safetensors(stored(hub.tensors, 'BF16'))]),
    },
    'safetensors of a trainer in int8': {
      weights: new Blob([safetensors(own.tensors, ownMetadata())]),
    },
    GGUF: { weights: new Blob([ggufFile(gguf.metadata, gguf.tensors)]) },
    'GGUF in Q8_0': { weights: new Blob([ggufFile(gguf.metadata, stored(gguf.tensors, 'Q8_0'))]) },
  }).map(([name, source]) => [name, { source, tokens: [1, 5, 2, 8, 3] }]),
);

// Engines that run out of memory soon.
import { init as initOfQkv } from 'qkv';
import { expectQkvError } from './check.js';

const { Memory } = WebAssembly;

/** init(options) of an entry, whose memory may not grow beyond `pages` of 64 KiB. One at a time. */
export async function initWithin(pages, options, init = initOfQkv) {
  WebAssembly.Memory = class extends Memory {
    constructor(descriptor) {
      super({ ...descriptor, maximum: pages });
    }
  };
  try {
    return await init(options);
  } finally {
    WebAssembly.Memory = Memory;
  }
}

/** Takes memory in ever smaller pieces, of at most `largest` floats, until not one float is left. The tensors that have it. */
export function takeAll(engine, largest = 2 ** 20) {
  const tensors = [];
  for (let length = largest; length >= 1;) {
    try {
      tensors.push(engine.tensor([length]));
    } catch (error) {
      expectQkvError(error, 'tensor', 'out_of_memory', 'bytes');
      length = Math.floor(length / 2);
    }
  }
  return tensors;
}

/** Takes all memory but `hole` bytes in one piece. What gives it back. */
export function leave(engine, hole) {
  const kept = hole > 0 ? engine.tensor([hole / 4]) : undefined;
  const ballast = takeAll(engine);
  kept?.dispose();
  return () => ballast.forEach((tensor) => tensor.dispose());
}

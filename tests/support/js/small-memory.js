// Engines that run out of memory soon.
import { init as initOfQkv } from 'qkv';

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

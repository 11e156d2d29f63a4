// Engines and what they make, for one case after the other: everything that a case has made is given back.
import { randomArray } from '../../../support/js/arrays.js';
import { bitsOf, held } from './outcome.js';

const cacheOptions = { batch: 2, numKvHeads: 4, capacity: 9, dK: 8, dV: 8 };
const layerConfig = { dModel: 8, numHeads: 2 };
const square = randomArray([8, 8], 1);
const weights = { wq: square, wk: square, wv: square, wo: square };
const tokens = [randomArray([2, 4, 2, 8], 3), randomArray([2, 4, 2, 8], 4)];
const x = randomArray([1, 2, 40, 16], 5);

const attempt = (work) => {
  try {
    return work();
  } catch {
    return undefined;
  }
};

/** Makes what arguments need in `engine()`, which may be another one after end(). */
export class World {
  #engine;
  #other;
  #made = [];
  /** Memory that arrays stand in. */
  #beneath = [];
  #marked = [];

  constructor(engine, other) {
    this.#engine = engine;
    this.#other = other;
  }

  get engine() {
    return this.#engine();
  }

  keep(handle) {
    this.#made.push(handle);
    return handle;
  }

  tensor(shape, data) {
    return this.keep(this.engine.tensor(shape, data));
  }
  cache(options = cacheOptions) {
    const cache = this.keep(this.engine.kvCache(options));
    cache.append(...tokens);
    return cache;
  }
  layer(config = layerConfig, of = weights) {
    return this.keep(this.engine.multiHeadAttention(config, of));
  }
  linear(w) {
    return this.keep(this.engine.linearLayer(w));
  }
  block(config, of) {
    return this.keep(this.engine.transformerBlock(config, of));
  }
  foreign(shape) {
    return this.keep(this.#other().tensor(shape));
  }
  foreignCache() {
    return this.keep(this.#other().kvCache(cacheOptions));
  }
  dead(shape) {
    const tensor = this.engine.tensor(shape);
    tensor.dispose();
    return tensor;
  }
  deadCache() {
    const cache = this.engine.kvCache(cacheOptions);
    cache.dispose();
    return cache;
  }
  made({ name, args }) {
    return this[name](...args);
  }

  /** The same elements in the engine's own memory. */
  inside(array) {
    const floats = Math.ceil(array.byteLength / 4);
    const tensor = this.engine.tensor([floats]);
    this.#beneath.push(tensor);
    const { buffer, byteOffset } = tensor.view();
    const view = new array.constructor(buffer, byteOffset, array.length);
    view.set(array);
    return view;
  }
  isInside(buffer) {
    const tensor = attempt(() => this.engine.tensor([1]));
    const inside = tensor?.view().buffer === buffer;
    tensor?.dispose();
    return inside;
  }

  /** Another call in the middle of one, which leaves numbers of its own wherever calls have room. */
  call() {
    attempt(() => this.engine.attention(x, x, x, { returnWeights: true }));
    attempt(() => this.engine.gelu(x, { approximate: 3 }));
  }
  end() {
    this.engine.dispose();
  }
  /** Those made so far are looked at by held(). */
  mark() {
    this.#marked = [...this.#made];
  }
  /** What they hold, as text; undefined once one is gone. */
  async held() {
    const texts = [];
    for (const handle of this.#marked) {
      try {
        texts.push(bitsOf(await held(handle)));
      } catch {
        return undefined;
      }
    }
    return texts.join('\n');
  }
  /** All handles; not what arrays stand in, which whoever frees it must not read any more. */
  dispose() {
    for (const handle of this.#made.splice(0)) handle.dispose();
  }
  giveBack() {
    this.dispose();
    for (const tensor of this.#beneath.splice(0)) tensor.dispose();
  }
}

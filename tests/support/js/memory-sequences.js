// Random calls while WebAssembly memory is nearly full: 4 GiB of it, of which hardly a page is ever touched. Also runs in pages:
// it imports nothing but what runs there too.
import { filled, zeros } from './arrays.js';
import { kinds, rowsOf } from './model-kinds.js';
import { randomWeights } from './model-oracle.js';
import { randomOf } from './random.js';

/** A tensor whose pages stay untouched: fresh memory is zeros already, and nothing here reads the rest. */
export function untouched(engine, shape) {
  const { fill } = Float32Array.prototype;
  Float32Array.prototype.fill = function leave() {
    return this;
  };
  try {
    return engine.tensor(shape);
  } finally {
    Float32Array.prototype.fill = fill;
  }
}

const config = { ...kinds.llama, maxLength: 300 };
const weights = randomWeights(config, 3);
const ids = rowsOf(config, 70);
const trained = {
  vocabulary: 6,
  dModel: 8,
  dFeedForward: 8,
  numHeads: 2,
  numLayers: 1,
  maxLength: 8,
};
const batch = { batch: 1, ids: [1, 2, 3, 4, 5], targets: [2, 3, 4, 5, 1] };
const square = filled([8, 8], (i) => Math.sin(i));
const x = filled([1, 5, 8], (i) => Math.cos(i));
const large = zeros([1, 2 ** 20]);
const layerWeights = { wq: square, wk: square, wv: square, wo: square };
const layerConfig = { dModel: 8, numHeads: 2 };
const [gamma, beta, b] = [1, 0, 0].map((value) => new Float32Array(8).fill(value));
const norm = { gamma, beta };
const feedForward = { w1: square, b1: b, w2: square, b2: b };
const blockConfig = { ...layerConfig, dFeedForward: 8 };
const blockWeights = { attention: layerWeights, norm1: norm, norm2: norm, ...feedForward };

/** Sequences of calls on one engine, and what is wrong with what they did. */
export class MemorySequences {
  refused = {};
  answered = {};
  problems = [];
  /** The most that the memory has grown to. */
  heapBytes = 0;
  #engine;
  #create;
  #expected;
  #model;

  /** `create` is that of qkv/models. */
  constructor(engine, create) {
    this.#engine = engine;
    this.#create = create;
    this.#model = create(engine, config, weights);
    this.#expected = this.#bystander();
  }

  /** The sequence of a seed: most of the memory is taken in pieces, some come back, and then there are some thirty calls. */
  run(seed) {
    const random = randomOf(seed);
    const held = { tensors: [], handles: [] };
    const before = this.#engine.memory();
    const note = (what) => this.problems.push(`seed ${seed}: ${what}`);
    this.#takeMost(random, held, note);
    for (let i = 0; i < 30; ++i) this.#step(random, held, note);
    for (const { tensor } of held.tensors) tensor.dispose();
    for (const handle of held.handles) handle.dispose();
    const after = this.#engine.memory();
    if (after.handles !== before.handles) note(`${after.handles} handles, not ${before.handles}`);
    // Blocks that calls share are kept up to 4 MB each.
    const kept = after.usedBytes - before.usedBytes;
    if (Math.abs(kept) > 2 ** 23) note(`${kept} bytes more are in use than before`);
    this.heapBytes = Math.max(this.heapBytes, after.heapBytes);
  }

  /** Leaves up to 64 MB, at the end of the memory, in holes, or both. */
  #takeMost(random, held, note) {
    const room = 2 ** (4 + 20 * random());
    for (let floats = 2 ** 28; floats > room / 8;) {
      if (!this.#take(Math.ceil(floats * (random() < 0.5 ? 1 : random())), held, note)) floats /= 2;
    }
    for (let holes = 2 * random(); holes > 1; --holes) this.#free(random, held, note);
  }

  /** Whether there was so much. */
  #take(floats, held, note) {
    const value = held.tensors.length + 1;
    return this.#attempt('tensor', note, () => {
      const tensor = untouched(this.#engine, [floats]);
      held.tensors.push({ tensor, floats, value });
      const numbers = tensor.view();
      numbers[0] = numbers[floats >> 1] = numbers[floats - 1] = value;
    });
  }

  #free(random, { tensors }, note) {
    const [one] = tensors.splice(Math.floor(random() * tensors.length), 1);
    if (!one) return;
    this.#look(one, note);
    one.tensor.dispose();
  }

  /** What was written there is still there. */
  #look({ tensor, floats, value }, note) {
    const numbers = tensor.view();
    for (const at of [0, floats >> 1, floats - 1]) {
      if (numbers[at] !== value)
        note(`a tensor of ${floats} holds ${numbers[at]} at ${at}, not ${value}`);
    }
  }

  /** Answers, or says that there is no memory; anything else is a problem. */
  #attempt(name, note, call) {
    let counts = this.answered;
    try {
      call();
    } catch (error) {
      if (error?.name !== 'QkvError' || error.code !== 'out_of_memory') {
        note(`${name}: ${error?.name} ${error?.code}: ${error?.message}`.slice(0, 300));
        // Nothing computes after a trap.
        if (error instanceof WebAssembly.RuntimeError) throw error;
      }
      counts = this.refused;
    }
    counts[name] = (counts[name] ?? 0) + 1;
    return counts === this.answered;
  }

  /** What a model says that has nothing to do with the rest. */
  #bystander() {
    return String(this.#model.forward(ids.slice(0, 3)).logits.data);
  }

  #step(random, held, note) {
    const dice = Math.floor(random() * 16);
    const { usedBytes, heapBytes } = this.#engine.memory();
    const least = held.tensors.reduce((sum, { floats }) => sum + 4 * floats, 0);
    if (!(least <= usedBytes && usedBytes <= heapBytes && heapBytes <= 2 ** 32)) {
      note(`memory() says ${usedBytes} of ${heapBytes}, and tensors have ${least}`);
    }
    if (dice < 4) this.#free(random, held, note);
    else if (dice < 8) this.#take(Math.ceil(2 ** (30 * random())), held, note);
    else this.#call(dice, random, held, note);
    const some = held.tensors[Math.floor(random() * held.tensors.length)];
    if (some) this.#look(some, note);
  }

  #call(dice, random, { handles }, note) {
    const engine = this.#engine;
    const attempt = (name, call) => this.#attempt(name, note, call);
    const keep = (handle) => {
      handles.push(handle);
      return handle;
    };
    if (dice === 8) {
      attempt('forward of a bystander', () => {
        if (this.#bystander() !== this.#expected) note('a bystander says something else');
      });
    } else if (dice === 9) {
      attempt('session', () => {
        const session = keep(this.#model.session({ format: random() < 0.5 ? 'f32' : 'bf16' }));
        for (let n = 0; n < 3; ++n) this.#model.forward(ids, { session, rows: 'last' });
      });
    } else if (dice === 10) {
      attempt('kvCache', () => {
        const numKvHeads = Math.ceil(2 ** (14 * random()));
        const cache = keep(engine.kvCache({ numKvHeads, capacity: 2 ** 17, dK: 8 }));
        const k = zeros([1, numKvHeads, 1, 8]);
        if (numKvHeads < 100) for (let n = 0; n < 130; ++n) cache.append(k, k);
      });
    } else if (dice === 11) {
      attempt('create', () => {
        const format = ['f32', 'bf16', 'int8', 'f16', 'int4'][Math.floor(5 * random())];
        keep(this.#create(engine, config, weights, { format })).forward(ids);
      });
    } else if (dice === 12) {
      attempt('layers', () => {
        keep(engine.linearLayer(square)).forward(x);
        keep(engine.multiHeadAttention(layerConfig, layerWeights)).forward(x);
        keep(engine.transformerBlock(blockConfig, blockWeights)).forward(x);
      });
    } else if (dice === 13) {
      attempt('attention', () => {
        const q = zeros([1, 1, Math.ceil(2 ** (9 * random())), 4]);
        engine.attention(q, q, q, { returnWeights: true, returnEntropy: true });
      });
    } else if (dice === 14) {
      attempt('a large call', () => engine.softmax(large));
    } else if (engine.languageModel) {
      attempt('training', () => keep(engine.languageModel(trained)).step(batch));
    } else {
      attempt('toNdArray', () => {
        const tensor = keep(engine.tensor([1000]));
        if (tensor.toNdArray().data.some((number) => number !== 0)) note('a tensor is not zeros');
      });
    }
  }
}

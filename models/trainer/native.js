// A trainer in a process of its own: the native library behind the methods of `qkv/train`, which here give promises.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { cmake } from '../../tools/build.js';
import { root } from '../../tools/environment.js';

const program = join(root, 'build/native/models/qkv_trainer');

/** Builds the program. */
export const buildTrainer = () => cmake('native', ['qkv_trainer']);

/** Numbers of 32 bits, one array after another. */
const bytesOf = (...arrays) =>
  Buffer.concat(arrays.map((array) => Buffer.from(Int32Array.from(array).buffer)));

const floatsOf = (bytes) =>
  new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));

/** Requests in order, answers in order. */
class Conversation {
  #process = spawn(program, { stdio: ['pipe', 'pipe', 'inherit'] });
  #waiting = [];
  #chunks = [];
  #length = 0;
  #head;

  constructor() {
    this.#process.stdout.on('data', (chunk) => this.#take(chunk));
    this.#process.on('exit', (code) => {
      for (const { reject } of this.#waiting) reject(new Error(`the trainer ended with ${code}`));
    });
  }

  ask(request, bytes = Buffer.alloc(0)) {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.#process.stdin.write(`${JSON.stringify({ ...request, bytes: bytes.length })}\n`);
      if (bytes.length > 0) this.#process.stdin.write(bytes);
    });
  }

  close() {
    this.#process.stdin.end();
  }

  #take(chunk) {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    // Joined only when an answer may be whole: those with many numbers come in many pieces.
    if (this.#head && this.#length < this.#head.bytes) return;
    let all = Buffer.concat(this.#chunks);
    for (;;) {
      if (!this.#head) {
        const end = all.indexOf(10);
        if (end < 0) break;
        this.#head = JSON.parse(all.subarray(0, end).toString());
        all = all.subarray(end + 1);
      }
      if (all.length < this.#head.bytes) break;
      this.#answer(this.#head, all.subarray(0, this.#head.bytes));
      all = all.subarray(this.#head.bytes);
      this.#head = undefined;
    }
    this.#chunks = [all];
    this.#length = all.length;
  }

  #answer(head, bytes) {
    const { resolve, reject } = this.#waiting.shift();
    if (head.error === undefined) resolve({ ...head, data: bytes });
    else reject(new Error(head.error));
  }
}

/** A language model in training. */
export class NativeTrainer {
  #talk = new Conversation();
  #config;
  arrays = [];
  parameterCount = 0;
  isa = '';

  static async languageModel(config, options = {}, { threads = 1 } = {}) {
    const trainer = new NativeTrainer();
    trainer.#config = config;
    const made = await trainer.#talk.ask({ op: 'create', config, options, threads });
    trainer.arrays = made.arrays;
    trainer.parameterCount = made.parameters;
    trainer.isa = made.isa;
    return trainer;
  }

  #learn(op, { ids, targets, batch, keyLengths }) {
    const request = { op, batch, tokens: ids.length / batch, lengths: keyLengths !== undefined };
    return this.#talk.ask(request, bytesOf(ids, targets, keyLengths ?? []));
  }

  /** { loss, accuracy, gradientNorm, learningRate, step } */
  step(batch) {
    return this.#learn('step', batch);
  }

  /** { loss, accuracy } */
  evaluate(batch) {
    return this.#learn('evaluate', batch);
  }

  /** Logits [B, T, vocabulary], and the weights of attention of these layers, each [B, heads, T, T]. */
  async forward(ids, { batch = 1, layers = [] } = {}) {
    const { vocabulary, numHeads } = this.#config;
    const tokens = ids.length / batch;
    const { data } = await this.#talk.ask({ op: 'forward', batch, tokens, layers }, bytesOf(ids));
    const numbers = floatsOf(data);
    const logits = batch * tokens * vocabulary;
    const each = batch * numHeads * tokens * tokens;
    return {
      logits: numbers.subarray(0, logits),
      weights: layers.map((_, i) => numbers.subarray(logits + i * each, logits + (i + 1) * each)),
    };
  }

  /** part: 'value', 'gradient', or 'first' and 'second' moment. */
  async read(array, part = 'value') {
    return floatsOf((await this.#talk.ask({ op: 'read', array, part })).data);
  }

  async write(array, part, numbers) {
    const bytes = Buffer.from(numbers.buffer, numbers.byteOffset, numbers.byteLength);
    await this.#talk.ask({ op: 'write', array, part }, bytes);
  }

  async setSteps(steps) {
    await this.#talk.ask({ op: 'setSteps', steps });
  }

  dispose() {
    this.#talk.close();
  }
}

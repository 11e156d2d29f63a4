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
  #process;
  #waiting = [];
  #chunks = [];
  #length = 0;
  #head;

  constructor(isa) {
    const env = isa ? { ...process.env, QKV_ISA: isa } : process.env;
    this.#process = spawn(program, { stdio: ['pipe', 'pipe', 'inherit'], env });
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

/** What trainers of both kinds do. */
class Trainer {
  talk;
  arrays = [];
  parameterCount = 0;
  isa = '';

  constructor(config) {
    this.config = config;
  }

  async begin(model, options, { threads = 1, isa } = {}) {
    const { config } = this;
    this.talk = new Conversation(isa);
    const made = await this.talk.ask({ op: 'create', model, config, options, threads });
    this.arrays = made.arrays;
    this.parameterCount = made.parameters;
    this.isa = made.isa;
    return this;
  }

  /** { loss, accuracy, gradientNorm, learningRate, step } */
  step(batch) {
    return this.talk.ask(...this.request('step', batch));
  }

  /** { loss, accuracy } */
  evaluate(batch) {
    return this.talk.ask(...this.request('evaluate', batch));
  }

  /** part: 'value', 'gradient', or 'first' and 'second' moment. */
  async read(array, part = 'value') {
    return floatsOf((await this.talk.ask({ op: 'read', array, part })).data);
  }

  async write(array, part, numbers) {
    const bytes = Buffer.from(numbers.buffer, numbers.byteOffset, numbers.byteLength);
    await this.talk.ask({ op: 'write', array, part }, bytes);
  }

  async setSteps(steps) {
    await this.talk.ask({ op: 'setSteps', steps });
  }

  dispose() {
    this.talk.close();
  }
}

class LanguageModelTrainer extends Trainer {
  request(op, { ids, targets, batch, keyLengths }) {
    const request = { op, batch, tokens: ids.length / batch, lengths: keyLengths !== undefined };
    return [request, bytesOf(ids, targets, keyLengths ?? [])];
  }

  /** Logits [B, T, vocabulary], and the weights of attention of these layers, each [B, heads, T, T]. */
  async forward(ids, { batch = 1, layers = [] } = {}) {
    const { vocabulary, numHeads } = this.config;
    const tokens = ids.length / batch;
    const { data } = await this.talk.ask({ op: 'forward', batch, tokens, layers }, bytesOf(ids));
    const numbers = floatsOf(data);
    const logits = batch * tokens * vocabulary;
    const each = batch * numHeads * tokens * tokens;
    return {
      logits: numbers.subarray(0, logits),
      weights: layers.map((_, i) => numbers.subarray(logits + i * each, logits + (i + 1) * each)),
    };
  }
}

class Seq2SeqTrainer extends Trainer {
  request(op, { ids, targets, batch, source, sourceLengths }) {
    const sizes = { tokens: ids.length / batch, sources: source.length / batch };
    const request = { op, batch, ...sizes, lengths: sourceLengths !== undefined };
    return [request, bytesOf(ids, targets, source, sourceLengths ?? [])];
  }

  /** The tokens of each row, up to `end`. */
  async translate(source, { batch = 1, start, end, most }) {
    const request = { op: 'translate', batch, sources: source.length / batch, start, end, most };
    const { data } = await this.talk.ask(request, bytesOf(source));
    const numbers = new Int32Array(floatsOf(data).buffer);
    const ends = numbers.subarray(batch * most);
    return Array.from(ends, (length, b) => numbers.slice(b * most, b * most + length));
  }

  /** Norms of the derivative of the encoder's last state by each token, by distance from the end. */
  async reach(source) {
    const request = { op: 'reach', sources: source.length };
    return floatsOf((await this.talk.ask(request, bytesOf(source))).data);
  }
}

/** A language model in training; `how` has the number of threads, and the instruction set where it is to be a certain one. */
export const languageModel = (config, options = {}, how = {}) =>
  new LanguageModelTrainer(config).begin('language_model', options, how);

/** A model that reads one sequence and writes another, in training. */
export const seq2seq = (config, options = {}, how = {}) =>
  new Seq2SeqTrainer(config).begin('seq2seq', options, how);

/** Of a config: seq2seq models have a kind. */
export const trainerOf = (config, options, how) =>
  (config.kind ? seq2seq : languageModel)(config, options, how);

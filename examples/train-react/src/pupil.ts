// A small language model that learns a text by heart, letter by letter, in a worker. Nothing here is of React.
import { type AsyncQkv, init, random, type RunReport } from 'qkv/worker';

type Trainer = Awaited<ReturnType<AsyncQkv['languageModel']>>;

const rows = 8;
const length = 48;

/** The letters of a text, by which the model counts them. */
export const lettersOf = (text: string): string[] => [...new Set(text)].sort();

/** What a trainer of this text is made of. */
export const configOf = (text: string) => ({
  ...{ vocabulary: lettersOf(text).length, numLayers: 2, dModel: 64, numHeads: 4 },
  ...{ dFeedForward: 128, maxLength: length },
});

/** Rows of a text that begin where chance says, the same for the same step. */
export function batchOf(text: string, step: number) {
  const letters = lettersOf(text);
  const codes = Array.from(text, (letter) => letters.indexOf(letter));
  const last = codes.length - length - 1;
  const starts = Array.from(random([rows], step).data, (x) =>
    Math.floor(((x + 1) / 2) * (last + 1)),
  );
  return {
    ids: starts.flatMap((start) => codes.slice(start, start + length)),
    targets: starts.flatMap((start) => codes.slice(start + 1, start + length + 1)),
    batch: rows,
  };
}

/** Fewer letters make no row. */
export const fewest = length + 1;

export class Pupil {
  readonly text: string;
  readonly #trainer: Trainer;
  readonly #ending = new AbortController();

  private constructor(text: string, trainer: Trainer) {
    this.text = text;
    this.#trainer = trainer;
  }

  /** One that knows nothing, or what a file of `save` says of the same letters. */
  static async of(text: string, file?: Blob): Promise<Pupil> {
    const engine = await init({ train: true });
    const trainer = await engine.languageModel(configOf(text), { learningRate: 3e-3, seed: 1 });
    if (file) await trainer.load(new Uint8Array(await file.arrayBuffer()));
    return new Pupil(text, trainer);
  }

  get steps(): number {
    return this.#trainer.steps;
  }

  /** Learns until `dispose()`; the promise is rejected then. */
  learn(onStep: (report: RunReport) => void): Promise<unknown> {
    const batches = (step: number) => batchOf(this.text, step);
    return this.#trainer.run({ batches, every: 5, onStep, signal: this.#ending.signal });
  }

  pause(): Promise<void> {
    return this.#trainer.pause();
  }

  resume(): Promise<void> {
    return this.#trainer.resume();
  }

  /** The weights, and what the optimizer remembers: learning goes on from here. */
  async save(): Promise<Blob> {
    return new Blob([await this.#trainer.save({ optimizer: true })]);
  }

  /** The likeliest letters after a beginning, also while it learns: a call has its turn between two steps. */
  async say(beginning: string, count: number): Promise<string> {
    const letters = lettersOf(this.text);
    const ids = Array.from(beginning, (letter) => letters.indexOf(letter));
    for (let i = 0; i < count; i += 1) {
      const { logits } = await this.#trainer.model.forward(ids.slice(-length));
      const next = logits.data.slice(-letters.length); // what follows the last letter
      ids.push(next.indexOf(Math.max(...next)));
    }
    return ids.map((id) => letters[id]).join('');
  }

  async dispose(): Promise<void> {
    this.#ending.abort();
    await this.#trainer.dispose();
  }
}

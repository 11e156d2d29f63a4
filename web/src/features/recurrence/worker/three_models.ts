import type { Seq2Seq, Trainer, TrainQkv } from 'qkv/train';
import { randomOf, type Dice } from '../../../domain/random_ints';
import { count, emptyTallies, type Tally } from '../shared/accuracy';
import { DEVIATION, KINDS, MODELS, STEPS, type Kind } from '../shared/model_configs';
import type { Learner, Origin, Said, Trained } from '../shared/protocol';
import { END, LONGEST_TESTED, nextRows, sequence, START } from '../shared/task';

/** Sequences that are tested at once. A worker takes no message meanwhile: 8 of 40 tokens take some 100 ms. */
const TOGETHER = 8;
/** Sources over which the reach of a gradient is averaged. */
const REACH_SOURCES = 4;

/** Seeds of the tests are far from those of training, 1 to 9999. */
const TEST_SEED = 0x40000000;

interface Model {
  readonly trainer: Trainer<Seq2Seq>;
  /** Of the batches: every model sees the same ones. */
  readonly random: Dice;
  learner: Learner;
}

/** Three models in training, and their tests. */
export class Session {
  readonly #models: Record<Kind, Model>;
  readonly seed: number;
  readonly origin: Origin;
  /** Where each length's sequences stand in their stream. */
  #tests = new Map<string, Dice>();
  #tallies: Record<Kind, Tally[]>;

  private constructor(models: Record<Kind, Model>, origin: Origin, seed: number) {
    this.#models = models;
    this.origin = origin;
    this.seed = seed;
    this.#tallies = each(emptyTallies);
  }

  /** Models with their initial weights. */
  static begin(qkv: TrainQkv, seed: number): Session {
    return new Session(
      each((kind) => create(qkv, kind, seed)),
      'here',
      seed,
    );
  }

  /** Models with the weights of files, judged on rows of their own. */
  static load(qkv: TrainQkv, { files, seed, steps }: Trained): Session {
    const models = each((kind) => create(qkv, kind, seed));
    const rows = nextRows(randomOf(TEST_SEED));
    for (const kind of KINDS) {
      const model = models[kind];
      model.trainer.load(files[kind]);
      const { loss, accuracy } = model.trainer.evaluate(rows);
      model.learner = { ...model.learner, steps, loss, accuracy };
    }
    return new Session(models, 'before', seed);
  }

  dispose(): void {
    for (const kind of KINDS) this.#models[kind].trainer.dispose();
  }

  /** Steps that every model has made. */
  get steps(): number {
    return this.#models.transformer.learner.steps;
  }

  get isDone(): boolean {
    return this.steps >= STEPS;
  }

  get learners(): Record<Kind, Learner> {
    return each((kind) => this.#models[kind].learner);
  }

  get tallies(): Record<Kind, Tally[]> {
    return this.#tallies;
  }

  /** The weights as a file. */
  save(kind: Kind): Uint8Array {
    return this.#models[kind].trainer.save();
  }

  /** One step of each model on the same rows. */
  step(now: () => number): void {
    for (const kind of KINDS) {
      const model = this.#models[kind];
      const rows = nextRows(model.random);
      const start = now();
      const { loss, accuracy, step } = model.trainer.step(rows);
      const took = now() - start;
      const { milliseconds, parameters } = model.learner;
      // The mean of about the latest twenty: a machine that does other things besides makes single ones jump.
      const smooth = step === 1 ? took : milliseconds + (took - milliseconds) / Math.min(step, 20);
      model.learner = { parameters, steps: step, loss, accuracy, milliseconds: smooth };
    }
    if (this.#tests.size > 0) this.forget();
  }

  /** What was counted is not of these weights any more. */
  forget(): void {
    this.#tests = new Map();
    this.#tallies = each(emptyTallies);
  }

  /** Has one model say some more sequences of one length, and counts what is right. */
  ask(kind: Kind, length: number): void {
    const tally = this.#tallies[kind].find((one) => one.length === length);
    if (!tally) throw new RangeError(`no sequences of ${length} are tested`);
    const name = `${kind} ${length}`;
    const random = this.#tests.get(name) ?? randomOf(TEST_SEED + length);
    this.#tests.set(name, random);
    const sources = Array.from({ length: TOGETHER }, () => sequence(random, length));
    const how = { batch: TOGETHER, start: START, end: END, maxLength: length + 1 };
    const { ids } = this.#models[kind].trainer.model.translate(sources.flat(), how);
    count(tally, sources, ids);
  }

  /** What a model says of a source, and with which weights it reads it: [heads, T, S]. */
  say(kind: Kind, source: readonly number[]): Said {
    const { model } = this.#models[kind].trainer;
    const how = { start: START, end: END, maxLength: source.length + 1 };
    const { ids, weights } = model.translate(source, how);
    const [read] = weights;
    return {
      ids: Array.from(ids[0] ?? []),
      heads: read?.shape[1] ?? 0,
      rows: read?.shape[2] ?? 0,
      weights: read?.data ?? new Float32Array(),
    };
  }

  /** Norms of d(last state)/d(embedding of a token) by distance from the end: geometric means over some sources. */
  reach(kind: Kind): Float64Array {
    const random = randomOf(TEST_SEED);
    const sums = new Float64Array(LONGEST_TESTED);
    for (let n = 0; n < REACH_SOURCES; n++) {
      const norms = this.#models[kind].trainer.model.reach(sequence(random, LONGEST_TESTED));
      norms.forEach((norm, distance) => (sums[distance] = (sums[distance] ?? 0) + Math.log(norm)));
    }
    return sums.map((sum) => Math.exp(sum / REACH_SOURCES));
  }
}

const each = <T>(make: (kind: Kind) => T): Record<Kind, T> => ({
  gru: make('gru'),
  gru_attention: make('gru_attention'),
  transformer: make('transformer'),
});

function create(qkv: TrainQkv, kind: Kind, seed: number): Model {
  const { config, learningRate } = MODELS[kind];
  const trainer = qkv.seq2seq(config, { learningRate, deviation: DEVIATION, seed });
  const { parameterCount: parameters } = trainer;
  const learner = { parameters, steps: 0, loss: NaN, accuracy: NaN, milliseconds: NaN };
  return { trainer, random: randomOf(seed), learner };
}

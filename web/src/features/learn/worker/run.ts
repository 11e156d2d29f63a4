import type { TrainQkv } from 'qkv/train';
import { largestAt } from '../../../domain/largest_at';
import { History } from './snapshots';
import type { Birth, Judged, News, Snapshot, Tuned, Writing } from '../shared/protocol';
import { BORN, keysOf, SCORES_OF, scoreOf, type ScoreId } from '../shared/head_scores';
import type { Settings, Tuning } from '../shared/run_settings';
import type { Row, Task } from '../shared/task_type';
import { batches, heldOut, probe, taskOf, type Batch } from '../shared/tasks';
import { write } from './free_running_sample';
import { withTokens } from './file_tokens';
import { TunableTrainer } from './tunable_trainer';

/** Snapshots of a run; of four layers of eight heads at 32 tokens they take 13 MB. */
const KEPT = 96;
/** Steps between two judgements: these cost a tenth of the time. */
export const JUDGED_EVERY = 5;

/** A model in training, and everything that the page shows of it. The same settings and tunings give the same numbers, bit for bit. */
export class Run {
  readonly settings: Settings;
  readonly task: Task;
  readonly history = new History<Snapshot>(KEPT);
  readonly #trainer: TunableTrainer;
  readonly #batches: Iterator<Batch, undefined>;
  readonly #heldOut: Batch;
  readonly #probe: Row;
  readonly #keys: readonly { id: ScoreId; keys: readonly (readonly number[])[] }[];
  readonly #born = new Set<ScoreId>();
  #loss: number[] = [];
  #accuracy: number[] = [];
  #judged: Judged[] = [];
  #births: Birth[] = [];
  #tuning: Tuning;
  #tuned: Tuned[];
  #reported = -1;
  #rate = 0;
  #learningRate = 0;

  constructor(qkv: TrainQkv, settings: Settings, tuning: Tuning) {
    this.settings = settings;
    this.#tuning = tuning;
    this.#tuned = [{ ...tuning, step: 0 }];
    const task = taskOf(settings.task, settings.text);
    this.task = task;
    const { learningRate, deviation, feedForward } = task.defaults;
    const { layers, heads, width, positions, causal, norm, seed, temperature } = settings;
    const config = {
      ...{ vocabulary: task.vocabulary, maxLength: task.length, dFeedForward: feedForward },
      ...{ numLayers: layers, numHeads: heads, dModel: width, positions, causal, norm },
    };
    // Without clipping and decay a temperature is exact: see Tempered.
    const fixed = { seed, deviation, clipNorm: 0, weightDecay: 0 };
    this.#trainer = new TunableTrainer(
      {
        make: (options) => qkv.languageModel(config, { ...fixed, ...options }),
        ...{ learningRate, temperature },
      },
      tuning,
    );
    this.#batches = batches(task, seed, settings.samples, () => this.#tuning.batch);
    this.#heldOut = heldOut(task);
    this.#probe = probe(task);
    this.#keys = SCORES_OF[task.id].map((id) => ({ id, keys: keysOf(id, this.#probe) }));
    this.#judge();
  }

  get steps(): number {
    return this.#trainer.current.steps;
  }

  /** Acts from the next step on. */
  tune(tuning: Tuning): void {
    const { rate, dropout } = this.#tuning;
    if (tuning.rate !== rate || tuning.dropout !== dropout) this.#trainer.tune(tuning);
    this.#tuning = tuning;
    this.#tuned.push({ ...tuning, step: this.steps });
  }

  step(): void {
    const batch = this.#batches.next().value!;
    const begun = performance.now();
    const { loss, accuracy, learningRate } = this.#trainer.step(batch);
    const took = performance.now() - begun;
    this.#rate = this.#rate === 0 ? 1000 / took : 0.9 * this.#rate + 100 / took;
    this.#learningRate = learningRate;
    this.#loss.push(loss);
    this.#accuracy.push(accuracy);
    if (this.steps % JUDGED_EVERY === 0) this.#judge();
    else if (this.history.takes(this.steps)) this.history.add(this.snapshot());
  }

  #judge(): void {
    const { loss, accuracy } = this.#trainer.current.evaluate(this.#heldOut);
    const snapshot = this.snapshot();
    const best = this.#keys.map((_, i) => Math.max(...this.#scoresIn(snapshot, i)));
    this.#judged.push({ step: this.steps, loss, accuracy, best });
    this.history.add(snapshot);
    this.#keys.forEach(({ id }, i) => this.#look(snapshot, id, i));
  }

  /** Whether a head reads in a way for the first time. */
  #look(snapshot: Snapshot, score: ScoreId, index: number): void {
    const { heads } = this.settings;
    if (this.#born.has(score)) return;
    const { step } = snapshot;
    const all = this.#scoresIn(snapshot, index);
    const best = largestAt(all);
    if (!(all[best]! > BORN)) return; // nor if the model has come to NaN
    this.#born.add(score);
    this.#births.push({ score, layer: Math.floor(best / heads), head: best % heads, step });
  }

  /** One score of all heads. */
  #scoresIn({ scores }: Snapshot, index: number): Float32Array {
    const { layers, heads } = this.settings;
    return scores.subarray(index * layers * heads, (index + 1) * layers * heads);
  }

  /** What the heads read in the probe now. */
  snapshot(): Snapshot {
    const { layers, heads } = this.settings;
    const { ids } = this.#probe;
    const square = ids.length ** 2;
    const seen = this.#trainer.current.model.forward(ids, { inspect: { weights: true } });
    const weights = new Float32Array(layers * heads * square);
    for (const [layer, readings] of seen.layers) {
      weights.set(readings.weights.data, layer * heads * square);
    }
    return {
      step: this.steps,
      weights,
      scores: this.#scores(weights, square),
      ...likeliest(seen.logits.data, ids.length),
    };
  }

  #scores(weights: Float32Array, square: number): Float32Array<ArrayBuffer> {
    const each = this.settings.layers * this.settings.heads;
    const all = this.#keys.flatMap(({ keys }) =>
      Array.from({ length: each }, (_, head) => scoreOf(keys, weights, head * square)),
    );
    return Float32Array.from(all);
  }

  writing(): Writing | null {
    return write(this.#trainer.current.model, this.task, this.steps);
  }

  /** What has happened since the last call; a snapshot of now is part of it. */
  news(writing: Writing | null): News {
    const snapshot = this.steps === this.#reported ? null : this.snapshot();
    this.#reported = this.steps;
    const news: News = {
      step: this.steps,
      loss: Float32Array.from(this.#loss),
      accuracy: Float32Array.from(this.#accuracy),
      judged: this.#judged,
      births: this.#births,
      tuned: this.#tuned,
      ...{ snapshot, writing, rate: this.#rate, learningRate: this.#learningRate },
      parameters: this.#trainer.current.parameterCount,
    };
    [this.#loss, this.#accuracy, this.#judged, this.#births] = [[], [], [], []];
    this.#tuned = [];
    return news;
  }

  /** The model as a file that the panel of trained models reads. */
  file(): Uint8Array<ArrayBuffer> {
    const { words, texts = words } = this.task;
    return withTokens(this.#trainer.current.save(), texts);
  }

  dispose(): void {
    this.#trainer.dispose();
  }
}

/** The likeliest token at each place and its probability; -1 and NaN where a logit is NaN. */
function likeliest(logits: Float32Array, places: number): Pick<Snapshot, 'answers' | 'certainty'> {
  const vocabulary = logits.length / places;
  const answers = new Int32Array(places);
  const certainty = new Float32Array(places);
  for (let place = 0; place < places; place++) {
    const row = logits.subarray(place * vocabulary, (place + 1) * vocabulary);
    const most = Math.max(...row);
    let total = 0;
    for (const logit of row) total += Math.exp(logit - most);
    answers[place] = row.indexOf(most);
    certainty[place] = 1 / total;
  }
  return { answers, certainty };
}

import type {
  LanguageBatch,
  TrainedModel,
  LearningRateSchedule,
  StepResult,
  Trainer,
  TrainerOptions,
} from 'qkv/train';
import type { Tuning } from '../shared/run_settings';
import { Tempered } from './attention_temperature';

type LearningRate = number | LearningRateSchedule;
/** What such a trainer is made with: the rest of its options, and the temperature of its attention, stay. */
export interface Making {
  readonly make: (options: TrainerOptions) => Trainer<TrainedModel>;
  readonly learningRate: LearningRate;
  readonly temperature: number;
}

const times = (rate: LearningRate, by: number): LearningRate =>
  typeof rate === 'number'
    ? rate * by
    : { ...rate, peak: rate.peak * by, final: (rate.final ?? 0) * by };

/**
 * A trainer whose learning rate and dropout change between its steps. Those of the package keep theirs, so another one takes over:
 * its weights, its moments and the number of its steps are those of the one before, bit for bit.
 */
export class TunableTrainer {
  readonly #making: Making;
  #trainer: Trainer<TrainedModel>;
  #tempered: Tempered;

  constructor(making: Making, tuning: Tuning) {
    this.#making = making;
    [this.#trainer, this.#tempered] = this.#made(tuning);
  }

  #made({ rate, dropout }: Tuning): [Trainer<TrainedModel>, Tempered] {
    const { make, learningRate, temperature } = this.#making;
    const trainer = make({ learningRate: times(learningRate, rate), dropout });
    return [trainer, new Tempered(trainer, temperature)];
  }

  /** The trainer of now: another one after `tune`. */
  get current(): Trainer<TrainedModel> {
    return this.#trainer;
  }

  step(batch: LanguageBatch): StepResult {
    return this.#tempered.step(batch);
  }

  tune(tuning: Tuning): void {
    const before = this.#trainer;
    const all = before.save({ optimizer: true });
    [this.#trainer, this.#tempered] = this.#made(tuning);
    this.#trainer.load(all);
    before.dispose();
  }

  dispose(): void {
    this.#trainer.dispose();
  }
}

import type { LanguageBatch, TrainedModel, StepResult, Trainer } from 'qkv/train';

/**
 * Steps of a model whose attention divides its scores by a temperature as well as by sqrt(d_k). Trainers know no temperature, but
 * scores are linear in the queries: W_q and b_q divided by it are the same model. AdamW moves each number by an amount that does
 * not depend on the size of its gradient (but for its epsilon), so that the numbers of that model move as much divided by the
 * temperature. That holds without clipping and weight decay.
 */
export class Tempered {
  readonly #trainer: Trainer<TrainedModel>;
  readonly #temperature: number;
  readonly #names: readonly string[];

  constructor(trainer: Trainer<TrainedModel>, temperature: number) {
    this.#trainer = trainer;
    this.#temperature = temperature;
    const parameters = trainer.parameters();
    const ofQueries = parameters.names.filter((name) => /attention\.(wq|bq)$/.test(name));
    this.#names = temperature === 1 ? [] : ofQueries;
    for (const name of this.#names) {
      const { data, shape } = parameters.value(name);
      parameters.set(name, { data: data.map((number) => number / temperature), shape });
    }
  }

  step(batch: LanguageBatch): StepResult {
    const parameters = this.#trainer.parameters();
    const before = this.#names.map((name) => parameters.value(name).data);
    const result = this.#trainer.step(batch);
    this.#names.forEach((name, i) => {
      const from = before[i]!;
      const { data, shape } = parameters.value(name);
      const moved = data.map((to, j) => from[j]! + (to - from[j]!) / this.#temperature);
      parameters.set(name, { data: moved, shape });
    });
    return result;
  }
}

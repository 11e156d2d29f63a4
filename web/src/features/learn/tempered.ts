/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index here is in range by its loop */
import type { Batch, LanguageModel, StepResult, Trainer } from 'qkv/train';

/**
 * Steps of a model whose attention divides its scores by a temperature as well as by sqrt(d_k). Trainers know no temperature, but
 * scores are linear in the queries: W_q and b_q divided by it are the same model. AdamW moves each number by an amount that does
 * not depend on the size of its gradient (but for its epsilon), so that the numbers of that model move as much divided by the
 * temperature. That holds without clipping and weight decay.
 */
export class Tempered {
  readonly #trainer: Trainer<LanguageModel>;
  readonly #temperature: number;
  readonly #names: readonly string[];

  constructor(trainer: Trainer<LanguageModel>, temperature: number) {
    this.#trainer = trainer;
    this.#temperature = temperature;
    const { names, value, set } = trainer.parameters();
    this.#names = temperature === 1 ? [] : names.filter((name) => /attention\.(wq|bq)$/.test(name));
    for (const name of this.#names) {
      const { data, shape } = value(name);
      set(name, { data: data.map((number) => number / temperature), shape });
    }
  }

  step(batch: Batch): StepResult {
    const { value, set } = this.#trainer.parameters();
    const before = this.#names.map(value);
    const result = this.#trainer.step(batch as Parameters<Trainer<LanguageModel>['step']>[0]);
    this.#names.forEach((name, i) => {
      const { data, shape } = value(name);
      const from = before[i]!.data;
      set(name, {
        data: data.map((to, j) => from[j]! + (to - from[j]!) / this.#temperature),
        shape,
      });
    });
    return result;
  }
}

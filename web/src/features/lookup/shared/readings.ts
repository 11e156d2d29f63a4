import { softmaxOf } from '../../../domain/softmax';

/** An example to look things up in: hours of a day, and a temperature for each, in degrees. */
export const READINGS: readonly { readonly key: number; readonly value: number }[] = [
  { key: 8, value: 4 },
  { key: 10, value: 9 },
  { key: 12, value: 14 },
  { key: 14, value: 16 },
  { key: 16, value: 13 },
  { key: 18, value: 7 },
];

/** What a dictionary answers: the value of the entry of the query, or nothing. */
export const hardAnswer = (question: number): number | null =>
  READINGS.find(({ key }) => key === question)?.value ?? null;

export interface SoftAnswer {
  readonly weights: Float64Array;
  readonly answer: number;
}

/** The nearer a key is to the question, the higher its score -(q - k)² / 2; the answer is the weighted mean of all values. */
export function softAnswer(question: number, temperature: number): SoftAnswer {
  const weights = softmaxOf(READINGS.map(({ key }) => -((question - key) ** 2) / 2 / temperature));
  const answer = READINGS.reduce((sum, { value }, i) => sum + value * (weights[i] ?? 0), 0);
  return { weights, answer };
}

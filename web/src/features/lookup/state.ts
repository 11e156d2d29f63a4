import { clamp, number, optionalNumber, type StateOf } from '../../state/field';
import { clampTemperature } from '../../state/page';
import { TEMPERATURES } from '../../domain/temperatures';

const HOURS = [8, 18] as const;
/** The query, and how soft the answer is, until the reader chooses: an hour without an entry. */
const FIRST = { question: 11, temperature: 1 } as const;

const half = (value: number) => clamp(Math.round(value * 2) / 2, HOURS);

export const lookupFields = {
  /** The hour of the query; null: that of FIRST. */
  lookupQuestion: optionalNumber(number('uq', FIRST.question, HOURS, half)),
  /** The temperature of the soft look-up; null: that of FIRST. */
  lookupTemperature: optionalNumber(
    number('ut', FIRST.temperature, TEMPERATURES, clampTemperature),
  ),
};
export type LookupState = StateOf<typeof lookupFields>;

export const lookupOf = ({ lookupQuestion, lookupTemperature }: LookupState) => ({
  question: lookupQuestion ?? FIRST.question,
  temperature: lookupTemperature ?? FIRST.temperature,
});

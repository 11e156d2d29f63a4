import { integer, type Field } from '../../state/field';
import { HEADS, SEEDS } from './shared/model_configs';
import { readSource } from './shared/task';

const digits: Field<string> = {
  ...{ key: 'rcx', initial: '314159265358979' },
  write: String,
  read: (raw) => (raw === '' ? '' : readSource(raw).join('') || undefined),
};

export const recurrenceFields = {
  /** What the models are to say from its end. */
  recurrenceSource: digits,
  /** Of the initial weights and of what is trained on. */
  recurrenceSeed: integer('rcs', 1, SEEDS),
  /** The head of the transformer that is shown. */
  recurrenceHead: integer('rch', 1, [0, HEADS - 1]),
};

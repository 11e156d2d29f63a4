// What tokenizer.json puts around a text.

import { describe } from '../../../arguments/values.js';
import { refuse, refuseUnsupported } from '../../errors.js';
import type { Fields } from '../../fields.js';
import { chainOf, known, type Makers, partsOf } from './parts.js';

/** Tokens before and after a text. */
interface Around {
  readonly before: readonly number[];
  readonly after: readonly number[];
  /** What a pair of texts becomes, if it is said. */
  readonly pair?: readonly PairPart[] | undefined;
}

/** Tokens, or one of two texts, with the segment of all of it. */
export interface PairPart {
  readonly part: readonly number[] | 'first' | 'second';
  readonly type: number;
}

const isId = (value: unknown): value is number => Number.isInteger(value) && Number(value) >= 0;

/** A token, as ["[CLS]", 101]. */
function tokenOf(fields: Fields, field: string): number {
  const [, id] = fields.list(field) ?? [];
  return isId(id)
    ? id
    : refuse(
        `${fields.pathOf(field)} is ${describe(fields.get(field))}`,
        'a text and the number of a token',
      );
}

/** The tokens that a template has for a name. */
function specialOf(fields: Fields, name: string): number[] {
  const ids = fields.part('special_tokens')?.part(name)?.list('ids');
  return ids?.every(isId)
    ? [...ids]
    : refuse(
        `${fields.pathOf('special_tokens')} has no ids for ${describe(name)}`,
        'numbers of tokens',
      );
}

/** The template of a pair; undefined for none, or one that does not have each text once. */
function pairOf(fields: Fields): PairPart[] | undefined {
  if (fields.isEmpty('pair')) return undefined;
  const texts = { A: 'first', B: 'second' } as const;
  const parts = partsOf(fields, 'pair').map((each): PairPart => {
    known(each, 'SpecialToken', 'Sequence');
    const special = each.part('SpecialToken');
    if (special)
      return {
        part: specialOf(fields, special.text('id')),
        type: special.count('type_id', 0, 0),
      };
    const text = each.part('Sequence');
    if (!text) return refuse(`${each.pathOf('Sequence')} is missing`, 'it');
    return { part: text.choice('id', texts), type: text.count('type_id', 0, 0) };
  });
  const said = parts.map(({ part }) => part).filter((part) => typeof part === 'string');
  return String([...said].sort()) === 'first,second' ? parts : undefined;
}

function template(fields: Fields): Around {
  known(fields, 'single', 'pair', 'special_tokens');
  const around: { before: number[]; after: number[] } = { before: [], after: [] };
  let texts = 0;
  for (const part of partsOf(fields, 'single')) {
    known(part, 'SpecialToken', 'Sequence');
    const special = part.part('SpecialToken');
    if (special)
      around[texts === 0 ? 'before' : 'after'].push(...specialOf(fields, special.text('id')));
    else texts += 1;
  }
  if (texts !== 1) refuseUnsupported(`${fields.pathOf('single')} has ${texts} texts`, 'one');
  return { ...around, pair: pairOf(fields) };
}

/** Two texts as BERT has them, [CLS] A [SEP] B [SEP] of segments 0 and 1, or as RoBERTa, with one more [SEP] and one segment. */
export const classPair = ({
  cls,
  sep,
  isRoberta,
}: {
  readonly cls: number;
  readonly sep: number;
  readonly isRoberta: boolean;
}): PairPart[] => {
  const second = isRoberta ? 0 : 1;
  return [
    { part: [cls], type: 0 },
    { part: 'first', type: 0 },
    { part: isRoberta ? [sep, sep] : [sep], type: 0 },
    { part: 'second', type: second },
    { part: [sep], type: second },
  ];
};

/** As BERT has it: tokens named by what they are. */
const classes =
  (...more: readonly string[]) =>
  (fields: Fields): Around => {
    known(fields, 'sep', 'cls', ...more);
    const [cls, sep] = [tokenOf(fields, 'cls'), tokenOf(fields, 'sep')];
    return {
      before: [cls],
      after: [sep],
      pair: classPair({ cls, sep, isRoberta: more.length > 0 }),
    };
  };

const makers: Makers<Around> = {
  TemplateProcessing: template,
  BertProcessing: classes(),
  RobertaProcessing: classes('trim_offsets', 'add_prefix_space'),
  // It is about places of tokens in the text.
  ByteLevel(fields) {
    known(fields, 'add_prefix_space', 'trim_offsets', 'use_regex');
    return { before: [], after: [] };
  },
};

export function aroundOf(fields: Fields | undefined): Around {
  const chain = chainOf(fields, 'processors', makers);
  return chain.reduce(
    (inner, outer) => ({
      pair: outer.pair ?? inner.pair,
      before: [...outer.before, ...inner.before],
      after: [...inner.after, ...outer.after],
    }),
    { before: [], after: [] },
  );
}

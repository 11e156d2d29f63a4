// What tokenizer.json puts around a text.

import { describe } from '../../../arguments/values.js';
import { refuse, refuseUnsupported } from '../../errors.js';
import type { Fields } from '../../fields.js';
import { chainOf, known, type Makers, partsOf } from './parts.js';

/** Tokens before and after a text. */
export interface Around {
  readonly before: readonly number[];
  readonly after: readonly number[];
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
  return around;
}

/** As BERT has it: tokens named by what they are. */
const classes =
  (...more: readonly string[]) =>
  (fields: Fields): Around => {
    known(fields, 'sep', 'cls', ...more);
    return { before: [tokenOf(fields, 'cls')], after: [tokenOf(fields, 'sep')] };
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
      before: [...outer.before, ...inner.before],
      after: [...inner.after, ...outer.after],
    }),
    { before: [], after: [] },
  );
}

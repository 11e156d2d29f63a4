// Which tokens a generation may choose (forced tokens, a mask, a constraint), which it favours or bans (biases), and how many
// alternatives of each token it returns.

import { QkvError } from '../../api/errors.js';
import type { GenerateOptions } from '../../api/model-types.js';
import type { Input } from '../../arguments/arrays.js';
import { checkInteger } from '../../arguments/numbers.js';
import { describe, reading } from '../../arguments/values.js';
import { beginning, type ConstraintState } from '../constraint/constraint-state.js';
import type { ModelSpec } from '../model-spec.js';
import { type Choice, type LogitBias, logitBiasOf } from '../sampling-options.js';
import { tokenListOf } from './token-lists.js';

/** Most tokens that may be forced, and most alternatives of a token. */
const [mostForced, mostLogprobs] = [2 ** 16, 1000];

type Mask = NonNullable<GenerateOptions['mask']>;

/** The options, checked. */
export interface ChoiceRules {
  /** What they are options of. */
  readonly fn: string;
  readonly vocabulary: number;
  readonly bias: LogitBias | undefined;
  readonly forced: readonly number[];
  readonly mask: Mask | undefined;
  /** Where a generation begins in its constraint, if it has one. */
  readonly begun: ConstraintState | undefined;
  /** How many alternatives of each token are returned: `topLogprobs`. */
  readonly top: number;
}

/** The biases, with those of tokens that are banned. */
function biasOf(
  fn: string,
  vocabulary: number,
  { logitBias, banned }: GenerateOptions,
): LogitBias | undefined {
  const bias = logitBiasOf(fn, logitBias, vocabulary);
  const never = tokenListOf(fn, 'banned', banned, vocabulary, vocabulary) ?? [];
  if (never.length === 0) return bias;
  return {
    ids: Int32Array.from([...(bias?.ids ?? []), ...never]),
    values: Float32Array.from([...(bias?.values ?? []), ...never.map(() => -Infinity)]),
  };
}

export function choiceRulesOf(
  fn: string,
  spec: ModelSpec,
  taken: GenerateOptions,
  ends: readonly number[],
): ChoiceRules {
  const { vocabulary } = spec.config;
  const { forced, mask, topLogprobs = 0, constraint } = taken;
  const begun = constraint === undefined ? undefined : beginning(fn, spec, constraint, ends);
  if (mask !== undefined && typeof mask !== 'function') {
    throw new QkvError(
      'invalid_argument',
      `${fn}: mask is ${describe(mask)}, expected a function that returns the tokens that may be chosen`,
    );
  }
  checkInteger(fn, 'topLogprobs', topLogprobs, 0, Math.min(vocabulary, mostLogprobs));
  return {
    ...{ fn, vocabulary, mask, top: topLogprobs, begun },
    bias: biasOf(fn, vocabulary, taken),
    forced: tokenListOf(fn, 'forced', forced, vocabulary, mostForced) ?? [],
  };
}

/** A bit for each of these tokens, in words of 32. */
function bitsOf(tokens: Iterable<number>, vocabulary: number): Int32Array {
  const words = new Int32Array(Math.ceil(vocabulary / 32));
  for (const token of tokens) words[token >> 5] = (words[token >> 5] ?? 0) | (1 << (token & 31));
  return words;
}

/** The tokens that a caller's mask lets through. */
function masked(
  { fn, vocabulary }: ChoiceRules,
  mask: Mask,
  answer: readonly number[],
): Int32Array | undefined {
  const given: unknown = reading(fn, 'mask()', () => mask(Int32Array.from(answer)));
  if (given === undefined) return undefined;
  const ids = reading(fn, 'mask()', () => Array.from(given as ArrayLike<unknown>));
  if (typeof given !== 'object' || ids.length === 0) {
    throw new QkvError(
      'invalid_argument',
      `${fn}: mask() is ${describe(given)}, expected a list of at least one token, or undefined for all`,
    );
  }
  ids.forEach((id, i) => checkInteger(fn, `mask()[${i}]`, id, 0, vocabulary - 1));
  return bitsOf(ids as number[], vocabulary);
}

/** The rules of one generation, and where in them it is: what each of its choices is given. */
export class Choices {
  readonly #rules: ChoiceRules;
  readonly #constraint: ConstraintState | undefined;
  readonly #answer: number[];

  constructor(rules: ChoiceRules, constraint = rules.begun?.fork(), answer: number[] = []) {
    this.#rules = rules;
    this.#constraint = constraint;
    this.#answer = answer;
  }

  /** Those of an answer that begins as this one. */
  fork(): Choices {
    return new Choices(this.#rules, this.#constraint?.fork(), [...this.#answer]);
  }

  /** Whether the answer is whole, and nothing may follow. */
  get isOver(): boolean {
    return this.#constraint?.isOver ?? false;
  }

  /** A token that was chosen. */
  push(id: number): void {
    this.#answer.push(id);
    this.#constraint?.push(id);
  }

  /** What the next choice is given. */
  next(seen: Input | undefined): Choice {
    const { bias, top } = this.#rules;
    return { seen, bias, allowed: this.#allowed(), top };
  }

  /** A bit for each token that may come next; undefined where all may. */
  #allowed(): Int32Array | undefined {
    const { fn, forced, mask, vocabulary } = this.#rules;
    const at = this.#answer.length;
    const next = forced[at];
    const own =
      next === undefined
        ? mask && masked(this.#rules, mask, this.#answer)
        : bitsOf([next], vocabulary);
    const bound = this.#constraint?.mask();
    if (!own || !bound) return own ?? bound;
    const both = own.map((word, i) => word & (bound[i] ?? 0));
    if (both.some((word) => word !== 0)) return both;
    throw new QkvError(
      'out_of_range',
      next === undefined
        ? `${fn}: mask() has no token that the constraint allows, expected one at least`
        : `${fn}: forced[${at}] is ${next}, expected a token that the constraint allows there`,
    );
  }
}

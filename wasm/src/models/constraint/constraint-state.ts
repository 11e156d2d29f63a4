// A generation that is bound to a constraint.

import type { Constraint } from '../../api/constraint-types.js';
import { QkvError } from '../../api/errors.js';
import type { ModelSpec } from '../model-spec.js';
import { hasNoTokenizer } from '../text.js';
import { checkedConstraint, isSame } from './checked.js';
import { Masks } from './masks.js';
import { type Vocabulary, vocabularyOf } from './vocabulary.js';
import type { Place } from './walker.js';

/** Bytes of the text that a message quotes. */
const quoted = 40;

/** Constraints of a vocabulary whose masks are kept. */
const mostKept = 4;
/** The masks of the last constraints of each vocabulary, the latest first. Workers get a copy of a constraint for each generation. */
const kept = new WeakMap<Vocabulary, Masks[]>();

function masksOf(fn: string, given: unknown, vocabulary: Vocabulary): Masks {
  const constraint = checkedConstraint(fn, given);
  const all = kept.get(vocabulary) ?? [];
  const masks =
    all.find((each) => isSame(each.constraint, constraint)) ??
    new Masks(fn, constraint, vocabulary);
  kept.set(vocabulary, [masks, ...all.filter((each) => each !== masks)].slice(0, mostKept));
  return masks;
}

/** Bytes for a message: as letters where they can be seen. */
const letterOf = (byte: number): string =>
  byte > 0x20 && byte < 0x7f
    ? String.fromCharCode(byte)
    : `<${byte.toString(16).toUpperCase().padStart(2, '0')}>`;

/** A constraint of a model's tokens, for a call of `fn`. */
interface Bound {
  readonly fn: string;
  readonly masks: Masks;
  /** Tokens that end the text, inside the vocabulary. */
  readonly ends: ReadonlySet<number>;
}

/**
 * Where a generation begins in its constraint.
 *
 * @throws {@link QkvError} `invalid_argument` for a constraint that is none or has no text, `unsupported` for a tokenizer without bytes of
 * its tokens and for rules that cannot be followed
 */
export function beginning(
  fn: string,
  spec: ModelSpec,
  constraint: Constraint,
  ends: readonly number[],
): ConstraintState {
  const { tokenizer, config } = spec;
  if (!tokenizer)
    throw hasNoTokenizer(fn, spec, 'constraint is given', 'a tokenizer, to know what tokens say');
  const masks = masksOf(fn, constraint, vocabularyOf(fn, tokenizer, config.vocabulary));
  const inside = ends.filter((id) => id >= 0 && id < config.vocabulary);
  return new ConstraintState({ fn, masks, ends: new Set(inside) }, masks.walker.begin());
}

/**
 * Where a generation is in its constraint. The text is what its tokens add, by `bytesOf` of the tokenizer, from the first
 * token on; the prompt is no part of it.
 */
export class ConstraintState {
  readonly #bound: Bound;
  readonly #mask: Int32Array;
  #place: Place;
  /** The last bytes of the text. */
  #said: readonly number[];
  #isEnded: boolean;

  constructor(bound: Bound, place: Place, said: readonly number[] = [], isEnded = false) {
    this.#bound = bound;
    this.#mask = new Int32Array(bound.masks.words);
    this.#place = place;
    this.#said = said;
    this.#isEnded = isEnded;
  }

  /** Where a generation is that has said the same. */
  fork(): ConstraintState {
    return new ConstraintState(this.#bound, this.#place, this.#said, this.#isEnded);
  }

  /** Whether the text is whole, and nothing may follow. */
  get isOver(): boolean {
    return this.#isEnded || (this.#place.isEnd && this.#place.states.length === 0);
  }

  /**
   * The tokens that may come next: bit t % 32 of word t / 32 is token t. Tokens that end the text may come where the text may end.
   * The array belongs to this object, which writes the next mask into it.
   *
   * @throws {@link QkvError} `unsupported` if there is none, and the text is not over
   */
  mask(): Int32Array {
    const mask = this.#mask;
    if (this.#isEnded) return mask.fill(0);
    this.#place = this.#bound.masks.current(this.#place);
    mask.set(this.#bound.masks.of(this.#place));
    const canEnd = this.#place.isEnd;
    for (const id of this.#bound.ends) {
      const bit = 1 << (id & 31);
      const word = mask[id >> 5] ?? 0;
      mask[id >> 5] = canEnd ? word | bit : word & ~bit;
    }
    if (!this.isOver && !mask.some((word) => word !== 0)) this.#isStuck();
    return mask;
  }

  /**
   * The text goes on with this token.
   *
   * @throws {@link QkvError} `invalid_argument` for one that mask() does not have; nothing changes then
   */
  push(id: number): void {
    if (this.#isEnded) this.#refuse(id, 'no token, because the text is over');
    this.#place = this.#bound.masks.current(this.#place);
    if (this.#bound.ends.has(id)) {
      if (!this.#place.isEnd) this.#refuse(id, 'a text that may end here');
      this.#isEnded = true;
      return;
    }
    const { walker, vocabulary } = this.#bound.masks;
    const bytes = id >= 0 && id < vocabulary.count ? vocabulary.bytesOf(id) : undefined;
    if (!bytes || bytes.length === 0) this.#refuse(id, 'a token with a text');
    let place: Place | null = this.#place;
    for (const byte of bytes) {
      place = walker.step(place, walker.classOf[byte] ?? 0);
      if (!place) this.#refuse(id, 'a token of mask()');
    }
    this.#place = place;
    this.#said = [...this.#said, ...bytes].slice(-quoted);
  }

  #where(): string {
    const said = new TextDecoder().decode(Uint8Array.from(this.#said));
    return said === '' ? 'at the beginning of the text' : `after ${JSON.stringify(said)}`;
  }

  #refuse(id: number, expected: string): never {
    throw new QkvError(
      'invalid_argument',
      `${this.#bound.fn}: token ${id} ${this.#where()} is not in the constraint, expected ${expected}`,
    );
  }

  #isStuck(): never {
    const { walker } = this.#bound.masks;
    const bytes = Array.from({ length: 256 }, (_, byte) => byte).filter(
      (byte) => walker.step(this.#place, walker.classOf[byte] ?? 0) !== null,
    );
    const may = bytes.slice(0, 16).map(letterOf).join(' ') + (bytes.length > 16 ? ' ...' : '');
    const and = this.#place.isEnd
      ? ', or the end of the text, for which the model has no token'
      : '';
    throw new QkvError(
      'unsupported',
      `${this.#bound.fn}: no token of the vocabulary can go on with the text ${this.#where()}, where the constraint has ${may}${and}; expected a vocabulary that has it`,
    );
  }
}

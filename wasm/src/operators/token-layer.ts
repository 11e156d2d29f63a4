// What a layer and a block have in common: tokens in, tokens out, attention options, a handle.

import { extraFields, optionFields, readExtras } from './attention.js';
import { appending, cacheAddress, cacheOf } from './cache.js';
import { Call } from '../memory/call.js';
import { checkArray, checkIntegers, type Input } from '../arguments/arrays.js';
import { shapeText } from '../arguments/shapes.js';
import type { Instance } from '../memory/instance.js';
import { QkvError } from '../api/errors.js';
import { takeOptions } from '../arguments/values.js';
import type { Address } from '../memory/raw.js';
import { checkAttentionOptions } from '../arguments/attention-options.js';
import { checkOut } from '../arguments/out.js';
import { paperSlopes } from './relative-bias.js';
import { disposeSymbol, Handle } from '../memory/handle.js';
import type {
  ArrayInput,
  AttentionResult,
  BlockOptions,
  Exactly,
  MultiHeadAttention,
  ResultOf,
  Unsaid,
} from '../api/types.js';

const fn = 'forward';

interface LayerKind {
  /** For messages. */
  readonly name: 'layer' | 'block';
  readonly destroyer: 'destroyLayer' | 'destroyBlock';
  readonly optionNames: readonly string[];
  /** The attention whose options these are reads the context; a block's reads x. */
  readonly readsContext: boolean;
}

interface LayerWidths {
  readonly dModel: number;
  readonly dContext: number;
  readonly numHeads: number;
}

interface Tokens {
  readonly input: Input;
  readonly batch: number;
  readonly tokens: number;
}

/** [B, T, width] or [T, width], and B as the other input has it. */
function checkTokens(name: string, value: ArrayInput, width: number, batch?: number): Tokens {
  const input = checkArray(fn, name, value);
  const { shape } = input;
  const [own = 0, tokens = 0, columns = 0] = shape.length === 3 ? shape : [1, ...shape];
  const rankFits = shape.length === 2 || shape.length === 3;
  if (!rankFits || columns !== width || (batch !== undefined && own !== batch)) {
    throw new QkvError(
      'shape_mismatch',
      `${fn}: ${name} is ${shapeText(shape)}, expected ` +
        (batch === undefined || batch === 1
          ? `[${batch ?? 'B'},T,${width}] or [T,${width}]`
          : `[${batch},T,${width}]`),
    );
  }
  return { input, batch: own, tokens };
}

export class TokenLayer implements MultiHeadAttention {
  readonly #kind: LayerKind;
  readonly #widths: LayerWidths;
  readonly #handle: Handle;

  constructor(instance: Instance, kind: LayerKind, widths: LayerWidths, address: Address) {
    this.#kind = kind;
    this.#widths = widths;
    this.#handle = new Handle(this, instance, address, kind.destroyer);
  }

  get [Symbol.toStringTag](): string {
    return this.#kind.name === 'layer' ? 'MultiHeadAttention' : 'TransformerBlock';
  }

  forward<O extends Exactly<O, BlockOptions> = Unsaid<BlockOptions>>(
    x: ArrayInput,
    options?: O,
  ): ResultOf<O>;
  forward(givenX: ArrayInput, givenOptions: BlockOptions = {}): AttentionResult {
    const { instance } = this.#handle;
    this.#address();
    const options = takeOptions(fn, 'options', givenOptions, this.#kind.optionNames);
    const { dModel, dContext, numHeads } = this.#widths;
    const x = checkTokens('x', givenX, dModel);
    const context =
      options.context === undefined
        ? undefined
        : checkTokens('context', options.context, dContext, x.batch);
    if (!context && this.#kind.readsContext && dContext !== dModel) {
      throw new QkvError(
        'shape_mismatch',
        `${fn}: context is missing, expected [${x.batch},T,${dContext}]`,
      );
    }
    const added = this.#kind.readsContext && context ? context.tokens : x.tokens;
    const cache = cacheOf(instance, fn, options);
    const tk = added + (cache?.length ?? 0);
    const dimensions = { batch: x.batch, heads: numHeads, tq: x.tokens, tk };
    const slopes = (heads: number): Float32Array => paperSlopes(instance, fn, heads);
    const checked = checkAttentionOptions(fn, options, dimensions, slopes);
    const lengths = checkIntegers(
      ...([fn, 'contextKeyLengths', options.contextKeyLengths, x.batch] as const),
    );
    const out = checkOut(fn, options.out, x.input.shape);

    const call = new Call(instance, fn);
    const rows = [x.batch, x.tokens, dModel];
    const given = {
      x: call.input(x.input, rows),
      context: context && call.input(context.input, [x.batch, context.tokens, dContext]),
      y: call.output('out', rows, out),
      options: optionFields(call, checked),
      extras: extraFields(call, checked),
      cache: cache && cacheAddress(fn, cache),
    };
    appending(fn, cache, added, () => {
      if (this.#kind.name === 'layer') {
        call.run('forwardLayer', { ...given, layer: this.#address() });
      } else {
        const contextKeyLengths = call.input(lengths);
        call.run('forwardBlock', { ...given, contextKeyLengths, block: this.#address() });
      }
    });
    const extras = readExtras(call, checked, given.extras);
    // With `out` there is no `output`; the overloads of forward() say so to the caller.
    return out
      ? (extras as AttentionResult)
      : { output: { data: call.read(given.y), shape: [...x.input.shape] }, ...extras };
  }

  dispose(): void {
    this.#handle.dispose();
  }

  [disposeSymbol](): void {
    this.dispose();
  }

  /** Where its weights are. */
  #address(): Address {
    return this.#handle.live(fn, `the ${this.#kind.name}`);
  }
}

// Models that read one sequence and write another, in training.

import type {
  Filled,
  Seq2Seq,
  Seq2SeqBatch,
  Seq2SeqConfig,
  Trainer,
  TrainerOptions,
  TranslateOptions,
  Translation,
} from '../api/trainer-types.js';
import type { OwnedArray, Shape4 } from '../api/types.js';
import type { Input } from '../arguments/arrays.js';
import { checkChoice, checkInteger, mostInt } from '../arguments/numbers.js';
import { sizeOf } from '../arguments/shapes.js';
import { takeOptions } from '../arguments/values.js';
import { checkRows, checkWhole, optionalWhole } from '../language/rows.js';
import type { Group } from '../memory/abi.js';
import { Call } from '../memory/call.js';
import type { Instance } from '../memory/instance.js';
import { trainerOptions } from './options.js';
import type { TrainerState } from './trainer-state.js';
import { createTrainer, type TrainerKind } from './trainer.js';

type FullConfig = Filled<Seq2SeqConfig>;
type TokenRows = ReturnType<typeof checkRows>;

const sizes = ['vocabulary', 'dModel', 'numHeads', 'numLayers', 'maxLength'] as const;

function resolve(fn: string, given: Seq2SeqConfig): FullConfig {
  const names = ['kind', ...sizes, 'dFeedForward', 'score'] as const;
  const taken = takeOptions(fn, 'config', given, names);
  const { kind, vocabulary, dModel, maxLength, score = 'additive' } = taken;
  const { numHeads = 1, numLayers = 1, dFeedForward = 0 } = taken;
  const config: FullConfig = {
    ...{ dFeedForward, dModel, kind, maxLength, numHeads, numLayers, score, vocabulary },
  };
  checkChoice(fn, 'kind', kind, ['gru', 'gru_attention', 'transformer']);
  checkChoice(fn, 'score', score, ['additive', 'dot']);
  for (const name of sizes) checkInteger(fn, name, config[name], 1, mostInt);
  checkInteger(fn, 'dFeedForward', dFeedForward, 0, mostInt);
  return Object.freeze(config);
}

function batchFields(fn: string, call: Call, given: Seq2SeqBatch): Group<'trainerBatch'> {
  const names = ['ids', 'targets', 'batch', 'source', 'sourceLengths'] as const;
  const { ids, targets, batch, source, sourceLengths } = takeOptions(fn, 'batch', given, names);
  checkInteger(fn, 'batch', batch, 1, mostInt);
  const rows = checkRows(fn, 'ids', ids, batch);
  const expected = checkWhole(fn, 'targets', targets, sizeOf(rows.shape));
  return {
    ids: call.input(rows),
    targets: call.input(expected, rows.shape),
    source: call.input(checkRows(fn, 'source', source, batch)),
    sourceLengths: call.input(optionalWhole(fn, 'sourceLengths', sourceLengths, batch)),
  };
}

/** A source and how much of each row counts. */
interface SourceRows {
  readonly rows: TokenRows;
  readonly own: Input | undefined;
}

class TrainedSeq2Seq implements Seq2Seq {
  declare readonly config: FullConfig;
  declare readonly parameterCount: number;
  readonly #state: TrainerState;

  constructor(config: FullConfig, state: TrainerState) {
    this.#state = state;
    const { parameterCount } = state;
    for (const [name, value] of Object.entries({ config, parameterCount })) {
      Object.defineProperty(this, name, { value, enumerable: true });
    }
  }

  get [Symbol.toStringTag](): string {
    return 'Seq2Seq';
  }

  translate(given: ArrayLike<number>, givenOptions: TranslateOptions): Translation {
    const fn = 'Seq2Seq.translate';
    const names = ['batch', 'sourceLengths', 'start', 'end', 'maxLength'] as const;
    const options = takeOptions(fn, 'options', givenOptions, names);
    const { batch = 1, sourceLengths, start, end, maxLength } = options;
    checkInteger(fn, 'batch', batch, 1, mostInt);
    checkInteger(fn, 'start', start, 0, this.config.vocabulary - 1);
    checkInteger(fn, 'end', end, 0, this.config.vocabulary - 1);
    checkInteger(fn, 'maxLength', maxLength, 1, this.config.maxLength);
    const rows = checkRows(fn, 'source', given, batch);
    const own = optionalWhole(fn, 'sourceLengths', sourceLengths, batch);
    const ids = this.#say(fn, { rows, own }, { start, end, maxLength });
    return { ids, weights: this.#weights(fn, { rows, own }, ids, { start, end, maxLength }) };
  }

  reach(given: ArrayLike<number>): Float32Array<ArrayBuffer> {
    const fn = 'Seq2Seq.reach';
    const rows = checkRows(fn, 'source', given, 1);
    const call = new Call(this.#state.instance, fn);
    const norms = call.output('norms', [rows.shape[1]]);
    const source = call.input(rows, [rows.shape[1]]);
    call.run('reach', { trainer: this.#state.live(fn), source, norms });
    return call.read(norms);
  }

  /** The tokens of each row. */
  #say(
    fn: string,
    { rows, own }: SourceRows,
    { start, end, maxLength }: { start: number; end: number; maxLength: number },
  ): Int32Array[] {
    const [batch] = rows.shape;
    const call = new Call(this.#state.instance, fn);
    const said = call.output('ids', [batch, maxLength]);
    const count = call.output('lengths', [batch]);
    call.run('translate', {
      ...{ trainer: this.#state.live(fn), start, end, said, lengths: count },
      ...{ source: call.input(rows), sourceLengths: call.input(own) },
    });
    const tokens = new Int32Array(call.read(said).buffer);
    const ends = new Int32Array(call.read(count).buffer);
    return Array.from(ends, (length, b) => tokens.slice(b * maxLength, b * maxLength + length));
  }

  /** With which weights these tokens were said. */
  #weights(
    fn: string,
    { rows, own }: SourceRows,
    said: readonly Int32Array[],
    { start, end, maxLength }: { start: number; end: number; maxLength: number },
  ): OwnedArray<Shape4>[] {
    const { kind, numLayers, numHeads } = this.config;
    if (kind === 'gru') return [];
    const [batch, sources] = rows.shape;
    const longest = said.reduce((most, { length }) => Math.max(most, length), 0);
    const tokens = Math.min(maxLength, 1 + longest);
    const read = new Int32Array(batch * tokens).fill(end);
    said.forEach((ids, b) => {
      read[b * tokens] = start;
      read.set(ids.subarray(0, tokens - 1), b * tokens + 1);
    });
    const layers = kind === 'transformer' ? numLayers : 1;
    const heads = kind === 'transformer' ? numHeads : 1;
    const call = new Call(this.#state.instance, fn);
    const weights = call.output('weights', [layers * batch, heads, tokens, sources]);
    call.run('readSeq2Seq', {
      ...{ trainer: this.#state.live(fn), weights },
      ...{ source: call.input(rows), sourceLengths: call.input(own) },
      ids: call.input({ name: 'ids', shape: [batch, tokens], source: read }),
    });
    const all = call.read(weights);
    const shape: Shape4 = [batch, heads, tokens, sources];
    const size = sizeOf(shape);
    return Array.from({ length: layers }, (_, l) => ({
      data: all.slice(l * size, (l + 1) * size),
      shape: [...shape] as const,
    }));
  }
}

export function seq2seq(
  instance: Instance,
  given: Seq2SeqConfig,
  givenOptions: TrainerOptions = {},
): Trainer<Seq2Seq> {
  const fn = 'seq2seq';
  const config = resolve(fn, given);
  const options = trainerOptions(fn, givenOptions);
  const call = new Call(instance, fn);
  call.run('createSeq2Seq', { ...config, options });
  const kind: TrainerKind<Seq2Seq, Seq2SeqBatch> = {
    identity: { kind: 'seq2seq', config },
    batch: batchFields,
    model: (state) => new TrainedSeq2Seq(config, state),
  };
  return createTrainer(fn, instance, call.made(), kind);
}

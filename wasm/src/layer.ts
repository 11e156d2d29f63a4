import {
  checkArray,
  checkChoice,
  checkInteger,
  checkKeys,
  checkMask,
  checkWeight,
  type Input,
  shapeText,
  sizeOf,
} from './check.js';
import { checkOptions, checkOut, Extras, layerOptionNames, optionWords } from './attention.js';
import type { Engine } from './engine.js';
import { QkvError } from './error.js';
import type { Address } from './raw.js';
import { disposeSymbol, forgotten, Handle } from './tensor.js';
import { Transfer } from './transfer.js';
import type {
  ArrayInput,
  AttentionResult,
  LayerOptions,
  MultiHeadAttention,
  MultiHeadAttentionConfig,
  MultiHeadAttentionWeights,
} from './types.js';

const createName = 'multiHeadAttention';
const forwardName = 'forward';
const mostInt = 2 ** 31 - 1;

const configNames = [
  ...['dModel', 'numHeads', 'numKvHeads', 'dK', 'dV', 'dContext', 'weightLayout'],
];
const weightNames = ['wq', 'wk', 'wv', 'wqkv', 'wo', 'bq', 'bk', 'bv', 'bqkv', 'bo'] as const;
type WeightName = (typeof weightNames)[number];

type Config = Required<MultiHeadAttentionConfig>;

/** Fills in the defaults and checks the numbers. */
function resolveConfig(config: MultiHeadAttentionConfig): Config {
  checkKeys(createName, 'config', config, configNames);
  const positive = (name: keyof MultiHeadAttentionConfig, value: unknown): void =>
    checkInteger(createName, name, value, 1, mostInt);
  positive('dModel', config.dModel);
  positive('numHeads', config.numHeads);
  const { dModel, numHeads, numKvHeads = numHeads, weightLayout = 'in_out' } = config;
  checkChoice(createName, 'weightLayout', weightLayout, ['in_out', 'out_in']);
  positive('numKvHeads', numKvHeads);
  if (numHeads % numKvHeads !== 0) {
    throw new QkvError(
      'out_of_range',
      `${createName}: numKvHeads is ${numKvHeads}, expected a divisor of numHeads = ${numHeads}`,
    );
  }
  if (config.dK === undefined && dModel % numHeads !== 0) {
    throw new QkvError(
      'out_of_range',
      `${createName}: dModel is ${dModel}, expected a multiple of numHeads = ${numHeads}, or a dK`,
    );
  }
  const { dK = dModel / numHeads, dContext = dModel } = config;
  const { dV = dK } = config;
  positive('dK', dK);
  positive('dV', dV);
  positive('dContext', dContext);
  return { dModel, numHeads, numKvHeads, dK, dV, dContext, weightLayout };
}

/** Every weight that is given, checked against the shape that follows from `config`. */
function checkWeights(
  config: Config,
  weights: MultiHeadAttentionWeights,
): Partial<Record<WeightName, Input>> {
  checkKeys(createName, 'weights', weights, weightNames);
  const { dModel, dContext, numHeads, numKvHeads, dK, dV, weightLayout } = config;
  const [q, k, v] = [numHeads * dK, numKvHeads * dK, numKvHeads * dV];
  const matrix = (rows: number, columns: number): readonly number[] =>
    weightLayout === 'in_out' ? [rows, columns] : [columns, rows];
  const shapes: Record<WeightName, readonly number[]> = {
    wq: matrix(dModel, q),
    wk: matrix(dContext, k),
    wv: matrix(dContext, v),
    wqkv: matrix(dModel, q + k + v),
    wo: matrix(numHeads * dV, dModel),
    ...{ bq: [q], bk: [k], bv: [v], bqkv: [q + k + v], bo: [dModel] },
  };
  const fused = weights.wqkv !== undefined;
  const required: readonly WeightName[] = fused ? ['wqkv', 'wo'] : ['wq', 'wk', 'wv', 'wo'];
  const foreign: readonly WeightName[] = fused ? ['wq', 'wk', 'wv', 'bq', 'bk', 'bv'] : ['bqkv'];
  const checked: Partial<Record<WeightName, Input>> = {};
  for (const name of weightNames) {
    if (weights[name] === undefined && required.includes(name)) {
      throw new QkvError(
        'invalid_argument',
        `${createName}: ${name} is missing, expected ${shapeText(shapes[name])}`,
      );
    }
    if (weights[name] !== undefined && foreign.includes(name)) {
      throw new QkvError(
        'invalid_argument',
        `${createName}: ${name} is given ${fused ? 'together with' : 'without'} wqkv, expected ` +
          'either wqkv and bqkv, or the separate weights and biases of q, k and v',
      );
    }
    const input = checkWeight(createName, name, weights[name], shapes[name]);
    if (input) checked[name] = input;
  }
  if (fused && dContext !== dModel) {
    throw new QkvError(
      'invalid_argument',
      `${createName}: wqkv is given and dContext is ${dContext}, expected dModel = ${dModel}`,
    );
  }
  return checked;
}

export function createLayer(
  engine: Engine,
  givenConfig: MultiHeadAttentionConfig,
  givenWeights: MultiHeadAttentionWeights,
): MultiHeadAttention {
  const raw = engine.raw(createName);
  const config = resolveConfig(givenConfig);
  const weights = checkWeights(config, givenWeights);
  const transfer = new Transfer(engine, createName);
  const slots: Partial<Record<WeightName, number>> = {};
  for (const name of weightNames) {
    const input = weights[name];
    if (input) slots[name] = transfer.input(name, input);
  }
  // A block of its own, given back at once: the staging block would keep the size of the weights.
  let room: Address = 0;
  try {
    transfer.begin((floats) => {
      room = engine.room(createName, raw._createBuffer(floats));
      return raw._bufferData(room) >>> 0;
    });
    engine.describe(createName, {
      ...{ dModel: config.dModel, dContext: config.dContext, layerHeads: config.numHeads },
      ...{ layerKvHeads: config.numKvHeads, layerDK: config.dK, layerDV: config.dV },
      outIn: config.weightLayout === 'out_in' ? 1 : 0,
      ...Object.fromEntries(weightNames.map((name) => [name, transfer.address(slots[name])])),
    });
    const address = engine.room(createName, raw._createLayer());
    const handle = new Handle(engine, address, '_destroyLayer');
    return new Layer(engine, config, handle);
  } finally {
    if (room !== 0) raw._destroyBuffer(room);
  }
}

class Layer implements MultiHeadAttention {
  readonly #engine: Engine;
  readonly #config: Config;
  readonly #handle: Handle;

  constructor(engine: Engine, config: Config, handle: Handle) {
    this.#engine = engine;
    this.#config = config;
    this.#handle = handle;
    forgotten.register(this, handle, this);
  }

  forward(givenX: ArrayInput, options: LayerOptions = {}): AttentionResult {
    const fn = forwardName;
    const engine = this.#engine;
    const raw = engine.raw(fn);
    const layer = this.#handle.address;
    if (layer === undefined) {
      throw new QkvError('disposed', `${fn}: the layer is disposed, expected a live one`);
    }
    checkKeys(fn, 'options', options, layerOptionNames);
    const { dModel, dContext, numHeads } = this.#config;
    const x = this.#checkTokens('x', givenX, dModel, undefined);
    if (options.context === undefined && dContext !== dModel) {
      throw new QkvError(
        'shape_mismatch',
        `${fn}: context is missing, expected [${x.batch},T,${dContext}]`,
      );
    }
    const { context: given = givenX } = options;
    const context = this.#checkTokens('context', given, dContext, x.batch);
    checkOptions(fn, options, x.tokens, context.tokens);
    const mask =
      options.mask === undefined
        ? undefined
        : checkMask(fn, options.mask, [x.batch, numHeads, x.tokens, context.tokens]);
    const inputs = { x: givenX, context: given, mask: options.mask };
    const out = checkOut(fn, options.out, x.input.shape, inputs);

    const transfer = new Transfer(engine, fn);
    const slots = {
      x: transfer.input('x', x.input),
      context: options.context && transfer.input('context', context.input),
      out: out ? transfer.tensor('out', out) : transfer.output(sizeOf(x.input.shape)),
      mask: mask && transfer.input('mask', mask),
    };
    const dims = { batch: x.batch, heads: numHeads, tq: x.tokens, tk: context.tokens };
    const extras = new Extras(transfer, options, dims);
    transfer.begin();
    engine.describe(fn, {
      ...optionWords(options, mask, transfer.address(slots.mask)),
      ...extras.words(),
      ...{ q: transfer.address(slots.x), k: transfer.address(slots.context) },
      ...{ out: transfer.address(slots.out), batch: x.batch, numHeads },
      ...{ tq: x.tokens, tk: context.tokens },
    });
    engine.succeed(fn, raw._forwardLayer(layer));
    const result = extras.read();
    return out
      ? (result as AttentionResult)
      : { output: { data: transfer.read(slots.out), shape: [...x.input.shape] }, ...result };
  }

  dispose(): void {
    forgotten.unregister(this);
    this.#handle.dispose();
  }

  [disposeSymbol](): void {
    this.dispose();
  }

  /** [B, T, width] or [T, width], and B as the other input has it. */
  #checkTokens(
    name: string,
    value: ArrayInput,
    width: number,
    batch: number | undefined,
  ): { input: Input; batch: number; tokens: number } {
    const input = checkArray(forwardName, name, value);
    const { shape } = input;
    const [own = 0, tokens = 0, columns = 0] = shape.length === 3 ? shape : [1, ...shape];
    const rankFits = shape.length === 2 || shape.length === 3;
    if (!rankFits || columns !== width || (batch !== undefined && own !== batch)) {
      throw new QkvError(
        'shape_mismatch',
        `${forwardName}: ${name} is ${shapeText(shape)}, expected ` +
          (batch === undefined || batch === 1
            ? `[${batch ?? 'B'},T,${width}] or [T,${width}]`
            : `[${batch},T,${width}]`),
      );
    }
    return { input, batch: own, tokens };
  }
}

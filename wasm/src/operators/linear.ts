// Linear maps, on weights as they are and on weights that are packed once.

import { QkvError } from '../api/errors.js';
import type {
  ArrayInput,
  Destination,
  LinearLayer,
  LinearOptions,
  NewArray,
  OwnedArray,
  Tensor,
} from '../api/types.js';
import { checkArray, checkVector, type Input } from '../arguments/arrays.js';
import { checkChoice } from '../arguments/numbers.js';
import { checkOut, type To } from '../arguments/out.js';
import { asMatrix, shapeText } from '../arguments/shapes.js';
import { takeOptions } from '../arguments/values.js';
import type { Group } from '../memory/abi.js';
import { Call } from '../memory/call.js';
import { disposeSymbol, Handle } from '../memory/handle.js';
import type { Instance } from '../memory/instance.js';
import type { Address } from '../memory/raw.js';

/** The widths of x and of the result. */
type MapWidths = readonly [from: number, to: number];

interface LinearWeights {
  readonly w: Input;
  readonly bias: Input | undefined;
  readonly layout: 'in_out' | 'out_in';
  readonly widths: MapWidths;
}

export function checkWeights(
  fn: string,
  givenW: ArrayInput,
  options: LinearOptions,
): LinearWeights {
  const { layout = 'in_out' } = options;
  checkChoice(fn, 'layout', layout, ['in_out', 'out_in']);
  const w = checkArray(fn, 'w', givenW);
  const [rows = 0, columns = 0] = w.shape;
  if (w.shape.length !== 2 || rows < 1 || columns < 1) {
    const expected = layout === 'in_out' ? '[in,out]' : '[out,in]';
    throw new QkvError(
      'shape_mismatch',
      `${fn}: w is ${shapeText(w.shape)}, expected ${expected} of at least 1 each`,
    );
  }
  const widths = layout === 'in_out' ? ([rows, columns] as const) : ([columns, rows] as const);
  return { w, bias: checkVector(fn, 'bias', options.bias, widths[1]), layout, widths };
}

/** Weights as the core takes them. */
const weightFields = (call: Call, { w, bias, layout }: LinearWeights): Group<'linearWeights'> => ({
  ...{ w: call.input(w), bias: call.input(bias), layout },
});

interface LinearRows {
  readonly x: Input;
  /** The matrices that the core has of x and of the result. */
  readonly read: readonly number[];
  readonly written: readonly number[];
  /** What the caller gets. */
  readonly result: { readonly as: readonly number[]; readonly out: Tensor | undefined };
}

export function checkRows(
  fn: string,
  given: ArrayInput,
  [from, to]: MapWidths,
  out: unknown,
): LinearRows {
  const x = checkArray(fn, 'x', given);
  const width = x.shape[x.shape.length - 1];
  if (width !== from) {
    throw new QkvError(
      'shape_mismatch',
      `${fn}: x is ${shapeText(x.shape)}, expected [...,${from}]` +
        (width === to
          ? "; set layout to 'out_in' for a matrix stored as in PyTorch, else to 'in_out'"
          : ''),
    );
  }
  const [rows] = asMatrix(x.shape, x.shape.length - 1);
  const as = [...x.shape.slice(0, -1), to];
  return { x, read: [rows, from], written: [rows, to], result: { as, out: checkOut(fn, out, as) } };
}

export function linear(
  instance: Instance,
  givenX: ArrayInput,
  givenW: ArrayInput,
  given: To<LinearOptions> = {},
): OwnedArray {
  const fn = 'linear';
  const options = takeOptions(fn, 'options', given, ['bias', 'layout', 'out']);
  const weights = checkWeights(fn, givenW, options);
  const { x, read, written, result } = checkRows(fn, givenX, weights.widths, options.out);
  const call = new Call(instance, fn);
  const fields = { x: call.input(x, read), weights: weightFields(call, weights) };
  return call.result(fn, written, fields, result);
}

class Layer implements LinearLayer {
  readonly #handle: Handle;
  readonly #widths: MapWidths;

  constructor(instance: Instance, widths: MapWidths, address: Address) {
    this.#handle = new Handle(this, instance, address, 'destroyLinear');
    this.#widths = widths;
  }

  get [Symbol.toStringTag](): string {
    return 'LinearLayer';
  }

  forward(x: ArrayInput, options: Destination): void;
  forward(x: ArrayInput, options?: NewArray): OwnedArray;
  forward(givenX: ArrayInput, given: Partial<Destination> = {}): OwnedArray {
    const fn = 'forward';
    const { instance } = this.#handle;
    this.#handle.live(fn, 'the layer');
    const options = takeOptions(fn, 'options', given, ['out']);
    const { x, read, written, result } = checkRows(fn, givenX, this.#widths, options.out);
    const call = new Call(instance, fn);
    const fields = { x: call.input(x, read), layer: this.#handle.live(fn, 'the layer') };
    return call.result('forwardLinear', written, fields, result);
  }

  dispose(): void {
    this.#handle.dispose();
  }

  [disposeSymbol](): void {
    this.dispose();
  }
}

export function linearLayer(
  instance: Instance,
  givenW: ArrayInput,
  given: LinearOptions = {},
): LinearLayer {
  const fn = 'linearLayer';
  const options = takeOptions(fn, 'options', given, ['bias', 'layout']);
  const weights = checkWeights(fn, givenW, options);
  const call = new Call(instance, fn);
  const fields = { weights: weightFields(call, weights) };
  instance.withRoom(fn, (room) => call.run('createLinear', fields, room));
  return new Layer(instance, weights.widths, call.made());
}

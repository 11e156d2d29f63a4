// Gated recurrent units and their gradients.

import { QkvError } from '../api/errors.js';
import type {
  GruBackwardOptions,
  GruGradients,
  GruOptions,
  GruWeights,
} from '../api/train-types.js';
import type { ArrayInput, OwnedArray } from '../api/types.js';
import { checkArray, checkShaped, checkVector, type Input } from '../arguments/arrays.js';
import { shapeText } from '../arguments/shapes.js';
import { describe, takeOptions } from '../arguments/values.js';
import { take } from '../language/rows.js';
import type { Group } from '../memory/abi.js';
import { Call } from '../memory/call.js';
import type { Instance } from '../memory/instance.js';

type GruInputs = { readonly [Name in keyof GruWeights]: Input };

interface Checked {
  readonly x: Input;
  readonly weights: GruInputs;
  readonly h0: Input | undefined;
  /** [B, hidden] */
  readonly state: readonly [number, number];
  /** [B, T, hidden] */
  readonly states: readonly [number, number, number];
}

function checkBias(fn: string, name: string, given: Float32Array, length: number): Input {
  const bias = checkVector(fn, name, given, length);
  if (bias) return bias;
  throw new QkvError(
    'invalid_argument',
    `${fn}: ${name} is ${describe(given)}, expected a Float32Array of ${length}`,
  );
}

/** x, the weights and h0, which have the sizes in common that follow from x and wh. */
function check(
  fn: string,
  givenX: ArrayInput,
  givenWeights: GruWeights,
  givenH0: ArrayInput | undefined,
): Checked {
  const given = takeOptions(fn, 'weights', givenWeights, ['wx', 'wh', 'bx', 'bh']);
  const x = checkArray(fn, 'x', givenX);
  const [batch = 0, tokens = 0, width = 0] = x.shape;
  if (x.shape.length !== 3 || width < 1) {
    throw new QkvError(
      'shape_mismatch',
      `${fn}: x is ${shapeText(x.shape)}, expected [B,T,dIn] with dIn of at least 1`,
    );
  }
  const wh = checkArray(fn, 'weights.wh', given.wh);
  const [hidden = 0] = wh.shape;
  const gates = 3 * hidden;
  if (wh.shape.length !== 2 || hidden < 1 || wh.shape[1] !== gates) {
    throw new QkvError(
      'shape_mismatch',
      `${fn}: weights.wh is ${shapeText(wh.shape)}, expected [h,3*h] with h of at least 1`,
    );
  }
  const weights = {
    wx: checkShaped(fn, 'weights.wx', given.wx, [width, gates]),
    wh,
    bx: checkBias(fn, 'weights.bx', given.bx, gates),
    bh: checkBias(fn, 'weights.bh', given.bh, gates),
  };
  const state = [batch, hidden] as const;
  const h0 = givenH0 === undefined ? undefined : checkShaped(fn, 'h0', givenH0, state);
  return { x, weights, h0, state, states: [batch, tokens, hidden] };
}

const weightFields = (call: Call, { wx, wh, bx, bh }: GruInputs): Group<'gruWeights'> => ({
  ...{ wx: call.input(wx), wh: call.input(wh), bx: call.input(bx), bh: call.input(bh) },
});

export function gru(
  instance: Instance,
  givenX: ArrayInput,
  givenWeights: GruWeights,
  given: GruOptions = {},
): OwnedArray {
  const fn = 'gru';
  const options = takeOptions(fn, 'options', given, ['h0']);
  const { x, weights, h0, states } = check(fn, givenX, givenWeights, options.h0);
  const call = new Call(instance, fn);
  const fields = { x: call.input(x), weights: weightFields(call, weights), h0: call.input(h0) };
  return call.result(fn, states, fields);
}

export function gruBackward(
  instance: Instance,
  givenDOutput: ArrayInput,
  givenX: ArrayInput,
  givenWeights: GruWeights,
  given: GruBackwardOptions = {},
): GruGradients {
  const fn = 'gruBackward';
  const options = takeOptions(fn, 'options', given, ['h0', 'output']);
  const { x, weights, h0, state, states } = check(fn, givenX, givenWeights, options.h0);
  const dOutput = checkShaped(fn, 'dOutput', givenDOutput, states);
  const output =
    options.output === undefined ? undefined : checkShaped(fn, 'output', options.output, states);
  const call = new Call(instance, fn);
  const slots = {
    dx: call.output('dx', x.shape),
    dh0: call.output('dh0', state),
    dwx: call.output('dwx', weights.wx.shape),
    dwh: call.output('dwh', weights.wh.shape),
    dbx: call.output('dbx', weights.bx.shape),
    dbh: call.output('dbh', weights.bh.shape),
  };
  call.run(fn, {
    ...{ dOut: call.input(dOutput), x: call.input(x), weights: weightFields(call, weights) },
    ...{ h0: call.input(h0), out: call.input(output), ...slots },
  });
  const dWeights = {
    ...{ wx: take(call, slots.dwx), wh: take(call, slots.dwh) },
    ...{ bx: call.read(slots.dbx), bh: call.read(slots.dbh) },
  };
  return { dx: take(call, slots.dx), dh0: take(call, slots.dh0), dWeights };
}

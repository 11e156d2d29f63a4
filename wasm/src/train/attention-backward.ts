import { QkvError } from '../api/errors.js';
import type { AttentionGradients, AttentionNeeds, SavedAttention } from '../api/train-types.js';
import type { ArrayInput, AttentionOptions } from '../api/types.js';
import { checkShaped, type Input } from '../arguments/arrays.js';
import { optionNames } from '../arguments/attention-options.js';
import { coreShape } from '../arguments/heads.js';
import { checkBoolean } from '../arguments/numbers.js';
import { describe, takeOptions } from '../arguments/values.js';
import { take } from '../language/rows.js';
import { Call, type Slot } from '../memory/call.js';
import type { Instance } from '../memory/instance.js';
import { checkCall, optionFields } from '../operators/attention.js';

type Options = AttentionOptions & { needs?: AttentionNeeds | undefined };

/** What the forward call may return; it may be given as it is. */
type WholeResult = SavedAttention & Partial<Record<'weights' | 'logits' | 'entropy', unknown>>;
const savedNames = ['output', 'lse', 'weights', 'logits', 'entropy'] as const;

/** The gradients that are wanted besides dq, dk and dv. Each needs the array that it is the gradient of. */
function takeNeeds(fn: string, given: AttentionNeeds, options: AttentionOptions): AttentionNeeds {
  const needs = takeOptions(fn, 'needs', given, ['bias', 'sinks']);
  checkBoolean(fn, 'needs.bias', needs.bias);
  checkBoolean(fn, 'needs.sinks', needs.sinks);
  for (const name of ['bias', 'sinks'] as const) {
    const isArray = options[name] !== undefined && !('kind' in Object(options[name]));
    if (needs[name] && !isArray) {
      throw new QkvError(
        'invalid_argument',
        `${fn}: needs.${name} is true and ${name} is ${describe(options[name])}, expected the ${name} array of ` +
          'the forward call',
      );
    }
  }
  return needs;
}

export function attentionBackward(
  instance: Instance,
  givenDOutput: ArrayInput,
  givenQ: ArrayInput,
  givenK: ArrayInput,
  givenV: ArrayInput,
  givenSaved: SavedAttention,
  givenOptions: Options = {},
): AttentionGradients {
  const fn = 'attentionBackward';
  const { needs: givenNeeds = {}, ...options } = takeOptions(fn, 'options', givenOptions, [
    ...optionNames,
    'needs',
  ]);
  if (options.cache !== undefined) {
    throw new QkvError(
      'invalid_argument',
      `${fn}: cache is ${describe(options.cache)}, expected none: k and v have gradients, tokens of a cache ` +
        'have not',
    );
  }
  const saved = takeOptions<WholeResult, (typeof savedNames)[number]>(
    fn,
    'saved',
    givenSaved,
    savedNames,
  );
  const of = checkCall(instance, fn, [givenQ, givenK, givenV], options);
  const needs = takeNeeds(fn, givenNeeds, options);
  const [q, k, v] = of.inputs;
  const [qs, ks, vs, outs] = of.forms;
  const dOutput = checkShaped(fn, 'dOutput', givenDOutput, of.shape);
  const output = checkShaped(fn, 'saved.output', saved.output, of.shape);
  const lse = checkShaped(fn, 'saved.lse', saved.lse, [qs.batch, qs.heads, qs.tokens]);

  const call = new Call(instance, fn);
  const gradient = (name: string, input: Input | undefined): Slot | undefined =>
    input && call.output(name, input.shape);
  const slots = {
    dq: call.output('dq', coreShape(qs)),
    dk: call.output('dk', coreShape(ks)),
    dv: call.output('dv', coreShape(vs)),
    dBias: needs.bias ? gradient('dBias', of.checked.arrays.bias) : undefined,
    dSinks: needs.sinks ? gradient('dSinks', of.checked.arrays.sinks) : undefined,
  };
  call.run('attentionBackward', {
    dOut: call.input(dOutput, coreShape(outs)),
    q: call.input(q, coreShape(qs)),
    k: call.input(k, coreShape(ks)),
    v: call.input(v, coreShape(vs)),
    out: call.input(output, coreShape(outs)),
    lse: call.input(lse),
    numHeads: qs.heads,
    numKvHeads: ks.heads,
    options: optionFields(call, of.checked),
    ...slots,
  });
  return {
    dq: take(call, slots.dq, q.shape),
    dk: take(call, slots.dk, k.shape),
    dv: take(call, slots.dv, v.shape),
    ...(slots.dBias && { dBias: take(call, slots.dBias) }),
    ...(slots.dSinks && { dSinks: call.read(slots.dSinks) }),
  };
}

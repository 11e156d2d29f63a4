// One pass over one row of tokens, for what is computed of it.

import { QkvError } from '../../api/errors.js';
import { hasPlainHead } from '../../language/config.js';
import { Call } from '../../memory/call.js';
import type { ModelSpec } from '../model-spec.js';
import type { ModelState } from '../model-state.js';
import { addressOf, makeRoom, readInto, type SessionState, sessionStateOf } from '../session.js';
import type { PassSize } from '../../language/sites.js';
import { tokensOf } from '../text.js';

/** Refuses a model without logits of the tokens that may follow; with `mayTransform` the stream may be transformed first. */
export function checkHead(fn: string, { config }: ModelSpec, mayTransform = false): void {
  const { classes, headPooling } = config;
  const isOfTokens = classes === 0 && headPooling === 'none';
  if (hasPlainHead(config) || (mayTransform && config.head && isOfTokens)) return;
  if (config.head) {
    const what = isOfTokens ? 'transforms the stream' : 'is of classes';
    throw new QkvError(
      'unsupported',
      `${fn}: the head of the model ${what}, expected one that maps the stream to the vocabulary`,
    );
  }
  throw new QkvError('unsupported', `${fn}: the model has no head, expected one with logits`);
}

/** Refuses a model whose logits are not those of tokens. */
export function checkTokenLogits(fn: string, { config }: ModelSpec): void {
  const { classes, headPooling } = config;
  if (classes === 0 && headPooling === 'none') return;
  throw new QkvError(
    'unsupported',
    `${fn}: the head of the model is of classes, expected one of tokens: score() has its logits`,
  );
}

/** A pass to come. */
export interface OnePass {
  readonly call: Call;
  readonly size: PassSize;
  /** Fields of the operator. */
  readonly fields: () => {
    readonly model: ReturnType<ModelState['live']>;
    readonly ids: ReturnType<Call['input']>;
    readonly session: ReturnType<typeof addressOf> | undefined;
  };
  /** Runs it: its tokens go into the session. */
  run(operator: () => void): void;
}

/** A pass over a text or tokens, in a session if there is one. */
export function onePass(fn: string, state: ModelState, ids: unknown, session: unknown): OnePass {
  const of: SessionState | undefined =
    session === undefined ? undefined : sessionStateOf(fn, state, session);
  const goesOn = of !== undefined && of.length > 0;
  const rows = tokensOf(fn, 'ids', ids, state.spec, { goesOn });
  const [, length] = rows.shape;
  makeRoom(fn, of, rows);
  const call = new Call(state.instance, fn);
  return {
    call,
    size: { batch: 1, length, keys: (of?.length ?? 0) + length },
    fields: () => ({
      model: state.live(fn),
      ids: call.input(rows),
      session: of && addressOf(fn, of),
    }),
    run: (operator) => readInto(fn, of, rows.source, operator),
  };
}

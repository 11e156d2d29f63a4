// One pass over one row of tokens, for what is computed of it.

import { QkvError } from '../../api/errors.js';
import { Call } from '../../memory/call.js';
import type { ModelSpec, ModelState } from '../model-state.js';
import { addressOf, readInto, type SessionState, sessionStateOf } from '../session.js';
import type { PassSize } from '../../language/sites.js';
import { tokensOf } from '../text.js';

/** Refuses a model without logits. */
export function checkHead(fn: string, { config }: ModelSpec): void {
  if (config.head) return;
  throw new QkvError('unsupported', `${fn}: the model has no head, expected one with logits`);
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
  const call = new Call(state.instance, fn);
  return {
    call,
    size: { batch: 1, length, keys: (of?.length ?? 0) + length },
    fields: () => ({
      model: state.live(fn),
      ids: call.input(rows),
      session: of && addressOf(fn, of),
    }),
    run: (operator) => readInto(fn, of, length, operator),
  };
}

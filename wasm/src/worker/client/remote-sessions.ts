// What stands here for a session of a model that lives in a worker.

import type { Activations } from '../../api/inspect-types.js';
import type { AsyncSession, CallOptions } from '../../api/worker-types.js';
import { revived } from '../../arguments/activations.js';
import type { SentHandle } from '../protocol/messages.js';
import { type Caller, fix, Remote } from './handles.js';
import type { Counted, Lane } from './lane.js';

export class RemoteSession extends Remote implements AsyncSession, Counted {
  declare readonly capacity: number;
  declare readonly bytes: number;
  declare readonly activations?: Activations;
  #length = 0;

  constructor(caller: Caller, lane: Lane, sent: SentHandle) {
    super(caller, lane, sent.id);
    const { activations, ...about } = sent.about ?? {};
    const read = activations as Activations | undefined;
    fix(this, { ...sent, about: read ? { ...about, ...revived({ activations: read }) } : about });
    this.#length = sent.length ?? 0;
  }

  override get kind(): string {
    return 'session';
  }

  get length(): number {
    return this.#length;
  }

  get [Symbol.toStringTag](): string {
    return 'AsyncSession';
  }

  setLength(length: number): void {
    this.#length = length;
  }

  truncate(length: number, options?: CallOptions): Promise<void> {
    return this.call('Session.truncate', 'truncate', ['length', 'call'], [length, options]);
  }

  remove(begin: number, end: number, options?: CallOptions): Promise<void> {
    const names = ['begin', 'end', 'call'];
    return this.call('Session.remove', 'remove', names, [begin, end, options]);
  }

  fork(options?: CallOptions): Promise<AsyncSession> {
    const method = { fn: 'Session.fork', method: 'fork', names: ['call'] };
    return this.make(method, [options], (...of) => new RemoteSession(...of));
  }

  save(options?: CallOptions): Promise<ReturnType<Uint8Array['slice']>> {
    return this.call('Session.save', 'save', ['call'], [options]);
  }
}

// One way to talk to what the web and Node each have their own of: workers, ports, and the scope of a worker.

import { nodeModule } from './node.js';
import type { WorkerPort } from '../api/worker-types.js';

interface WebSide {
  addEventListener(type: string, listener: (event: { data?: unknown }) => void): void;
  removeEventListener(type: string, listener: (event: { data?: unknown }) => void): void;
}
interface NodeSide {
  on(type: string, listener: (value: unknown) => void): void;
  off(type: string, listener: (value: unknown) => void): void;
}
type Side = WorkerPort &
  Partial<WebSide & NodeSide> & {
    start?(): void;
    ref?(): void;
    unref?(): void;
    terminate?(): unknown;
  };

/** Whether it is the global object of a worker of the web. */
const isWorkerScope = (value: unknown): boolean => {
  const { WorkerGlobalScope: Scope } = globalThis as { WorkerGlobalScope?: unknown };
  return typeof Scope === 'function' && value instanceof Scope;
};

/** Whether it is a window: any page that has a reference to one may send it messages. */
const isWindow = (value: unknown): boolean =>
  !isWorkerScope(value) && (value as Partial<Window> | null | undefined)?.window === value;

/** Whether it is a worker or a port to one, or the scope of a worker. */
export const isPort = (value: unknown): value is WorkerPort => {
  if (value === undefined || isWindow(value)) return false;
  const side = value as Partial<Side> | null | undefined;
  const listens = side?.addEventListener ?? side?.on;
  return typeof side?.postMessage === 'function' && typeof listens === 'function';
};

/** Whether it is one of Node's, where an unheard 'error' is thrown and ports keep the process alive. */
export const isNodeSide = (port: WorkerPort): boolean => 'on' in port && 'off' in port;

/** Whether it is a worker itself, and not a port to one. */
export const isWorker = (port: WorkerPort): boolean => 'terminate' in port;

/** Listens until the returned function is called. What comes is the message itself, or the event. */
export function listen(
  port: WorkerPort,
  type: 'message' | 'messageerror' | 'error' | 'exit' | 'close',
  listener: (value: unknown) => void,
): () => void {
  const side = port as Side;
  if (side.on && side.off) {
    side.on(type, listener);
    return () => side.off?.(type, listener);
  }
  const wrapped = (event: { data?: unknown }): void =>
    listener(type === 'message' ? event.data : event);
  side.addEventListener?.(type, wrapped);
  if (type === 'message') side.start?.();
  return () => side.removeEventListener?.(type, wrapped);
}

export function post(
  port: WorkerPort,
  message: unknown,
  transfer: readonly ArrayBuffer[] = [],
): void {
  (port as { postMessage(message: unknown, transfer: readonly ArrayBuffer[]): void }).postMessage(
    message,
    transfer,
  );
}

/** Whether the process must live on for it. Only Node asks. */
export function keepAlive(port: WorkerPort, wanted: boolean): void {
  const side = port as Side;
  if (wanted) side.ref?.();
  else side.unref?.();
}

export function terminate(port: WorkerPort): void {
  void (port as Side).terminate?.();
}

interface NodeThreads {
  readonly Worker: new (url: URL, options: { execArgv: string[] }) => WorkerPort;
  readonly parentPort: WorkerPort | null;
}

export const nodeThreads = (): NodeThreads | undefined =>
  nodeModule('node:worker_threads') as NodeThreads | undefined;

/** The port of the worker that this runs in to the one that started it; none on a page, or in a worker of many pages. */
export const ownPort = (): WorkerPort | null | undefined =>
  isWorkerScope(globalThis) && typeof globalThis.postMessage === 'function'
    ? globalThis
    : nodeThreads()?.parentPort;

/** A worker of Node that runs this file. @throws where there is no Node either */
export function nodeWorker(file: string): WorkerPort {
  const threads = nodeThreads();
  if (!threads) throw new TypeError('this environment has no Worker');
  // Without the flags of the program: its --import would run again, and --input-type refuses files.
  return new threads.Worker(new URL(file), { execArgv: [] });
}

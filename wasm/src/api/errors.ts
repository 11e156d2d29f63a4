/**
 * What went wrong, for programs. People read `message`.
 *
 * - `invalid_argument`: an option or value that has no meaning here
 * - `shape_mismatch`: an array whose rank or extents do not fit
 * - `out_of_range`: a number outside the range it may take
 * - `out_of_memory`: memory could not be allocated; nothing was changed
 * - `busy`: a session that a generation is using, tokens that another loop reads, or a trainer in a worker whose run goes on
 * - `disposed`: the engine was disposed before, or the tensor, cache, layer, model, session or trainer
 * - `unsupported`: this build or this machine cannot do it
 * - `thread_lost`: a thread ended during the call; its result is incomplete
 * - `load_failed`: the .wasm could not be loaded, is something else, or is of another version; a worker could not be started, or has
 *   ended; a file of a model could not be read
 */
export type QkvErrorCode =
  | 'invalid_argument'
  | 'shape_mismatch'
  | 'out_of_range'
  | 'out_of_memory'
  | 'busy'
  | 'disposed'
  | 'unsupported'
  | 'thread_lost'
  | 'load_failed';

/** On every QkvError, whichever copy of the class made it. */
const brand = Symbol.for('qkv.QkvError');

/**
 * Every error of the package. `message` names the function, the argument, what it was and what was
 * expected: "attention: k is [2,6,8], expected [2,*,16] to match q".
 */
export class QkvError extends Error {
  // What consoles print before the message, whatever a bundler calls the class.
  static {
    Object.defineProperty(this, 'name', { value: 'QkvError' });
  }
  /** Always `'QkvError'`. */
  override readonly name = 'QkvError';
  /** What went wrong, for programs. */
  readonly code: QkvErrorCode;

  /** `options.cause` is the error behind this one, where there is one. */
  constructor(code: QkvErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    // Not among what consoles show.
    Object.defineProperty(this, brand, { value: true });
  }

  /** Each entry of the package brings this class; an error of any of them is an instance of all. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    if (this !== QkvError) return Function.prototype[Symbol.hasInstance].call(this, value);
    return typeof value === 'object' && value !== null && brand in value;
  }
}

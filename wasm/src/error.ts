/** What went wrong, for programs. People read `message`. */
export type QkvErrorCode =
  | 'invalid_argument'
  | 'shape_mismatch'
  | 'out_of_range'
  | 'out_of_memory'
  | 'disposed'
  | 'unsupported'
  | 'load_failed';

/**
 * Every error of the package. `message` names the function, the argument, what it was and what was
 * expected: "attention: k is [2,6,8], expected [2,*,16] to match q".
 */
export class QkvError extends Error {
  override readonly name = 'QkvError';
  readonly code: QkvErrorCode;

  constructor(code: QkvErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

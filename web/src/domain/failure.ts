/** Why something was not done: a code of the package or of the page, and a sentence. */
export interface Failure {
  readonly code: string;
  readonly message: string;
}

/** What the worker of a panel sends when something went wrong, in the place of an answer. */
export interface LabFailed {
  readonly type: 'failed';
  readonly failure: Failure;
}

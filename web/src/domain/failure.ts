/** Why something was not done: a code of the package or of the page, and a sentence. */
export interface Failure {
  readonly code: string;
  readonly message: string;
}

/** What a worker of a panel says when something went wrong that nobody asked about. */
export interface LabFailed {
  readonly type: 'failed';
  readonly failure: Failure;
}

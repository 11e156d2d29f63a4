/** Why something was not done: a code of the package or of the page, and a sentence. */
export interface Failure {
  readonly code: string;
  readonly message: string;
}

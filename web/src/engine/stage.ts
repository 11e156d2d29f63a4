/** The names of the stages that ran since the log was last emptied. */
export type StageLog = string[];

/**
 * A step of the computation that keeps its last result and runs again only when an input changed.
 * Inputs are compared by identity, so a stage that did not run keeps everything after it clean.
 */
export function stage<Inputs extends readonly unknown[], Result>(
  name: string,
  log: StageLog,
  compute: (...inputs: Inputs) => Result,
): (...inputs: Inputs) => Result {
  let last: { inputs: Inputs; result: Result } | undefined;
  return (...inputs) => {
    if (last?.inputs.every((input, i) => Object.is(input, inputs[i]))) return last.result;
    const result = compute(...inputs);
    last = { inputs, result };
    log.push(name);
    return result;
  };
}

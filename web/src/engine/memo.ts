/** The names of the stages that ran since the log was last emptied. */
export type StageLog = string[];

/**
 * A step of the computation that keeps its last result and runs again only when an input changed.
 * Inputs are compared by identity, so a stage that did not run keeps everything after it clean; those
 * whose index is in `ignored` are not compared, because another input says when they change.
 */
export function stage<Inputs extends readonly unknown[], Result>(
  name: string,
  log: StageLog,
  compute: (...inputs: Inputs) => Result,
  ignored: readonly number[] = [],
): (...inputs: Inputs) => Result {
  let last: { inputs: Inputs; result: Result } | undefined;
  return (...inputs) => {
    const same = (input: unknown, i: number) => ignored.includes(i) || Object.is(input, inputs[i]);
    if (last?.inputs.every(same)) return last.result;
    const result = compute(...inputs);
    last = { inputs, result };
    log.push(name);
    return result;
  };
}

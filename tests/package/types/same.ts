// What the tests of types assert with.

/** True for one and the same type, down to `readonly`, `?` and the types of parameters. */
export type Same<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

export const same = <T extends true>(_word: T extends true ? 'same' : never): void => undefined;

/** Takes an object that has every option of `O` with a value of its type, and no other. */
export const every =
  <O>() =>
  <E extends Required<O>>(options: E & Record<Exclude<keyof E, keyof O>, never>): E =>
    options;

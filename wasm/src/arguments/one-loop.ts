import { QkvError } from '../api/errors.js';

/**
 * The same values for one loop. For a second one those that have come are lost, and those to come would go to either, so it is
 * refused.
 */
export function oneLoop<T>(fn: string, all: AsyncGenerator<T>): AsyncGenerator<T> {
  let isTaken = false;
  const next = all.next.bind(all);
  const rest = Object.assign(Object.create(all) as AsyncGenerator<T>, {
    next,
    return: (value: unknown) => all.return(value),
    throw: (error: unknown) => all.throw(error),
    [Symbol.asyncIterator]: () => rest,
  });
  all[Symbol.asyncIterator] = () => {
    if (isTaken) {
      throw new QkvError(
        'busy',
        `${fn}: another loop reads these tokens, expected one loop for each call of generate`,
      );
    }
    isTaken = true;
    return rest;
  };
  return all;
}

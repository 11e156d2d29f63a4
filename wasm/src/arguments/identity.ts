const identities = new WeakMap<object, number>();
let next = 0;

/** A number for an object that is only equal to itself: the part of a key that stands for it. */
export function identity(value: object): number {
  const known = identities.get(value) ?? ++next;
  identities.set(value, known);
  return known;
}

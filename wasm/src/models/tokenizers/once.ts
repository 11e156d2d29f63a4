// Tables of a vocabulary, which take longer to make than its file to read.

/** What `make` makes once somebody asks for it: a model that is given tokens waits for no tables of texts. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

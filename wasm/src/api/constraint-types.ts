/**
 * An automaton over the bytes of UTF-8. It may be nondeterministic: several edges of a state may have a byte in common. State 0 is its
 * first.
 */
export interface ConstraintRule {
  /** How many states it has. */
  readonly states: number;
  /** Four numbers for each edge: from which state, the first and the last byte that it takes, to which state. */
  readonly edges: Int32Array;
  /** Three numbers for each call: from which state, the rule whose text comes there, to which state. */
  readonly calls: Int32Array;
  /** States in which its text may end. */
  readonly accepting: Int32Array;
}

/**
 * The texts that a generation may have. {@link regularExpression} and {@link jsonSchema} make it. Plain data: it can be sent to a
 * worker, and be kept.
 */
export interface Constraint {
  /** Says what this is, in the first version of this form. */
  readonly type: 'qkv-constraint-1';
  /** The first is that of the whole text; the others are called by it. */
  readonly rules: readonly ConstraintRule[];
}

/** Options of {@link jsonSchema}. */
export interface JsonSchemaOptions {
  /**
   * Where a document has spaces between its parts. `'none'`: nowhere, as `JSON.stringify(value)` writes it. `'single'`, the default: one
   * after each `:` and `,`, as `json.dumps(value)` of Python writes it, which most models have seen most. `'free'`: at each such place
   * nothing, one space, or a line break with at most 64 spaces and tabs after it, as the model chooses.
   */
  whitespace?: 'none' | 'single' | 'free' | undefined;
}

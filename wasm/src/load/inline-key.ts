/** Where engines of `qkv/inline`, which is one file and shares nothing, have what qkv/models asks them. */
export const inlineKey = Symbol.for('qkv.inline');

// Rules for letters as SentencePiece writes them, for files of tests: a trie of words of 32 bits, and replacements, each ended by a zero.

const utf8 = (text) => [...new TextEncoder().encode(text)];

/** The bytes of rules from texts to texts. Each node of the trie has 256 words of its own, so that none is in the way of another. */
export function charMapBytes(rules) {
  const root = { children: new Map() };
  const texts = [];
  for (const [from, to] of Object.entries(rules)) {
    let node = root;
    for (const byte of utf8(from)) {
      if (!node.children.has(byte)) node.children.set(byte, { children: new Map() });
      node = node.children.get(byte);
    }
    node.value = texts.length;
    texts.push(...utf8(to), 0);
  }
  const words = [];
  let used = 256;
  /** A node at a place: the place of its children, which is where its own and this differ, its letter, and whether it has a value. */
  const place = (node, at, label) => {
    const base = used;
    used += 256;
    words[at] = ((at ^ base) << 10) | (node.value === undefined ? 0 : 256) | label;
    if (node.value !== undefined) words[base] = node.value | (1 << 31);
    for (const [byte, child] of node.children) place(child, base ^ byte, byte);
  };
  place(root, 0, 0);
  const trie = Uint32Array.from({ length: used }, (_, i) => words[i] ?? 0);
  const size = Uint32Array.of(trie.byteLength);
  return Buffer.concat([Buffer.from(size.buffer), Buffer.from(trie.buffer), Buffer.from(texts)]);
}

/** The same in base64. */
export const charMap = (rules) => charMapBytes(rules).toString('base64');

// Byte-pair encoding (Sennrich et al. 2016): again and again, the pair of neighbours with the highest priority becomes one, the
// first of several alike. With a heap, in O(n log n).

interface Candidate {
  readonly priority: number;
  readonly at: number;
  readonly left: string;
  readonly right: string;
}

const isBefore = (a: Candidate, b: Candidate): boolean =>
  a.priority > b.priority || (a.priority === b.priority && a.at < b.at);

/** Candidates, the first of which is the one to merge. */
class Heap {
  readonly #items: Candidate[] = [];

  push(item: Candidate): void {
    const items = this.#items;
    let i = items.length;
    while (i > 0) {
      const parent = (i - 1) >> 1;
      const above = items[parent];
      if (!above || !isBefore(item, above)) break;
      items[i] = above;
      i = parent;
    }
    items[i] = item;
  }

  pop(): Candidate | undefined {
    const items = this.#items;
    const [first] = items;
    const item = items.pop();
    if (!item || items.length === 0) return first;
    let i = 0;
    for (;;) {
      let child = 2 * i + 1;
      let below = items[child];
      const other = items[child + 1];
      if (below && other && isBefore(other, below)) [child, below] = [child + 1, other];
      if (!below || !isBefore(below, item)) break;
      items[i] = below;
      i = child;
    }
    items[i] = item;
    return first;
  }
}

/** What is left of `symbols` when nothing can be merged any more; pairs without a priority are not merged. */
export function merge(
  symbols: readonly string[],
  priorityOf: (left: string, right: string) => number | undefined,
): string[] {
  const texts: (string | undefined)[] = [...symbols];
  const after = Int32Array.from(texts, (_, i) => i + 1);
  const before = Int32Array.from(texts, (_, i) => i - 1);
  const heap = new Heap();
  const offer = (at: number): void => {
    const [left, right] = [texts[at], texts[after[at] ?? -1]];
    if (left === undefined || right === undefined) return;
    const priority = priorityOf(left, right);
    if (priority !== undefined) heap.push({ priority, at, left, right });
  };
  texts.forEach((_, i) => offer(i));
  for (let next = heap.pop(); next; next = heap.pop()) {
    const { at, left, right } = next;
    const other = after[at] ?? -1;
    // One of the two may have been merged meanwhile.
    if (texts[at] !== left || texts[other] !== right) continue;
    texts[at] = left + right;
    texts[other] = undefined;
    const following = after[other] ?? texts.length;
    after[at] = following;
    if (following < texts.length) before[following] = at;
    offer(at);
    offer(before[at] ?? -1);
  }
  return texts.filter((text) => text !== undefined);
}

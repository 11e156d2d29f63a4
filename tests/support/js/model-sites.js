// The places of a pass in float64: what is there is kept, and changed as `edit` of qkv/models says, by plain loops.

const exact = Math.fround;

/** A number of what a caller gave, for place [b, h, i, c] of what is chosen, whose extents are `of`. */
function picked(given, [b, h, i, c], [, heads, rows, width]) {
  if (typeof given === 'number') return exact(given);
  const data = given.data ?? given;
  return data.length === width ? data[c] : data[((b * heads + h) * rows + i) * width + c];
}

/** Changes numbers, which lie at `at(b, h, i) + c`. A place without heads has one. */
function change(data, edit, { batch, heads, tokens, width, at }, isOpen = () => true) {
  const all = (range, extent) => range ?? [0, extent];
  const ranges = [
    all(edit.batch, batch),
    edit.head === undefined ? [0, heads] : [edit.head, edit.head + 1],
    all(edit.rows, tokens),
    all(edit.keys ?? edit.columns, width),
  ];
  const extents = ranges.map(([begin, end]) => end - begin);
  const count = extents.reduce((n, e) => n * e, 1);
  for (let n = 0; n < count; ++n) {
    let rest = n;
    const place = [...extents].reverse().map((extent) => {
      const own = rest % extent;
      rest = Math.floor(rest / extent);
      return own;
    });
    place.reverse();
    const [b, h, i, c] = place.map((own, axis) => own + ranges[axis][0]);
    if (!isOpen(c)) continue;
    const to = at(b, h, i) + c;
    if (edit.scale !== undefined) data[to] *= exact(edit.scale);
    if (edit.value !== undefined) data[to] = picked(edit.value, place, extents);
    if (edit.add !== undefined) data[to] += picked(edit.add, place, extents);
  }
}

/** What a pass of the oracle has at its places; `edits` change them where they come into being. */
export class Sites {
  constructor(edits = []) {
    this.edits = edits;
    /** By place: [batch, heads, tokens, width] or [batch, tokens, width]. */
    this.arrays = new Map();
  }

  of(site, layer) {
    return this.edits.filter((edit) => edit.site === site && (edit.layer ?? 0) === layer);
  }

  /** Rows of the stream's width, or of neurons: [batch, tokens, width], changed in a copy. */
  rows(site, layer, given, { batch, tokens }) {
    const data = Float64Array.from(given);
    const width = data.length / batch / tokens;
    const at = (b, _, i) => (b * tokens + i) * width;
    for (const edit of this.of(site, layer)) {
      change(data, edit, { batch, heads: 1, tokens, width, at });
    }
    this.arrays.set(`${site} ${layer}`, data);
    return data;
  }

  /** Heads that lie anyhow, changed in place. */
  heads(site, layer, { data, batch, heads, tokens, width, at }) {
    for (const edit of this.of(site, layer)) {
      change(data, edit, { batch, heads, tokens, width, at });
    }
    const own = Float64Array.from({ length: batch * heads * tokens * width }, (_, n) => {
      const row = Math.floor(n / width);
      const head = Math.floor(row / tokens);
      return data[at(Math.floor(head / heads), head % heads, row % tokens) + (n % width)];
    });
    this.arrays.set(`${site} ${layer}`, own);
  }

  /** One row of scores or weights, changed in place where the mask lets a key through. */
  row(site, layer, [b, h, i], { batch, heads, tokens }, row, isOpen) {
    for (const edit of this.of(site, layer)) {
      const [head = h, batches = [0, batch], rows = [0, tokens]] = [
        edit.head,
        edit.batch,
        edit.rows,
      ];
      if (head !== h || b < batches[0] || b >= batches[1] || i < rows[0] || i >= rows[1]) continue;
      // Of the others' numbers those that are of this row.
      const width = row.length;
      const all = { batch, heads, tokens, width };
      const whole = new Float64Array(batch * heads * tokens * width);
      const at = (b2, h2, i2) => ((b2 * heads + h2) * tokens + i2) * width;
      whole.set(row, at(b, h, i));
      change(whole, edit, { ...all, at }, isOpen);
      row.set(whole.subarray(at(b, h, i), at(b, h, i) + width));
    }
    const name = `${site} ${layer}`;
    const kept = this.arrays.get(name) ?? new Float64Array(batch * heads * tokens * row.length);
    kept.set(row, ((b * heads + h) * tokens + i) * row.length);
    this.arrays.set(name, kept);
  }
}

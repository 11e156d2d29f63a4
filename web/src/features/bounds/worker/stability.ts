import type { Qkv } from 'qkv';
import { hashText, normals } from '../../../engine/random';
import { ROWS, type Norms } from '../shared/stability';

/** How far the output of attention moved when one row was replaced; one number for each of ROWS. */
export interface Stability {
  readonly norms: Norms;
  /** The largest of many random rows and replacements. */
  readonly random: readonly number[];
  /** Of the rows that are made for it: all but one repel the query, and that one is turned from drawing it to repelling it. */
  readonly built: readonly number[];
}

/** The width of inputs and heads; random contexts, and replacements in each. */
const [WIDTH, CONTEXTS, REPLACED] = [8, 12, 8];

type Vector = Float64Array;
const dot = (a: Vector, b: Vector) => a.reduce((sum, value, i) => sum + value * b[i]!, 0);
const times = (a: Vector, factor: number) => a.map((value) => value * factor);

/** Draws vectors of length 1 in any direction. */
function directions(text: string, seed: number): () => Vector {
  const fill = normals(hashText(text, seed));
  return () => {
    const draw = new Float32Array(WIDTH);
    fill(draw);
    const vector = Float64Array.from(draw);
    return times(vector, 1 / Math.sqrt(dot(vector, vector)));
  };
}

/** Rows that are orthogonal and of length `norm`, so that all singular values are `norm` (Gram and Schmidt). */
export function rotation(text: string, seed: number, norm: number): Vector[] {
  const draw = directions(text, seed);
  const rows: Vector[] = [];
  while (rows.length < WIDTH) {
    let next = draw();
    for (const row of rows) {
      const along = dot(next, row);
      next = next.map((value, i) => value - along * row[i]!);
    }
    rows.push(times(next, 1 / Math.sqrt(dot(next, next))));
  }
  return rows.map((row) => times(row, norm));
}

const apply = (matrix: readonly Vector[], x: Vector): Vector =>
  Float64Array.from(matrix, (row) => dot(row, x));
const applyTransposed = (matrix: readonly Vector[], x: Vector): Vector =>
  Float64Array.from(x, (_, i) => matrix.reduce((sum, row, j) => sum + row[i]! * x[j]!, 0));

interface Layer {
  readonly query: readonly Vector[];
  readonly key: readonly Vector[];
  readonly value: readonly Vector[];
  readonly output: readonly Vector[];
}

/** The outputs for a query over several contexts of as many rows, by the core. */
function outputsOf(
  qkv: Qkv,
  layer: Layer,
  factor: number,
  x: Vector,
  contexts: readonly Vector[][],
) {
  const rows = contexts[0]?.length ?? 0;
  const q = contexts.flatMap(() => Array.from(apply(layer.query, x)));
  const all = (matrix: readonly Vector[]) => {
    const data = new Float32Array(contexts.length * rows * WIDTH);
    contexts.forEach((context, c) =>
      context.forEach((row, r) => data.set(apply(matrix, row), (c * rows + r) * WIDTH)),
    );
    return { data, shape: [contexts.length, 1, rows, WIDTH] };
  };
  const { output } = qkv.attention(
    { data: Float32Array.from(q), shape: [contexts.length, 1, 1, WIDTH] },
    all(layer.key),
    all(layer.value),
    { scale: factor },
  );
  return contexts.map((_, c) =>
    apply(layer.output, Float64Array.from(output.data.subarray(c * WIDTH, (c + 1) * WIDTH))),
  );
}

/** How far each of the others is from the first. */
function movesOf([first, ...others]: readonly Vector[]): number[] {
  return others.map((other) => {
    const difference = other.map((value, i) => value - (first?.[i] ?? 0));
    return Math.sqrt(dot(difference, difference));
  });
}

const replaced = (context: readonly Vector[], at: number, row: Vector) =>
  context.map((old, i) => (i === at ? row : old));

function randomMoves(qkv: Qkv, layer: Layer, norms: Norms, rows: number): number {
  const draw = directions(`context ${rows}`, 1);
  const next = () => times(draw(), norms.radius);
  let most = 0;
  for (let i = 0; i < CONTEXTS; i++) {
    const context = Array.from({ length: rows }, next);
    // Which row is replaced does not matter, as all are drawn alike.
    const others = Array.from({ length: REPLACED }, () => replaced(context, i % rows, next()));
    const outputs = outputsOf(qkv, layer, norms.factor, next(), [context, ...others]);
    most = Math.max(most, ...movesOf(outputs));
  }
  return most;
}

function builtMove(
  qkv: Qkv,
  layer: Layer,
  { radius, query, key, factor }: Norms,
  rows: number,
): number {
  const x = times(directions('query', 1)(), radius);
  // The input whose key points along the query.
  const towards = times(applyTransposed(layer.key, apply(layer.query, x)), 1 / (query * key));
  const away = times(towards, -1);
  const before = Array.from({ length: rows }, (_, i) => (i === 0 ? towards : away));
  const after = replaced(before, 0, away);
  const [most = 0] = movesOf(outputsOf(qkv, layer, factor, x, [before, after]));
  return most;
}

export function stability(qkv: Qkv, norms: Norms): Stability {
  const layer: Layer = {
    query: rotation('W_Q', 1, norms.query),
    key: rotation('W_K', 1, norms.key),
    value: rotation('W_V', 1, norms.value),
    output: rotation('W_O', 1, norms.output),
  };
  return {
    norms,
    random: ROWS.map((rows) => randomMoves(qkv, layer, norms, rows)),
    built: ROWS.map((rows) => builtMove(qkv, layer, norms, rows)),
  };
}

import type { Contexts, ContextsAsk } from '../shared/protocol';
import type { Opened } from './open_model';
import { idsOf } from './token_ids';

/** A token of a text as the model has it: its row of the table, and the stream after each layer. */
interface Place {
  readonly label: string;
  readonly rows: readonly Float32Array[];
}

/** The last token of a word in a text; null where there is none. */
function placeOf(of: Opened, text: string, word: string): Place | null {
  const { model, info, embedding, label } = of;
  const begin = word === '' ? -1 : text.indexOf(word);
  if (begin < 0) return null;
  const until = idsOf(of, { text: text.slice(0, begin + word.length), length: null });
  // A causal model reads nothing behind the word, so what follows makes no difference.
  const { ids } = info.causal ? until : idsOf(of, { text, length: null });
  const at = until.ids.length - 1;
  const id = ids[at];
  if (id === undefined || until.unknown.length > 0 || until.total > until.ids.length) return null;
  const width = info.dModel;
  const { layers } = model.forward(ids, { inspect: { residuals: true } });
  const rows = Array.from(layers.values(), ({ residual }) =>
    residual.data.slice(at * width, (at + 1) * width),
  );
  const row = embedding?.slice(id * width, (id + 1) * width);
  return { label: label(id), rows: row ? [row, ...rows] : rows };
}

function cosine(a: Float32Array, b: Float32Array): number {
  const dot = (x: Float32Array, y: Float32Array) =>
    x.reduce((sum, value, i) => sum + value * (y[i] ?? 0), 0);
  return dot(a, b) / (Math.sqrt(dot(a, a) * dot(b, b)) || 1);
}

/** A word in two contexts: the row of the table is the same, and what the layers make of it is not. */
export function* contextsOf(of: Opened, ask: ContextsAsk): Generator<undefined, Contexts> {
  const places: (Place | null)[] = [];
  for (const text of ask.texts) {
    places.push(placeOf(of, text, ask.word));
    yield;
  }
  const [first, second] = places;
  return {
    ask,
    labels: [first?.label ?? null, second?.label ?? null],
    cosines: first && second ? first.rows.map((row, i) => cosine(row, second.rows[i] ?? row)) : [],
  };
}

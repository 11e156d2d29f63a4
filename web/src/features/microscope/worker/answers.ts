import type { Qkv } from 'qkv';
import type { Edit } from 'qkv/models';
import type { Opened } from '../../model/worker/open_model';
import { idsOf } from '../../model/worker/token_ids';
import {
  MOST_PROMPT,
  type Choice,
  type CutResult,
  type MicroscopeAsk,
  type Problem,
  type Prompt,
  type Prompts,
  type Shares,
} from '../shared/protocol';

/** Tokens of each prompt that may be chosen, and that are shown of a cut. */
const LIKELIEST = 8;

function promptOf(of: Opened, text: string): Prompt & { readonly isLong: boolean } {
  const { ids, unknown, total } = idsOf(of, { text, length: null });
  const isLong = total > Math.min(MOST_PROMPT, of.info.maxLength);
  // The token that begins every text is no prompt.
  const isEmpty = of.encode(text).ids.length === 0;
  const read = isEmpty ? [] : ids.slice(0, MOST_PROMPT);
  return { ids: read, labels: read.map(of.label), unknown, isLong };
}

/** The first thing that keeps two prompts from being compared. */
function problemOf(
  clean: ReturnType<typeof promptOf>,
  corrupt: ReturnType<typeof promptOf>,
): Problem | null {
  if (clean.ids.length === 0 || corrupt.ids.length === 0) return 'empty';
  if (clean.isLong || corrupt.isLong) return 'long';
  if (clean.ids.length !== corrupt.ids.length) return 'lengths';
  return clean.ids.join() === corrupt.ids.join() ? 'same' : null;
}

/** The logits after the last token. */
const logitsAfter = ({ model }: Opened, ids: readonly number[], edit: readonly Edit[] = []) =>
  model.forward(ids, { rows: 'last', edit }).logits.data;

export const softmax = (qkv: Qkv, logits: Float32Array) =>
  qkv.softmax({ data: logits, shape: [logits.length] }).data;

/** The likeliest tokens of these probabilities. */
export const choicesOf = ({ label }: Opened, p: Float32Array, most: number): Choice[] =>
  likeliest(p)
    .slice(0, most)
    .map((id) => ({ id, label: label(id), probability: p[id]! }));

/** The largest numbers of `p` by their places, of equal ones the first. */
function likeliest(p: Float32Array): number[] {
  const order = Array.from(p.keys()).sort((a, b) => p[b]! - p[a]! || a - b);
  return order.slice(0, LIKELIEST);
}

/** The tokens of both prompts, what may follow, and the measure of each. */
export function promptsOf(qkv: Qkv, of: Opened, ask: MicroscopeAsk): Prompts {
  const [clean, corrupt] = [promptOf(of, ask.clean), promptOf(of, ask.corrupt)];
  const problem = problemOf(clean, corrupt);
  const nothing = { choices: [], answer: null, instead: null, measures: [NaN, NaN] } as const;
  if (problem === 'empty' || problem === 'long') return { clean, corrupt, problem, ...nothing };
  const logits = [logitsAfter(of, clean.ids), logitsAfter(of, corrupt.ids)] as const;
  const p = softmax(qkv, logits[0]);
  const [first, second] = [likeliest(p), likeliest(softmax(qkv, logits[1]))];
  const choiceOf = (id: number): Choice => ({ id, label: of.label(id), probability: p[id]! });
  const known = (id: number | null) => (id !== null && id < p.length ? id : undefined);
  const answer = known(ask.answer) ?? first[0]!;
  const others = [ask.instead, second[0]!, first[0]!, first[1] ?? null].map(known);
  const instead = others.find((id) => id !== undefined && id !== answer) ?? answer;
  const choices = [...new Set([...first, ...second, answer, instead])].map(choiceOf);
  const measureOf = (row: Float32Array) => row[answer]! - row[instead]!;
  return {
    ...{ clean, corrupt, problem, choices },
    ...{ answer: choiceOf(answer), instead: choiceOf(instead) },
    measures: [measureOf(logits[0]), measureOf(logits[1])],
  };
}

/** The cuts that the model and the prompt have room for: a link may have those of others. */
export function cutsOf({ info }: Opened, ask: MicroscopeAsk, count: number) {
  const isHead = ([layer, head]: readonly number[]) =>
    layer! < info.numLayers && head! < info.numHeads;
  const isEdge = ([layer, head, query, key]: MicroscopeAsk['edges'][number]) =>
    isHead([layer, head]) && query < count && key < count && (!info.causal || key <= query);
  return { heads: ask.heads.filter(isHead), edges: ask.edges.filter(isEdge) };
}

/** A head without what it mixes, an edge without its score. */
export function editsOf({ heads, edges }: Pick<CutResult, 'heads' | 'edges'>): Edit[] {
  return [
    ...heads.map(([layer, head]): Edit => ({ site: 'z', layer, head, value: 0 })),
    ...edges.map(([layer, head, query, key]): Edit => {
      const place = { rows: [query, query + 1], keys: [key, key + 1] } as const;
      return { site: 'scores', layer, head, ...place, value: -Infinity };
    }),
  ];
}

export function sharesOf({ model }: Opened, prompts: Prompts, edit: readonly Edit[]): Shares {
  const { answer, instead, clean } = prompts;
  const { parts, total } = model.attribute(clean.ids, {
    ...{ answer: answer!.id, instead: instead!.id, edit },
  });
  return {
    total,
    parts: parts.map(({ part, layer, head, value }) => {
      return { part, layer: layer ?? null, head: head ?? null, value };
    }),
  };
}

/** What follows the clean prompt, with and without the cuts. */
export function cutResult(
  qkv: Qkv,
  of: Opened,
  prompts: Prompts,
  cuts: Pick<CutResult, 'heads' | 'edges'>,
): CutResult {
  const { ids } = prompts.clean;
  const before = softmax(qkv, logitsAfter(of, ids));
  const edit = editsOf(cuts);
  const after = edit.length > 0 ? softmax(qkv, logitsAfter(of, ids, edit)) : before;
  const shown = new Set([...likeliest(before).slice(0, 5), ...likeliest(after).slice(0, 5)]);
  const rows = Array.from(shown, (id) => ({
    ...{ id, label: of.label(id), before: before[id]!, after: after[id]! },
  }));
  return { ...cuts, rows };
}

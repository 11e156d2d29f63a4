// What a rule says, before it is an automaton.

import type { Automaton } from './automaton.js';
import type { CodePoints } from './code-points.js';

export type Expression =
  /** One letter of a set, written as the rule writes its letters. */
  | { readonly is: 'letter'; readonly set: CodePoints }
  | { readonly is: 'sequence' | 'choice'; readonly parts: readonly Expression[] }
  | {
      readonly is: 'repeat';
      readonly part: Expression;
      readonly least: number;
      readonly most: number;
    }
  /** Ways from state 0 to state 1 of a graph, whose arcs say something. */
  | { readonly is: 'graph'; readonly states: number; readonly arcs: readonly Arc[] }
  /** True where the text begins, or ends, and of no letter. */
  | { readonly is: 'begin' | 'end' }
  /** The text of another rule. */
  | { readonly is: 'call'; readonly rule: number }
  /** What an automaton takes. */
  | { readonly is: 'automaton'; readonly automaton: Automaton };

export type Arc = readonly [from: number, says: Expression, to: number];

/** A graph while it is drawn. */
export class Graph {
  #states = 2;
  readonly #arcs: Arc[] = [];

  state(): number {
    return this.#states++;
  }

  arc(from: number, says: Expression, to: number): void {
    this.#arcs.push([from, says, to]);
  }

  get expression(): Expression {
    return { is: 'graph', states: this.#states, arcs: this.#arcs };
  }
}

export const letter = (set: CodePoints): Expression => ({ is: 'letter', set });
export const sequence = (...parts: readonly Expression[]): Expression => ({
  is: 'sequence',
  parts,
});
/** Of no parts: what no text is. */
export const choice = (parts: readonly Expression[]): Expression => ({ is: 'choice', parts });
export const repeat = (part: Expression, least: number, most: number): Expression => ({
  is: 'repeat',
  ...{ part, least, most },
});
export const optional = (part: Expression): Expression => repeat(part, 0, 1);
export const call = (rule: number): Expression => ({ is: 'call', rule });
/** These letters as they are. */
export const literal = (text: string): Expression =>
  sequence(
    ...Array.from(text, (each) => {
      const codePoint = each.codePointAt(0) ?? 0;
      return letter([[codePoint, codePoint]]);
    }),
  );
export const nothing: Expression = choice([]);
/** No letter. */
export const empty: Expression = sequence();

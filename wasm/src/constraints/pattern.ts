// The syntax of regular expressions, parsed by regjsparser, as what its texts are. Greedy and lazy quantifiers take the same texts.

import { parse, type AstNode } from 'regjsparser';
import { QkvError } from '../api/errors.js';
import {
  type CodePoints,
  complement,
  type Range,
  surrogates,
  union,
  without,
} from './code-points.js';
import { choice, type Expression, letter, repeat, sequence } from './expression.js';
import { LetterSets } from './letter-sets.js';

interface Features {
  readonly lookbehind: true;
  readonly namedGroups: true;
  readonly unicodePropertyEscape: true;
  readonly unicodeSet: true;
}
type Node = AstNode<Features>;
type Of<Type extends Node['type']> = Extract<Node, { type: Type }>;

/** A number in braces, at most. */
const mostCopies = 10_000;
/** Properties of the flag v that are texts of several letters. */
const propertiesOfTexts =
  /^(?:Basic_Emoji|Emoji_Keycap_Sequence|RGI_(?:Emoji|Modifier_Sequence|Flag_Sequence|Emoji_(?:Modifier|Flag|Tag|ZWJ)_Sequence|ZWJ_Sequence))$/;

const behaviours: Readonly<Record<string, string>> = {
  lookahead: 'a lookahead',
  negativeLookahead: 'a lookahead',
  lookbehind: 'a lookbehind',
  negativeLookbehind: 'a lookbehind',
};

/** A pattern that was read. */
export interface Pattern {
  readonly source: string;
  /** With 'u' or 'v'. */
  readonly flags: string;
}

class Reader {
  readonly #name: string;
  readonly #pattern: Pattern;
  readonly #sets: LetterSets;

  constructor(name: string, pattern: Pattern) {
    this.#name = name;
    this.#pattern = pattern;
    this.#sets = new LetterSets(pattern.flags);
  }

  #refuse(what: string, node: Node, expected: string): never {
    throw new QkvError(
      'unsupported',
      `${this.#name} has ${what}, ${JSON.stringify(node.raw.slice(0, 40))}, at position ${node.range[0]}, expected ${expected}`,
    );
  }

  read(node: Node): Expression {
    switch (node.type) {
      case 'disjunction':
        return choice(node.body.map((each) => this.read(each)));
      case 'alternative':
        return sequence(...node.body.map((each) => this.read(each)));
      case 'group':
        return this.#group(node);
      case 'quantifier':
        return this.#quantifier(node);
      case 'anchor':
        return this.#anchor(node);
      case 'reference':
        return this.#refuse('a reference to a group', node, 'the same pattern once more');
      default:
        return letter(this.#set(node));
    }
  }

  #group(node: Of<'group'>): Expression {
    const behaviour = behaviours[node.behavior];
    if (behaviour !== undefined)
      this.#refuse(behaviour, node, 'a pattern that takes what it looks at');
    return sequence(...node.body.map((each) => this.read(each)));
  }

  #quantifier(node: Of<'quantifier'>): Expression {
    const { min, max = Infinity, body } = node;
    const [part] = body;
    const most = max === Infinity ? min : max;
    if (most > mostCopies)
      this.#refuse(`the number ${most}`, node, `at most ${mostCopies} repetitions`);
    return part ? repeat(this.read(part), min, max) : sequence();
  }

  #anchor(node: Of<'anchor'>): Expression {
    if (node.kind !== 'start' && node.kind !== 'end')
      this.#refuse('a boundary of words', node, 'a pattern of the letters beside it');
    if (this.#pattern.flags.includes('m'))
      this.#refuse('the flag m', node, 'no flag, or a pattern without ^ and $');
    return { is: node.kind === 'start' ? 'begin' : 'end' };
  }

  #set(node: Node): CodePoints {
    switch (node.type) {
      case 'value':
        return this.#sets.value(node.codePoint);
      case 'dot':
        return this.#sets.dot;
      case 'characterClassEscape':
        return this.#sets.escape(node.value);
      case 'unicodePropertyEscape':
        if (propertiesOfTexts.test(node.value))
          this.#refuse('a property of texts', node, 'a property of single letters');
        return this.#sets.byRegExp(node.raw);
      case 'characterClass':
        return this.#class(node);
      default:
        return this.#refuse('a part that is not known here', node, 'the syntax of RegExp');
    }
  }

  #class(node: Of<'characterClass'>): CodePoints {
    const ranges: Range[] = [];
    for (const part of this.#sets.ignoresCase || node.kind !== 'union' ? [] : node.body) {
      if (part.type === 'value') ranges.push([part.codePoint, part.codePoint]);
      else if (part.type === 'characterClassRange')
        ranges.push([part.min.codePoint, part.max.codePoint]);
      else if (part.type === 'characterClassEscape') ranges.push(...this.#sets.escape(part.value));
      else return this.#classByRegExp(node);
    }
    if (this.#sets.ignoresCase || node.kind !== 'union') return this.#classByRegExp(node);
    const set = union(ranges);
    return node.negative ? without(complement(set), surrogates) : set;
  }

  /** A class with properties, of other classes, or of both cases. */
  #classByRegExp(node: Of<'characterClass'>): CodePoints {
    const { raw } = node;
    const [, property = ''] = /\\p\{([^}]*)\}/.exec(raw) ?? [];
    if (/\\q\{/.test(raw) || propertiesOfTexts.test(property))
      this.#refuse('texts of several letters in a class', node, 'single letters');
    return this.#sets.byRegExp(raw);
  }
}

/** What a pattern takes. `name` is what messages call it: "regularExpression: pattern". */
export function expressionOf(name: string, pattern: Pattern): Expression {
  const { source, flags } = pattern;
  let tree: Node;
  try {
    // The engine knows the syntax best: what it refuses is refused.
    RegExp(source, flags);
    tree = parse(source, flags, {
      ...{ lookbehind: true, namedGroups: true, unicodePropertyEscape: true, unicodeSet: true },
    });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new QkvError(
      'invalid_argument',
      `${name} is ${JSON.stringify(source.slice(0, 80))}, which is no pattern with the flags ${flags}: ${why.slice(0, 200)}, expected the syntax of RegExp`,
      { cause: error },
    );
  }
  return new Reader(name, pattern).read(tree);
}

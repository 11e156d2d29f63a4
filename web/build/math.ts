import { readFile } from 'node:fs/promises';
import katex from 'katex';
import type { Plugin } from 'vite';

/** Every panel has its own: TeX by names. */
const FORMULAS = /\/formulas\.json$/;

/** The colours that stand for roles in formulas.json, which LaTeX cannot name. */
const ROLES: Readonly<Record<string, string>> = {
  '#000001': 'q',
  '#000002': 'k',
  '#000003': 'v',
  '#000004': 'p',
  '#000005': 'o',
};

/**
 * One formula as MathML. The colours #000001 to #000005 become classes of roles, and `\text{@name@}` a
 * place for the value of that name.
 */
export function typeset(tex: string): string {
  const html = katex.renderToString(tex, { output: 'mathml', throwOnError: true, strict: 'error' });
  const [math] = /<math.*<\/math>/s.exec(html) ?? [];
  if (!math) throw new Error(`no MathML came of ${tex}`);
  return math
    .replace(/<annotation.*?<\/annotation>/s, '')
    // Browsers draw a single letter as its mathematical italic, which for Greek few fonts but those for mathematics have.
    .replace(/<mi>(?=[\u0370-\u03ff]<)/g, '<mi mathvariant="normal">')
    .replace(/ mathcolor="(#\w+)"/g, (_all, colour: string) => {
      return ` class="role-${ROLES[colour] ?? 'unknown'}"`;
    })
    // KaTeX wraps what \underset makes into token elements, inside which browsers lay nothing out.
    .replace(
      /<mi><munder><mo>(.*?)<\/mo>(<mtext>@\w+@<\/mtext>)<\/munder><\/mi>/g,
      '<munder><mrow>$1</mrow>$2</munder>',
    )
    .replace(/<mtext>@(\w+)@<\/mtext>/g, '<mtext data-live="$1">…</mtext>');
}

/** formulas.json becomes MathML: KaTeX works here, so that none of it is sent to the reader. */
export function math(): Plugin {
  return {
    name: 'math',
    enforce: 'pre',
    async load(id) {
      if (!FORMULAS.test(id)) return undefined;
      const formulas = JSON.parse(await readFile(id, 'utf8')) as Record<string, string>;
      const set = Object.entries(formulas).map(([name, tex]) => [name, typeset(tex)]);
      return JSON.stringify(Object.fromEntries(set));
    },
  };
}

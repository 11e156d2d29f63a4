export type Catalogue = Record<string, string>;

const placeholders = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map((m) => m[1]).sort();

/** What a translator has to mend: missing keys, empty texts, and placeholders that differ. */
export function compareCatalogues(en: Catalogue, zh: Catalogue): string[] {
  const problems: string[] = [];
  for (const key of new Set([...Object.keys(en), ...Object.keys(zh)])) {
    const english = en[key];
    const chinese = zh[key];
    if (!english || !chinese) {
      problems.push(`${key}: missing or empty in ${english ? 'zh' : 'en'}.json`);
      continue;
    }
    const [a, b] = [placeholders(english).join(), placeholders(chinese).join()];
    if (a !== b) problems.push(`${key}: placeholders {${a}} in en.json, {${b}} in zh.json`);
  }
  return problems;
}

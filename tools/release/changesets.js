// The changesets of .changeset: what the next version changes, each in a file of its own.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** The changesets of a checkout that no version has yet: { name: text }. */
export function pending(root) {
  const folder = join(root, '.changeset');
  const names = readdirSync(folder).filter((name) => name.endsWith('.md') && name !== 'README.md');
  return Object.fromEntries(
    names.map((name) => {
      const [, , text] = readFileSync(join(folder, name), 'utf8').split(/^---$/m);
      return [name.replace(/\.md$/, ''), text.trim()];
    }),
  );
}

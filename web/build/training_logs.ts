import { readFile } from 'node:fs/promises';
import type { Plugin } from 'vite';
import { columnsOf } from './log_columns';

/** Logs come with less than half of their bytes: the panel of models carries one for each. */
export function trainingLogs(): Plugin {
  return {
    name: 'training-logs',
    enforce: 'pre',
    async load(id) {
      const [file = '', kind] = id.split('?');
      if (kind !== 'raw' || !file.endsWith('.csv')) return undefined;
      return `export default ${JSON.stringify(columnsOf(await readFile(file, 'utf8')))};`;
    },
  };
}

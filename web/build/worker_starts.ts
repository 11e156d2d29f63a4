import { basename } from 'node:path';
import type { Plugin } from 'vite';

const START = '\0start:';

/**
 * WebKit runs the script of a worker once more when a chunk that it fetches later imports it. So that script only imports a chunk with the
 * code, <name>_code-….js, and the later chunks import that one.
 */
export function workerStarts(): Plugin {
  const entries = new Set<string>();
  return {
    name: 'worker-starts',
    enforce: 'pre',
    resolveId(source, _importer, { isEntry }) {
      if (!isEntry || source.startsWith(START)) return undefined;
      entries.add(source);
      return START + source;
    },
    load(id) {
      return id.startsWith(START) ? `import ${JSON.stringify(id.slice(START.length))};` : undefined;
    },
    outputOptions: (options) => ({
      ...options,
      manualChunks: (id) => (entries.has(id) ? `${basename(id, '.ts')}_code` : undefined),
    }),
  };
}

// Serves dist/web on 127.0.0.1 with the headers of a cross-origin isolated page.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { preview } from 'vite';
import { root } from './environment.js';

export const defaultPort = 5280;

/** Starts on `port`, or the next free one. Resolves to { url, close }. */
export async function serve({ port = defaultPort, folder = 'dist/web' } = {}) {
  const outDir = join(root, folder);
  if (!existsSync(join(outDir, 'index.html'))) {
    throw new Error(`${folder}/index.html is missing: run npm run build first`);
  }
  const server = await preview({
    configFile: false,
    root: outDir,
    logLevel: 'error',
    build: { outDir },
    preview: {
      host: '127.0.0.1',
      port,
      strictPort: false,
      headers: {
        'Cross-Origin-Opener-Policy': 'same-origin',
        'Cross-Origin-Embedder-Policy': 'require-corp',
        'Cross-Origin-Resource-Policy': 'same-origin',
      },
    },
  });
  const { port: bound } = server.httpServer.address();
  return { url: `http://127.0.0.1:${bound}/`, close: () => server.close() };
}

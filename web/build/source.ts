import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';

/**
 * A module of web/, loaded as Vite loads it and as it is now; T is `typeof import('…')`. The config and its plugins take nothing
 * but types from web/src by an import of their own: Vite starts the development server anew when a file changes that they
 * import, and a tab that reloads meanwhile finds no server.
 */
export async function source<T>(path: string): Promise<T> {
  const file = fileURLToPath(new URL(`../${path}`, import.meta.url));
  return (await runnerImport<T>(file)).module;
}

/** The panels in the order of the page. */
export async function panelIds(): Promise<readonly string[]> {
  return (await source<typeof import('../src/features/index')>('src/features/index.ts')).PANEL_IDS;
}

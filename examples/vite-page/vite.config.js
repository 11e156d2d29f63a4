import { defineConfig } from 'vite';

// Threads share memory, which browsers allow only on pages with these headers. The server of the built page has to send them, too;
// without them the page works the same with one thread.
const headers = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
};

export default defineConfig({ server: { headers }, preview: { headers } });

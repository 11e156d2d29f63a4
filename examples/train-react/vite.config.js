import { defineConfig } from 'vite';

// Threads share memory, which browsers allow only on pages with these headers. The server of the built page has to send them, too.
// Without them the page works the same, with one thread.
export default defineConfig({
  server: {
    headers: {
      'Cross-Origin-Opener-Policy': 'same-origin',
      'Cross-Origin-Embedder-Policy': 'require-corp',
    },
  },
});

// The few lines a person writes, which the projects of the matrix consist of.

/** Imports the package and reports what it computes. */
export const app = (entry, options) => `import { init } from '${entry}';
import { report } from './example.js';
report(init${options ? `, ${JSON.stringify(options)}` : ''});
`;

export const two = { threads: 2 };

/** A program of the documentation that has an engine by the name of `qkv`, and then reports. */
export const reporting = (program) => `${program}
import { report } from './example.js';
report(() => qkv);
`;

/** Imports it in a worker of the project's own. */
export const appWithWorker = `import { print } from './example.js';
const worker = new Worker(new URL('./worker.js', import.meta.url), { type: 'module' });
worker.onmessage = ({ data }) => print(data);
worker.onerror = ({ message }) => print({ error: message ?? 'the worker cannot be loaded' });
`;
export const worker = (entry) => `import { init } from '${entry}';
import { compute } from './example.js';
compute(init).then(postMessage, ({ message }) => postMessage({ error: message }));
`;

/** A page with a module script. */
export const page = (script, head = '') => `<!doctype html>
<html lang="en">
  <head><meta charset="utf-8" /><title>Consumer</title>${head}</head>
  <body><script type="module" src="${script}"></script></body>
</html>
`;

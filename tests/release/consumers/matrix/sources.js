// The few lines a person writes, which the projects of the matrix consist of.
import { copyFileSync, cpSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../../support/js/files.js';
import { alphabet, talker } from '../../talker.js';
import { newProject } from './workshop.js';

/** With models there is an engine of qkv that has run one. */
const withModel = `import { init as initOfQkv } from 'qkv';
import { create, zeros } from 'qkv/models';
const config = { vocabulary: 3, numLayers: 1, dModel: 2, numHeads: 1, dFeedForward: 0, maxLength: 4 };
const at = 'layers.0.attention.w';
const matrices = [\`\${at}q\`, \`\${at}k\`, \`\${at}v\`, \`\${at}o\`].map((name) => [name, zeros([2, 2])]);
const norms = ['layers.0.norm1.gamma', 'norm.gamma'].map((name) => [name, zeros([2])]);
const weights = Object.fromEntries([['embedding', zeros([3, 2])], ...matrices, ...norms]);
const init = async (options) => {
  const engine = await initOfQkv(options);
  const bare = { ...config, positions: 'none', biases: false, tiedEmbeddings: true };
  const loss = create(engine, bare, weights).loss([0, 1, 2]);
  if (Math.abs(loss - Math.log(3)) > 1e-6) throw new Error(\`a loss of \${loss}\`);
  return engine;
};
`;
/** With a model that is loaded from a path, as programs of Node, Deno and Bun and tests do. */
const withFile = `import { init as initOfQkv } from 'qkv';
import { load } from 'qkv/models';
const init = async (options) => {
  const engine = await initOfQkv(options);
  const { parameterCount } = await load(engine, { weights: './austen.safetensors' });
  if (parameterCount !== 813952) throw new Error(\`a model of \${parameterCount}\`);
  return engine;
};
`;
/** Puts the model into a project: its folder. */
export function withAusten(folder) {
  const name = 'austen.safetensors';
  copyFileSync(join(root, 'models/austen', name), join(folder, name));
  return folder;
}

/** With a model of files that is talked to and goes on with a text, by a template engine that is found by its name. */
const withTalker = `import { init as initOfQkv } from 'qkv';
import { load } from 'qkv/models';
const init = async (options) => {
  const engine = await initOfQkv(options);
  const model = await load(engine, {
    config: './talker/config.json',
    weights: './talker/model.safetensors',
    tokenizer: './talker/tokenizer.json',
    tokenizerConfig: './talker/tokenizer_config.json',
    generation: './talker/generation_config.json',
  });
  const answer = model.chat([{ role: 'user', content: 'Hello' }], { temperature: 0.7 });
  const said = \`\${await answer.text()}, \${answer.finishReason}\`;
  if (said !== '${alphabet}, stop') throw new Error(\`the answer \${said}\`);
  let more = '';
  for await (const { text } of model.generate('xyz 01', { maxTokens: 5 })) more += text;
  if (more !== '23456') throw new Error(\`the text goes on with \${more}\`);
  return engine;
};
`;
/** A project whose program talks to a model: its files, and the engine of templates beside the package. */
export function talkingProject() {
  const files = Object.entries(talker()).map(([name, content]) => [
    `talker/${name}`,
    content instanceof Uint8Array ? content : JSON.stringify(content),
  ]);
  const program = `${withTalker}import { report } from './example.js';\nreport(init);\n`;
  const folder = newProject({ 'app.js': program, ...Object.fromEntries(files) });
  const jinja = 'node_modules/@huggingface/jinja';
  cpSync(join(root, jinja), join(folder, jinja), { recursive: true });
  return folder;
}

/** With spectra, which have a module of their own, there is an engine of qkv beside one that has taken a matrix apart. */
const withSpectra = `import { init as initOfQkv } from 'qkv';
import { init as initOfSpectra } from 'qkv/spectra';
const init = async (options) => {
  const identity = { data: Float32Array.of(1, 0, 0, 1), shape: [1, 2, 2] };
  const [rank] = (await initOfSpectra()).effectiveRank(identity, identity).data;
  if (rank !== 2) throw new Error(\`a rank of \${rank}\`);
  return initOfQkv(options);
};
`;

/** What makes an engine that has done the work of an entry which makes none. */
const makers = { 'qkv/models': withModel, 'qkv/spectra': withSpectra };
const initFrom = (entry) => makers[entry] ?? `import { init } from '${entry}';\n`;

/** Imports the package and reports what it computes. */
export const app = (entry, options) => `${initFrom(entry)}import { report } from './example.js';
report(init${options ? `, ${JSON.stringify(options)}` : ''});
`;

/** Imports init where there are files. */
export const filesFrom = (entry) => (entry === 'qkv/models' ? withFile : initFrom(entry));

/** The same where there are files: of qkv/models, a model is loaded from one. */
export const appOfFiles = (entry) => app(entry).replace(initFrom(entry), () => filesFrom(entry));

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
export const worker = (entry) => `${initFrom(entry)}import { compute } from './example.js';
compute(init).then(postMessage, ({ message }) => postMessage({ error: message }));
`;

/** A page with a module script. */
export const page = (script, head = '') => `<!doctype html>
<html lang="en">
  <head><meta charset="utf-8" /><title>Consumer</title>${head}</head>
  <body><script type="module" src="${script}"></script></body>
</html>
`;

// Next, with its app router: the package in a component of the client, which the server renders first, and in
// a route of the server.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { PATIENCE } from '../../../support/js/patience.js';
import { advice } from '../examples.js';
import { tool, toolsFolder, versionOf } from '../../tools.js';
import { newProject, runIn } from './workshop.js';

const cli = () => tool('next/dist/bin/next');
const env = { NEXT_TELEMETRY_DISABLED: '1' };

/** The pages of one entry, in a folder of the app. */
const partOf = (entry, name) => ({
  [`app/${name}/page.js`]: `import { Attention } from './attention.js';
export default function Page() {
  return <Attention />;
}
`,
  [`app/${name}/attention.js`]: `'use client';
import { useEffect } from 'react';
import { init } from '${entry}';
import { report } from '../../example.js';
export function Attention() {
  useEffect(() => void report(init), []);
  return <p>attention</p>;
}
`,
  [`app/${name}/server/route.js`]: `import { init } from '${entry}';
import { compute } from '../../../example.js';
export const dynamic = 'force-dynamic';
export const GET = () =>
  compute(init).then(Response.json, ({ message }) => Response.json({ error: message }));
`,
});

const parts = { qkv: 'beside', 'qkv/inline': 'inside' };

/** The tools are installed above the project, as in a workspace, and Next wants to be told. */
const root = () => JSON.stringify(toolsFolder());
const files = (configuration) => ({
  'next.guide.js': configuration,
  'next.config.js': `import guide from './next.guide.js';
export default { ...guide, turbopack: { root: ${root()} }, outputFileTracingRoot: ${root()} };
`,
  'app/layout.js': `export default function Layout({ children }) {
  return <html lang="en"><body>{children}</body></html>;
}
`,
  ...Object.assign({}, ...Object.entries(parts).map((part) => partOf(...part))),
});

/** Starts the built project on a free port: { url, stop }. */
async function start(cwd) {
  const args = [cli(), 'start', '--hostname', '127.0.0.1', '--port', '0'];
  const options = { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'inherit'] };
  const child = spawn(process.execPath, args, options);
  const exited = once(child, 'exit');
  const stop = () => {
    child.kill();
    return exited;
  };
  let said = '';
  const url = await new Promise((resolve, reject) => {
    child.stdout.on('data', (data) => {
      said += data;
      const [found] = /http:\/\/127\.0\.0\.1:[1-9]\d*/.exec(said) ?? [];
      if (found && said.includes('Ready')) resolve(found);
    });
    exited.then(() => reject(new Error(`next start ended: ${said}`)));
    setTimeout(() => reject(new Error(`next start is not ready: ${said}`)), PATIENCE.test).unref();
  }).catch(async (error) => {
    await stop();
    throw error;
  });
  return { url, stop };
}

/** Both entries in one project, because a build takes most of the time. */
const next = (flag, configuration) => async (_, browsers) => {
  const folder = newProject(files(configuration()));
  await runIn(folder, process.execPath, [cli(), 'build', flag], { env });
  const server = await start(folder);
  const where = `Next ${versionOf('next')}`;
  const engine = `Node ${process.versions.node}`;
  try {
    const ran = [];
    for (const [entry, name] of Object.entries(parts)) {
      const url = `${server.url}/${name}`;
      const response = await fetch(`${url}/server`);
      const report = await response.json();
      const all = [...(await browsers.open(url)), { where, engine, report }];
      ran.push(...all.map((each) => ({ ...each, entry })));
    }
    return ran;
  } finally {
    await server.stop();
  }
};

const entries = [Object.keys(parts).join(', ')];

export const nexts = [
  { name: 'Next, Turbopack', entries, run: next('--turbopack', () => 'export default {};\n') },
  // Its server asks for files by the addresses that pages know them by, unless it imports the package as it is.
  {
    name: 'Next, webpack',
    entries,
    run: next('--webpack', () => advice('js', 'next.config.js')),
  },
];

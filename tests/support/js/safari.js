// Safari, driven over WebDriver, behind what reportOf() uses of playwright's Chromium. WebDriver tells nothing of the
// console, so a page keeps what it reports in `qkvReports`, and is asked for it until somebody closes the page.
// SAFARIDRIVER in the environment names the driver, which macOS has as /usr/bin/safaridriver; it must have been
// allowed once: sudo safaridriver --enable.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { PATIENCE } from './patience.js';

/** A port that nobody has. */
async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

/** A command of WebDriver: its value, or an error that says what the driver said. */
async function send(url, body, method = 'POST') {
  const response = await fetch(url, {
    method,
    headers: { 'content-type': 'application/json' },
    body: method === 'POST' ? JSON.stringify(body) : undefined,
    signal: AbortSignal.timeout(PATIENCE.wait),
  });
  const { value } = await response.json();
  if (!response.ok) throw new Error(`WebDriver: ${value.error}: ${value.message}`);
  return value;
}

/** Starts the driver: { url, stop }. */
async function startDriver() {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const child = spawn(process.env.SAFARIDRIVER, ['-p', String(port)], { stdio: 'inherit' });
  const ended = once(child, 'exit');
  const stop = () => {
    child.kill();
    return ended;
  };
  const patience = Date.now() + PATIENCE.wait;
  for (;;) {
    const status = await send(`${url}/status`, undefined, 'GET').catch(() => undefined);
    if (status?.ready) return { url, stop };
    if (child.exitCode !== null) throw new Error(`safaridriver ended with ${child.exitCode}`);
    if (Date.now() > patience) {
      await stop();
      throw new Error('safaridriver is not ready');
    }
    await pause(50);
  }
}

/** One page; a session has no more than one at a time. */
class Page {
  #session;
  #listeners = { console: [], pageerror: [] };
  #open = true;

  constructor(session) {
    this.#session = session;
  }

  setDefaultTimeout() {}

  on(event, listener) {
    this.#listeners[event].push(listener);
  }

  async goto(url) {
    await send(`${this.#session}/url`, { url });
    this.#listen().catch((error) => this.#emit('pageerror', error));
  }

  close() {
    this.#open = false;
    return send(`${this.#session}/url`, { url: 'about:blank' });
  }

  #emit(event, value) {
    for (const listener of this.#listeners[event]) listener(value);
  }

  async #listen() {
    const script =
      'return (window.qkvReports || []).splice(0).map((value) => JSON.stringify(value))';
    while (this.#open) {
      const reports = await send(`${this.#session}/execute/sync`, { script, args: [] });
      for (const json of reports) {
        this.#emit('console', { type: () => 'log', text: () => `report ${json}` });
      }
      await pause(50);
    }
  }
}

/** Starts the driver and the browser. */
export async function launch() {
  const driver = await startDriver();
  const asked = { capabilities: { alwaysMatch: { browserName: 'safari' } } };
  const { sessionId, capabilities } = await send(`${driver.url}/session`, asked).catch(
    async (error) => {
      await driver.stop();
      throw error;
    },
  );
  const session = `${driver.url}/session/${sessionId}`;
  return {
    version: () => capabilities.browserVersion,
    async newContext() {
      const page = new Page(session);
      return { newPage: async () => page, close: () => page.close() };
    },
    async close() {
      await send(session, undefined, 'DELETE');
      await driver.stop();
    },
  };
}

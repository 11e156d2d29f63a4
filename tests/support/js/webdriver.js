// Browsers driven over WebDriver, behind what tests use of Playwright's Chromium: Safari on a Mac, and WebKitGTK's MiniBrowser on
// Linux. WebDriver says nothing of the console, so pages keep what they report in `qkvReports`, and the driver polls it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { PATIENCE, pause, until } from './patience.js';
import { miniBrowser, webKitDriver } from './programs.js';

/** A port that nobody has. */
async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

/** Sends a command of WebDriver. Resolves to its value; rejects with the driver's message. */
async function send(url, body = {}, method = 'POST') {
  const response = await fetch(url, {
    method,
    headers: { 'content-type': 'application/json' },
    body: method === 'POST' ? JSON.stringify(body) : undefined,
    signal: AbortSignal.timeout(2 * PATIENCE.wait),
  });
  const { value } = await response.json();
  if (!response.ok) throw new Error(`WebDriver: ${value.error}: ${value.message}`);
  return value;
}

/** Starts a program of this process: { child, stop }. */
function start(program, args, { env = {}, stdio = 'ignore' } = {}) {
  const child = spawn(program, args, { stdio, env: { ...process.env, ...env } });
  const ended = once(child, 'exit');
  return {
    child,
    stop() {
      child.kill();
      return ended;
    },
  };
}

/** Starts a driver: { url, stop }. */
async function startDriver(program, env) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const { child, stop } = start(program, ['-p', String(port)], { env });
  try {
    await until(
      async () => {
        if (child.exitCode !== null) throw new Error(`${program} ended with ${child.exitCode}`);
        return (await send(`${url}/status`, undefined, 'GET').catch(() => undefined))?.ready;
      },
      () => `${program} is ready`,
    );
  } catch (error) {
    if (child.exitCode === null) await stop();
    throw error;
  }
  return { url, stop };
}

/** The name under which WebDriver returns elements. */
const ELEMENT = 'element-6066-11e4-a52e-4f735466cecf';
const KEYS = {
  ...{ ArrowLeft: '\uE012', ArrowUp: '\uE013', ArrowRight: '\uE014', ArrowDown: '\uE015' },
  Escape: '\uE00C',
};

/** The page of a session, which has one at a time, with the methods of Playwright's. */
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
    await this.#send('url', { url });
    const { console: heard, pageerror } = this.#listeners;
    if (heard.length > 0) this.#listen().catch((error) => pageerror.forEach((say) => say(error)));
  }

  reload() {
    return this.#send('refresh');
  }

  close() {
    this.#open = false;
    return this.#send('url', { url: 'about:blank' });
  }

  /** What an expression or a function of the page returns or promises. */
  async evaluate(work, argument = null) {
    const expression = typeof work === 'string' ? work : `(${work})(JSON.parse(given))`;
    const script = `
      const [given, done] = arguments;
      (async () => ${expression})().then(
        (value) => done(JSON.stringify({ value })),
        (error) => done(JSON.stringify({ problem: String(error) })),
      );`;
    const json = await this.#send('execute/async', { script, args: [JSON.stringify(argument)] });
    const { value, problem } = JSON.parse(json);
    if (problem !== undefined) throw new Error(problem);
    return value;
  }

  waitForFunction(work, argument) {
    return until(
      () => this.evaluate(work, argument),
      () => String(work),
    );
  }

  async click(selector) {
    await this.#send(`element/${await this.#element(selector)}/click`);
  }

  async fill(selector, text) {
    const element = await this.#element(selector);
    await this.#send(`element/${element}/clear`);
    await this.#send(`element/${element}/value`, { text });
  }

  async press(selector, key) {
    await this.#send(`element/${await this.#element(selector)}/value`, { text: KEYS[key] });
  }

  textContent(selector) {
    return this.evaluate((name) => document.querySelector(name).textContent, selector);
  }

  /** Gives the view this size, or as near as the window goes: MiniBrowser's is never as narrow as a phone. */
  async setViewportSize({ width, height }) {
    const window = await this.#send('window/rect', undefined, 'GET');
    const [w, h] = await this.evaluate(() => [innerWidth, innerHeight]);
    await this.#send('window/rect', {
      width: width + window.width - w,
      height: height + window.height - h,
    });
  }

  /** The element, in the view. */
  async #element(selector) {
    await this.evaluate(
      (name) => document.querySelector(name).scrollIntoView({ block: 'center' }),
      selector,
    );
    return (await this.#send('element', { using: 'css selector', value: selector }))[ELEMENT];
  }

  #send(path, body, method) {
    return send(`${this.#session}/${path}`, body, method);
  }

  async #listen() {
    const script =
      'return (window.qkvReports || []).splice(0).map((value) => JSON.stringify(value))';
    while (this.#open) {
      for (const json of await this.#send('execute/sync', { script, args: [] })) {
        const message = { type: () => 'log', text: () => `report ${json}` };
        for (const listener of this.#listeners.console) listener(message);
      }
      await pause(50);
    }
  }
}

/** Starts a driver and its browser. `display.stop` ends what the browser is shown on. */
async function launch(program, capabilities, { env, display } = {}) {
  const driver = await startDriver(program, env);
  const stop = async () => {
    await driver.stop();
    await display?.stop();
  };
  const { sessionId, capabilities: found } = await send(`${driver.url}/session`, {
    capabilities: { alwaysMatch: capabilities },
  }).catch(async (error) => {
    await stop();
    throw error;
  });
  const session = `${driver.url}/session/${sessionId}`;
  await send(`${session}/timeouts`, { script: PATIENCE.wait });
  return {
    version: () => found.browserVersion,
    async newContext() {
      const page = new Page(session);
      return { newPage: async () => page, close: () => page.close() };
    },
    async close() {
      await send(session, undefined, 'DELETE');
      await stop();
    },
  };
}

/**
 * Safari. SAFARIDRIVER in the environment names the driver, which macOS has as /usr/bin/safaridriver; it must have been allowed
 * once: sudo safaridriver --enable.
 */
export const launchSafari = () => launch(process.env.SAFARIDRIVER, { browserName: 'safari' });

/** Why there is no WebKitGTK on this machine, or false: for `skip` of a test. */
export const noWebKit =
  !(webKitDriver && miniBrowser) &&
  'no WebKitGTK on this machine: apt install webkit2gtk-driver xvfb';

/** A display that nobody sees. Xvfb chooses its number and writes it to its third channel. */
async function startDisplay() {
  const { child, stop } = start('Xvfb', ['-displayfd', '3', '-screen', '0', '1600x1400x24'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  });
  const [number] = await Promise.race([once(child.stdio[3], 'data'), once(child, 'error')]);
  if (number instanceof Error) throw number;
  return { name: `:${String(number).trim()}`, stop };
}

/** WebKitGTK's MiniBrowser, on a display of its own. */
export async function launchWebKit() {
  const display = await startDisplay();
  const browserOptions = { binary: miniBrowser, args: ['--automation'] };
  return launch(
    webKitDriver,
    { browserName: 'MiniBrowser', 'webkitgtk:browserOptions': browserOptions },
    { display, env: { DISPLAY: display.name, WEBKIT_DISABLE_COMPOSITING_MODE: '1' } },
  );
}

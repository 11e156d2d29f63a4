// @build any
// examples/train-react as a project of its own, with the package as packed: a model learns a text in a worker, is paused, saved and opened
// again. What it learned shows in what it says, which is the text.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { init } from 'qkv/train';
import { preview } from 'vite';
import { violations } from '../page/support/panel.js';
import { packageJson, text } from '../support/js/files.js';
import { inFullRun } from '../support/js/full.js';
import { pause, until } from '../support/js/patience.js';
import { replaced } from './consumers/stranger.js';
import { openTab, testIn } from './example-tabs.js';
import { commands, installExamples, viteProject } from './examples.js';

const others = ['typescript', 'react', 'react-dom', '@types/react', '@types/react-dom'];
test('examples: train-react asks for this version of the package, and for the others that are tried', () => {
  const { dependencies, devDependencies } = JSON.parse(text('examples/train-react/package.json'));
  const own = { qkv: packageJson.version.replace(/(.*)\.\d+$/, '^$1.0') };
  const tried = (name) => [name, packageJson.devDependencies[name]];
  const expected = Object.fromEntries([...others, 'vite'].map(tried));
  assert.deepEqual({ ...dependencies, ...devDependencies }, { ...own, ...expected });
});

/** What the page has before its text is changed. */
const rhyme = `Twinkle, twinkle, little star,
How I wonder what you are!
Up above the world so high,
Like a diamond in the sky.
`;
const letters = [...new Set(rhyme)].sort();

/** What the package in Node makes of a file: steps, and the likeliest letters after the first eight of the rhyme. */
async function reading(bytes) {
  const qkv = await init();
  const sizes = { vocabulary: letters.length, numLayers: 2, dModel: 64, numHeads: 4 };
  const trainer = qkv.languageModel({ ...sizes, dFeedForward: 128, maxLength: 48 });
  trainer.load(bytes);
  const { model, steps } = trainer;
  const ids = Array.from(rhyme.slice(0, 8), (letter) => letters.indexOf(letter));
  while (ids.length < 68) {
    const next = model.forward(ids.slice(-48)).logits.data.slice(-letters.length);
    ids.push(next.indexOf(Math.max(...next)));
  }
  qkv.dispose();
  return { steps, said: ids.map((id) => letters[id]).join('') };
}

async function use(browser, site) {
  const { tab, complaints, close } = await openTab(browser, site.resolvedUrls.local[0]);
  const seen = () =>
    tab.evaluate(() => ({
      status: document.getElementById('status').value,
      said: document.getElementById('said').textContent,
      points: document.querySelector('polyline').points.length,
      isEditable: !document.getElementById('text').disabled,
    }));
  const shows = async (isIt) => {
    let now;
    await until(
      async () => isIt((now = await seen())),
      () => JSON.stringify(now),
    );
    return now;
  };
  const numbers = ({ status }) => {
    const [, step = NaN, loss = NaN] = /^step (\d+), loss (\d+\.\d+)$/.exec(status) ?? [];
    return { step: Number(step), loss: Number(loss) };
  };
  await until(
    () => tab.evaluate(() => document.getElementById('status') !== null),
    () => 'the page',
  );
  assert.deepEqual(await seen(), { status: 'not started', said: '', points: 0, isEditable: true });
  await tab.click('#train');
  const first = numbers(await shows((now) => numbers(now).step > 0));
  assert.ok(first.step < 100 && first.loss > 1, 'it knows nothing at first');
  // While it learns it can be asked.
  await tab.click('#recite');
  await shows(({ said }) => said.startsWith('Twinkle,') && said.length === 68);
  await until(
    async () => {
      await tab.click('#recite');
      return (await seen()).said === rhyme.slice(0, 68);
    },
    () => 'a rhyme that is known by heart',
  );
  await tab.click('#pause');
  await until(
    () => tab.evaluate(() => document.getElementById('resume') !== null),
    () => 'a pause',
  );
  const paused = await seen();
  await pause(200);
  const { status, points } = await seen();
  assert.deepEqual([status, points], [paused.status, paused.points], 'nothing is learned');
  assert.ok(paused.points > 5 && !paused.isEditable);
  await tab.click('#save');
  const bytes = await (async () => {
    await until(
      () => tab.evaluate(() => document.querySelector('a[download]') !== null),
      () => 'a file',
    );
    const all = await tab.evaluate(async () => {
      const answer = await fetch(document.querySelector('a[download]').href);
      return Array.from(new Uint8Array(await answer.arrayBuffer()));
    });
    return Uint8Array.from(all);
  })();
  const { step } = numbers(paused);
  const { steps, said } = await reading(bytes);
  assert.equal(steps, step);
  await tab.click('#recite');
  await shows((now) => now.said === said);

  await tab.click('#resume');
  await shows((now) => numbers(now).step > step);
  assert.deepEqual(complaints, []);
  return { tab, complaints, close, bytes, step, shows, numbers };
}

/** Opens the file on a page that knows nothing: it goes on where it was. */
async function opens({ tab, complaints, close, bytes, step, shows, numbers }) {
  await tab.reload();
  await shows(({ status }) => status === 'not started').catch(() => undefined);
  await tab.evaluate((given) => {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([Uint8Array.from(given)], 'pupil.safetensors'));
    const open = document.getElementById('open');
    open.files = dataTransfer.files;
    open.dispatchEvent(new Event('change', { bubbles: true }));
  }, Array.from(bytes));
  const now = numbers(await shows((each) => numbers(each).step > step));
  assert.ok(now.loss < 0.5, `${now.loss}, as of one that has learned`);
  assert.deepEqual(complaints, []);
  await close();
}

inFullRun('train-react in browsers', () => {
  let installed;
  let site;
  before(async () => {
    installed = await installExamples();
    const root = viteProject(installed, 'train-react', others);
    const [, run] = commands.get('train-react').split(' && ');
    await installed.inProject(...replaced(run, 'run dev', 'run build').split(' '));
    site = await preview({ root, logLevel: 'error', preview: { host: '127.0.0.1', port: 0 } });
  });
  after(async () => {
    await site?.close();
    installed?.remove();
  });

  describe('examples: train-react', () => {
    const title = 'train-react learns, pauses, saves, and goes on with its file';
    testIn('Chromium', title, async (browser) => {
      const used = await use(browser, site);
      await used.tab.click('#pause');
      assert.deepEqual(await violations(used.tab), []);
      await opens(used);
    });
    testIn('Firefox', title, async (browser) => opens(await use(browser, site)));
  });
});

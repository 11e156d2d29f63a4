// @build any
// qkv/worker in a Node process: it ends when nothing is under way, and not before.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { resultOf, runNode } from '../../support/js/node.js';

const start = "import { init } from 'qkv/worker'; const engine = await init({ workers: 2 });";
const x = 'const x = { data: new Float32Array(8).fill(1), shape: [2, 4] };';
const long = `
  const data = new Float32Array(4 * 1000 * 64).fill(1);
  const long = { data, shape: [1, 4, 1000, 64] };`;

describe('worker: a process', () => {
  test('ends by itself while its workers are idle', async () => {
    const script = `${start} ${x} await engine.gelu(x); console.log(1);`;
    assert.deepEqual(await runNode([], script), { code: 0, stdout: '1\n', stderr: '' });
  });

  test('waits for calls that are under way', async () => {
    const script = `${start} ${long} engine.attention(long, long, long).then(() => console.log(1));`;
    assert.deepEqual(await runNode([], script), { code: 0, stdout: '1\n', stderr: '' });
  });

  test('does without a FinalizationRegistry, as hosts that hide the collector', async () => {
    const script = `
      delete globalThis.FinalizationRegistry;
      const { init } = await import('qkv/worker');
      const engine = await init();
      const tensor = await engine.tensor([2], [1, 2]);
      const { data } = await engine.softmax(tensor);
      await tensor.dispose();
      await engine.dispose();
      console.log(data.length);`;
    assert.deepEqual(await runNode([], script), { code: 0, stdout: '2\n', stderr: '' });
  });

  test('waits for init()', async () => {
    const script = "import { init } from 'qkv/worker'; init().then(() => console.log(1));";
    assert.equal((await runNode([], script)).stdout, '1\n');
  });

  test('waits for a call through a port, and not for the port', async () => {
    const script = `
      import { MessageChannel } from 'node:worker_threads';
      import * as main from 'qkv';
      import { init, serve } from 'qkv/worker';
      ${x}
      const { port1, port2 } = new MessageChannel();
      serve(port1, main.init);
      port1.unref();
      const engine = await init({ worker: port2 });
      engine.gelu(x).then(() => console.log(1));`;
    assert.equal((await runNode([], script)).stdout, '1\n');
  });

  test('ends after dispose(), and so do its workers', async () => {
    const script = `${start} ${x} engine.gelu(x).catch(({ code }) => console.log(code)); engine.dispose();`;
    assert.equal((await runNode([], script)).stdout, 'disposed\n');
  });

  test('runs where no code may be made from text', async () => {
    const script = `${start} ${x} console.log((await engine.gelu(x)).data.length); await engine.dispose();`;
    const flags = ['--disallow-code-generation-from-strings', '--no-warnings'];
    assert.equal(await resultOf(flags, script), 8);
  });
});

test('worker: handles that are forgotten are freed in the worker', async () => {
  const script = `
    import { until } from './tests/support/js/patience.js';
    ${start}
    const made = async () => {
      for (let i = 0; i < 20; ++i) {
        await engine.tensor([1000], undefined, { worker: i % 2 });
        await engine.kvCache({ numKvHeads: 1, capacity: 10, dK: 8 });
      }
      return (await engine.memory()).handles;
    };
    const before = await made();
    let handles;
    await until(async () => {
      globalThis.gc();
      ({ handles } = await engine.memory());
      return handles === 0;
    }, () => handles + ' handles are freed');
    console.log(JSON.stringify([before, handles]));`;
  const [before, after] = await resultOf(['--expose-gc'], script);
  assert.ok(before > 0 && before <= 40, `${before} handles`);
  assert.equal(after, 0);
});

// @build each
// qkv/train in a thread of Node: the weights are those of the main thread, and move between the two.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { init } from 'qkv/train';
import { inTime } from '../../support/js/patience.js';
import { workerOf } from '../../support/js/workers.js';
import { configs, options, trainUntil } from './run-200.js';

const steps = 20;

/** What a program posts from a worker; it may use what run-200.js exports, and `init` of qkv/train. */
async function posted(program) {
  const worker = workerOf(`
    import { parentPort } from 'node:worker_threads';
    import { configs, options, trainUntil } from '${new URL('run-200.js', import.meta.url)}';
    import { init } from 'train.js';
    ${program}
  `);
  const answer = new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`the worker ended with ${code}`)));
  });
  try {
    return await inTime(answer, 'a worker that trains');
  } finally {
    await worker.terminate();
  }
}

describe('train in a worker:', () => {
  test('a file that a worker moves to the main thread goes on there, bit for bit', async () => {
    const file = await posted(`
      const trainer = (await init()).languageModel(configs[1], options);
      trainUntil(trainer, ${steps / 2});
      const file = trainer.save({ optimizer: true });
      parentPort.postMessage(file, [file.buffer]);
    `);
    const engine = await init();
    const [whole, rest] = [0, 1].map(() => engine.languageModel(configs[1], options));
    trainUntil(whole, steps);
    rest.load(file);
    assert.equal(rest.steps, steps / 2);
    trainUntil(rest, steps);
    assert.deepEqual(rest.save({ optimizer: true }), whole.save({ optimizer: true }));
    engine.dispose();
  });
});

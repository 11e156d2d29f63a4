// @build any
// Ten thousand mixed calls leave the memory as the largest of them needed it.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { text } from '../../support/js/files.js';
import { inNode, leaksOf } from '../../support/js/memory.js';

/** The functions of an engine that compute something or make something. */
function operators() {
  const [, body] = /^export interface Qkv \{\n(.*?)^\}/ms.exec(text('dist/types.d.ts'));
  const names = Array.from(body.matchAll(/^ {4}(\w+)[(<]/gm), ([, name]) => name);
  return [...new Set(names)].filter((name) => name !== 'memory' && name !== 'dispose').sort();
}

test('memory: 10,000 mixed calls, failing ones too: memory is flat after the largest', async (t) => {
  const { samples, used } = await inNode();
  assert.deepEqual(used, operators());
  const { heapBytes, usedBytes, jsBytes } = samples.at(-1);
  t.diagnostic(`heap ${heapBytes}, used ${usedBytes}, JavaScript ${jsBytes} bytes`);
  assert.ok(samples.length > 99 && samples[0].heapBytes > 2 ** 21, 'memory grew at the start');
  assert.ok(samples.some(({ holding }) => holding.handles > 0 && holding.usedBytes > usedBytes));
  assert.deepEqual(leaksOf(samples), []);
});

describe('memory: a leak is found', () => {
  /** An engine one of whose functions does something besides, each time it is called. */
  const spoilt = (name, besides) => (engine) => {
    const original = engine[name];
    engine[name] = (...args) => {
      besides(engine);
      return original.apply(engine, args);
    };
    return engine;
  };
  const find = async (change) =>
    leaksOf((await inNode({ last: 1000, options: { deterministic: true }, change })).samples);

  test('one tensor of many that is not given back', async () => {
    let made = 0;
    const problems = await find(
      spoilt('gelu', (engine) => {
        if (++made === 20) engine.tensor([1]);
      }),
    );
    assert.equal(problems.length, 2, String(problems));
    assert.match(problems[0], /^usedBytes was \d+ after the largest calls and \d+ after \d+$/);
    assert.match(problems[1], /^handles was 0 after the largest calls and 1 after \d+$/);
  });

  test('what JavaScript keeps', async () => {
    const kept = [];
    const problems = await find(spoilt('gelu', () => kept.push(new Array(8000).fill(kept.length))));
    assert.match(String(problems), /^the JavaScript heap grew by \d+ bytes$/);
  });
});

// What is true of the reading of every file: a typed error, or every element once; and nothing besides.
import assert from 'node:assert/strict';
import { QkvError } from 'qkv';
import { models } from '../../models/support/bundle.js';
import { collect } from '../../models/support/collect.js';

/** All that every object would inherit. */
const inherited = () =>
  [Object, Array, Function, String, Number]
    .map(({ prototype }) => Reflect.ownKeys(prototype).map(String).sort().join())
    .join('\n');
const clean = inherited();

export const expectNoPollution = () => assert.equal(inherited(), clean, 'a prototype has changed');

/** A typed error in the name of `fn`, of a length that people read. */
export function expectRefusal(error, fn = 'load') {
  if (!(error instanceof QkvError)) throw error;
  const { code, message } = error;
  assert.ok(message.startsWith(`${fn}: `), message);
  if (code !== 'out_of_memory') assert.match(message, /expected /);
  assert.ok(message.length < 2000, `${message.length} letters: ${message.slice(0, 300)}`);
}

/** The arrays and the tokenizer of what was read; undefined where it was refused. */
export async function readOrRefused(source) {
  try {
    const opened = await models.openModel(source);
    const arrays = await collect(opened);
    opened.tokenizer?.decode([...opened.tokenizer.encode('ab ba')]);
    return arrays;
  } catch (error) {
    expectRefusal(error);
    return undefined;
  } finally {
    expectNoPollution();
  }
}

/** Whether a model was read. */
export const isRead = async (source) => (await readOrRefused(source)) !== undefined;

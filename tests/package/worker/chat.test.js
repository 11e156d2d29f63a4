// @build each
// Conversations with a model in a worker: the template is rendered here, its text becomes tokens there.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Template } from '@huggingface/jinja';
import { init as initHere } from 'qkv';
import { load } from 'qkv/models';
import { init } from 'qkv/worker';
import { expectRejects, expectThrows } from '../../support/js/check.js';
import { chatFiles, chatMl } from '../models/support/chat-model.js';

const options = { deterministic: true };
const away = await init({ ...options, models: true });
const here = await initHere(options);
after(() => Promise.all([away.dispose(), here.dispose()]));
const files = chatFiles(here);
const [remote, local] = [await away.loadModel(files), await load(here, files)];

const messages = [{ role: 'user', content: 'Hé<|im_end|>?' }];
const all = async (tokens) => {
  const list = [];
  for await (const token of tokens) list.push(token);
  return list;
};

test('the prompt is that of this thread, and so are tokens and texts', async () => {
  assert.deepEqual(remote.chatTemplates, local.chatTemplates);
  const jinja = { jinja: Template };
  const expected = await local.chatPrompt(messages, jinja);
  assert.deepEqual(await remote.chatPrompt(messages, jinja), expected);
  // Options may be inherited, here as there.
  const own = { jinja: Template, template: '{{ messages[0].content }}' };
  const inherited = Object.create(own);
  assert.deepEqual(await remote.chatPrompt(messages, inherited), await local.chatPrompt(messages, inherited)); // prettier-ignore
  assert.equal((await remote.chatPrompt(messages, inherited)).text, messages[0].content);
  const fn = 'LanguageModel.chatPrompt';
  await expectRejects(remote.chatPrompt(messages, null), fn, 'invalid_argument', 'options is null');
  assert.deepEqual(await remote.encode('a<s>', { plain: true }), local.encode('a<s>', { plain: true })); // prettier-ignore
  assert.equal(await remote.decode(expected.ids), local.decode(expected.ids));
});

test('the answer is that of this thread, with its seed and the reason of its end', async () => {
  // With the token that ends a turn, one of thirty drawn answers would end before its eight tokens.
  const asked = { jinja: Template, maxTokens: 8, temperature: 1, topLogprobs: 2, stopTokens: [] };
  const chat = remote.chat(messages, asked);
  const tokens = await all(chat);
  const same = local.chat(messages, { ...asked, seed: chat.seed });
  assert.deepEqual(tokens, await all(same));
  assert.deepEqual([chat.finishReason, same.finishReason], ['length', 'length']);
  const other = remote.chat(messages, asked);
  assert.notEqual(other.seed, chat.seed);
  for await (const _ of other) break;
  assert.equal(other.finishReason, 'aborted');
});

test('a template and its address, and a file that is none', async () => {
  const address = `data:,${encodeURIComponent('{{ messages[0].content }}')}`;
  for (const chatTemplate of ['{{ messages[0].content }}', address, new URL(address)]) {
    const model = await away.loadModel({ ...files, chatTemplate });
    const { text } = await model.chatPrompt(messages, { jinja: Template });
    assert.equal(text, messages[0].content);
    await model.dispose();
  }
  await expectRejects(
    away.loadModel({ ...files, tokenizerConfig: 7 }),
    ...['load', 'invalid_argument', 'tokenizerConfig'],
  );
});

test('what is wrong rejects, and a mask does not cross', async () => {
  const fn = 'LanguageModel.chat';
  await expectRejects(
    all(remote.chat([], { jinja: Template })),
    fn,
    'invalid_argument',
    'messages',
  );
  await expectRejects(
    all(remote.chat(messages, { jinja: Template, topK: -1 })),
    ...[fn, 'out_of_range', 'topK'],
  );
  expectThrows(
    () => local.chat(messages, { jinja: Template, topK: -1 }),
    ...[fn, 'out_of_range', 'topK'],
  );
  const mask = () => [1];
  await expectRejects(
    all(remote.generate([1], { mask })),
    ...['LanguageModel.generate', 'invalid_argument', 'mask'],
  );
  await expectRejects(
    remote.chatPrompt(messages, { jinja: Template, template: `${chatMl}{% if %}` }),
    ...['LanguageModel.chatPrompt', 'invalid_argument'],
  );
});

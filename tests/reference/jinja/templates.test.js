// @build each
// Chat templates of others, as Jinja of Python renders them with the options of transformers. Folders of templates are not of this
// project: QKV_CHAT_TEMPLATES names one, such as models/templates of llama.cpp.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Template } from '@huggingface/jinja';
import { init } from 'qkv';
import { load } from 'qkv/models';
import { chatFiles } from '../../package/models/support/chat-model.js';
import { root } from '../../support/js/files.js';

const folder = process.env['QKV_CHAT_TEMPLATES'];
const skip = !folder && 'no chat templates of others; name their folder in QKV_CHAT_TEMPLATES';

const user = (content) => ({ role: 'user', content });
const assistant = (content) => ({ role: 'assistant', content });
const system = (content) => ({ role: 'system', content });
const tool = {
  type: 'function',
  function: {
    name: 'add',
    description: 'Adds two numbers.',
    parameters: {
      type: 'object',
      properties: { a: { type: 'number', description: 'The first.' }, b: { type: 'number' } },
      required: ['a', 'b'],
    },
  },
};
const cases = [
  { messages: [user('What is attention?')] },
  {
    messages: [
      system('You are kind.'),
      user('Hi  '),
      assistant('Hello!'),
      user('Count, "please".\n'),
    ],
  },
  {
    messages: [
      user('1'),
      assistant('2'),
      user('3'),
      assistant('<think>\nhm\n</think>\n\n4'),
      user('5'),
    ],
  },
  { messages: [user('What is 2 + 3?')], tools: [tool] },
];
const tokens = { bos_token: '<s>', eos_token: '</s>' };

/** Those that @huggingface/jinja 0.5.11 cannot render: whole numbers as the keys of an object; `format` of a text. */
const known = new Set(['ByteDance-Seed-OSS', 'tencent-Hy3']);
/** And with tools: a filter that it lacks, an argument that is undefined, a pair that it does not unpack; and HTML escaped by Python. */
const knownWithTools = new Set([
  ...['Apriel-1.6-15b-Thinker-fixed', 'unsloth-Apriel-1.5', 'ByteDance-Seed-OSS', 'tencent-Hy3'],
  ...['NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use'],
  ...['NousResearch-Hermes-3-Llama-3.1-8B-tool_use'],
  ...['meetkai-functionary-medium-v3.1', 'meetkai-functionary-medium-v3.2'],
]);

test('chatPrompt: templates write what they write in Python', { skip }, async (t) => {
  const names = readdirSync(folder).filter((name) => name.endsWith('.jinja'));
  const templates = names.map((name) => readFileSync(join(folder, name), 'utf8'));
  const given = cases.map(({ tools = null, messages }) => ({
    ...{ ...tokens, messages, tools, documents: null, add_generation_prompt: true },
  }));
  const { stdout, stderr, status } = spawnSync(
    'python3',
    [join(root, 'tests/reference/jinja/render.py')],
    { input: JSON.stringify({ templates, cases: given }), encoding: 'utf8', maxBuffer: 2 ** 28 },
  );
  assert.equal(status, 0, `python3 with jinja2 (Debian: python3-jinja2) is needed: ${stderr}`);
  const expected = JSON.parse(stdout);
  const engine = await init();
  const files = chatFiles(engine);
  const different = { plain: [], withTools: [] };
  for (const [i, template] of templates.entries()) {
    const tokenizerConfig = { chat_template: template, ...tokens };
    const model = await load(engine, { ...files, tokenizerConfig });
    for (const [k, { messages, tools }] of cases.entries()) {
      // What Python's template refuses, too, or takes only with tools, is of no interest.
      if (expected[i][k] === null) continue;
      const list = tools ? different.withTools : different.plain;
      const name = names[i].replace(/\.jinja$/, '');
      let text;
      try {
        ({ text } = model.chatPrompt(messages, { jinja: Template, tools, plain: false }));
      } catch {
        // As good as another text.
      }
      if (text !== expected[i][k] && !list.includes(name)) list.push(name);
    }
    model.dispose();
  }
  engine.dispose();
  const { plain, withTools } = different;
  const same = (list) => `${names.length - list.length} of ${names.length}`;
  t.diagnostic(`${same(plain)} templates write the same, ${same(withTools)} with tools`);
  assert.deepEqual(
    plain.filter((name) => !known.has(name)),
    [],
  );
  assert.deepEqual(
    withTools.filter((name) => !knownWithTools.has(name)),
    [],
  );
});

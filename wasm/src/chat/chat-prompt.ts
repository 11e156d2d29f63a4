// From a conversation to the text that a model was trained to go on from, by the template of its file.

import type {
  ChatPrompt,
  ChatPromptOptions,
  ChatTemplates,
  JinjaTemplate,
} from '../api/chat-types.js';
import { QkvError } from '../api/errors.js';
import { checkBoolean } from '../arguments/numbers.js';
import { describe, isRecord, listOf, reading } from '../arguments/values.js';
import { nodeModule } from '../platform/node.js';
import { escaper, textsIn, unusedLetter, withTexts } from './escape.js';

/** The options that are of the prompt alone; all others are of the generation. */
export const promptNames = [
  ...['jinja', 'template', 'tools', 'documents', 'variables', 'continues', 'plain'],
] as const satisfies readonly string[];

/** What a template wrote, which a tokenizer makes tokens of. */
export interface Written {
  readonly text: string;
  /** A letter within what is no control token though it looks like one; empty if all of them are. */
  readonly escape: string;
}

/** The prompt of these tokens, with its text as it is for readers. */
export const promptWith = ({ text, escape }: Written, ids: Int32Array): ChatPrompt => ({
  text: escape === '' ? text : text.replaceAll(escape, ''),
  ids,
});

/** Most messages, tools or documents. */
const most = 2 ** 16;
const jinjaName = '@huggingface/jinja';

const invalid = (what: string): never => {
  throw new QkvError('invalid_argument', what);
};

const isTemplateClass = (value: unknown): value is JinjaTemplate =>
  typeof value === 'function' &&
  typeof (value.prototype as { render?: unknown } | undefined)?.render === 'function';

/** The package where Node finds it: beside this one, or from the folder that the program runs in. */
function installedTemplate(): unknown {
  const { createRequire } = (nodeModule('module') ?? {}) as {
    createRequire?: (from: string) => (name: string) => { Template?: unknown };
  };
  const { process } = globalThis as { process?: { cwd?: () => string } };
  for (const from of [import.meta.url, `${process?.cwd?.() ?? ''}/`]) {
    try {
      const found = createRequire?.(from)(jinjaName);
      if (found) return found.Template;
    } catch {
      // Not from there.
    }
  }
  return undefined;
}

/** The class that renders: the one given, or that of the package where it is installed. */
function templateClass(fn: string, given: unknown): JinjaTemplate {
  const found = given ?? installedTemplate();
  if (isTemplateClass(found)) return found;
  if (given !== undefined)
    return invalid(`${fn}: jinja is ${describe(given)}, expected Template of ${jinjaName}`);
  throw new QkvError(
    'unsupported',
    `${fn}: jinja is undefined and ${jinjaName} is not found here, expected { jinja: Template } with import { Template } from '${jinjaName}'`,
  );
}

/** The template that is requested. */
function templateOf(
  fn: string,
  found: ChatTemplates | undefined,
  { template, tools }: ChatPromptOptions,
): string {
  if (template !== undefined && typeof template !== 'string')
    return invalid(`${fn}: template is ${describe(template)}, expected a template or its name`);
  if (template !== undefined && /\{[{%]/.test(template)) return template;
  const templates = found?.templates ?? {};
  const names = Object.keys(templates);
  const wanted = template ?? (tools && 'tool_use' in templates ? 'tool_use' : 'default');
  const own = names.includes(wanted) ? templates[wanted] : undefined;
  if (own !== undefined) return own;
  if (template !== undefined || names.length > 0) {
    const known = names.length > 0 ? names.map((name) => `'${name}'`).join(', ') : 'no template';
    return invalid(
      `${fn}: template is ${describe(wanted)} and the model's files have ${known}, expected one of them, or the text of a template`,
    );
  }
  return invalid(
    `${fn}: the model's files have no chat template, expected { template } with its text, or tokenizerConfig in the source of load()`,
  );
}

/** Messages, or another list of objects. */
function objectsOf(fn: string, name: string, given: unknown): readonly object[] {
  const list = listOf(fn, name, given, most);
  const wrong = list?.findIndex((each) => !isRecord(each)) ?? -1;
  if (list && wrong < 0) return list as readonly object[];
  const was = list
    ? `${name}[${wrong}] is ${describe(list[wrong])}`
    : `${name} is ${describe(given)}`;
  return invalid(`${fn}: ${was}, expected ${list ? 'an object' : 'an array of objects'}`);
}

function messagesOf(fn: string, given: unknown): readonly object[] {
  const messages = objectsOf(fn, 'messages', given);
  if (messages.length === 0) invalid(`${fn}: messages is an empty array, expected at least one`);
  messages.forEach((message, i) => {
    const { role } = message as { role?: unknown };
    if (typeof role !== 'string')
      invalid(`${fn}: messages[${i}].role is ${describe(role)}, expected a text, as 'user'`);
  });
  return messages;
}

/** The variables of a template besides those of its model. */
function variablesOf(fn: string, messages: unknown, options: ChatPromptOptions) {
  const { tools, documents, variables = {} } = options;
  if (!isRecord(variables))
    return invalid(`${fn}: variables is ${describe(variables)}, expected an object`);
  const lists = {
    messages: messagesOf(fn, copyOf(fn, 'messages', messages)),
    // As transformers has them: a list without elements would be one of tools.
    tools: tools === undefined ? null : objectsOf(fn, 'tools', copyOf(fn, 'tools', tools)),
    documents:
      documents === undefined
        ? null
        : objectsOf(fn, 'documents', copyOf(fn, 'documents', documents)),
  };
  return { ...copyOf(fn, 'variables', variables), ...lists };
}

/** The end of the content of the last message, which goes on: the spaces after it are part of it where the template leaves them. */
interface OpenEnd {
  readonly said: string;
  readonly spaces: string;
}

/** The last message's content with `mark` where it ends: the template may write its letters once more behind it. */
function withMark(fn: string, messages: readonly object[], mark: string) {
  const last = messages[messages.length - 1];
  const { content } = (last ?? {}) as { content?: unknown };
  if (typeof content !== 'string' || content.trim() === '')
    return invalid(
      `${fn}: continues is true and the content of the last message is ${describe(content)}, expected a text that goes on`,
    );
  const { length } = content.trimEnd();
  const end: OpenEnd = { said: content.trim(), spaces: content.slice(length) };
  const marked = { ...last, content: content.slice(0, length) + mark + end.spaces };
  return { messages: [...messages.slice(0, -1), marked], end };
}

/** The text up to its last mark, without marks. */
function cutAtMark(fn: string, text: string, mark: string, { said, spaces }: OpenEnd): string {
  const at = text.lastIndexOf(mark);
  const before = text.slice(0, Math.max(at, 0));
  if (!before.endsWith(said))
    return invalid(
      `${fn}: continues is true and the template does not write the last message as it is, expected a template that does`,
    );
  const isLeft = text.startsWith(spaces, at + mark.length);
  return before.replaceAll(mark, '') + (isLeft ? spaces : '');
}

/** A copy of what is given, which no later change reaches. */
const copyOf = <T>(fn: string, name: string, given: T): T =>
  reading(fn, name, () => withTexts(given)) as T;

/** Runs a template, which may refuse the conversation in words of its own. */
function rendered(
  fn: string,
  Template: JinjaTemplate,
  template: string,
  variables: Record<string, unknown>,
): string {
  let text: unknown;
  try {
    text = new Template(template).render(variables);
  } catch (error) {
    const why = error instanceof Error ? error.message : 'no reason given';
    throw new QkvError(
      'invalid_argument',
      `${fn}: the chat template fails with ${JSON.stringify(why.slice(0, 500))}, expected a conversation as it wants it, or another template`,
      { cause: error },
    );
  }
  if (typeof text === 'string') return text;
  return invalid(`${fn}: jinja has rendered ${describe(text)}, expected a text`);
}

/**
 * With none for lists that are not given, as transformers has it. Some templates filter them all the same, which Jinja of Python
 * lets be where nobody asks for the result; for these they are empty.
 */
function renderedOrEmpty(
  fn: string,
  Template: JinjaTemplate,
  template: string,
  variables: Record<string, unknown>,
): string {
  try {
    return rendered(fn, Template, template, variables);
  } catch (error) {
    const missing = ['tools', 'documents'].filter((name) => variables[name] === null);
    if (missing.length === 0) throw error;
    const empty = Object.fromEntries(missing.map((name) => [name, []]));
    try {
      return rendered(fn, Template, template, { ...variables, ...empty });
    } catch {
      // What it said first is of the variables as they should be.
      throw error;
    }
  }
}

/** Renders a conversation. */
export function chatText(
  fn: string,
  found: ChatTemplates | undefined,
  messages: unknown,
  options: ChatPromptOptions,
): Written {
  const { plain = true, continues = false, jinja } = options;
  checkBoolean(fn, 'plain', plain);
  checkBoolean(fn, 'continues', continues);
  const template = templateOf(fn, found, options);
  const given = variablesOf(fn, messages, options);
  const { tokens = {}, controls = [] } = found ?? {};
  const texts = [template, ...Object.values(tokens), ...controls, ...textsIn(given)];
  const escape = plain ? unusedLetter(texts) : '';
  const safe = (plain ? withTexts(given, escaper(controls, escape)) : given) as typeof given;
  const Template = templateClass(fn, jinja);
  const write = (own: readonly object[]): string =>
    renderedOrEmpty(fn, Template, template, {
      ...{ ...tokens, ...safe, messages: own },
      add_generation_prompt: !continues,
    });
  if (!continues) return { text: write(safe.messages), escape };
  const mark = unusedLetter([...texts, escape]);
  const { messages: marked, end } = withMark(fn, safe.messages, mark);
  return { text: cutAtMark(fn, write(marked), mark, end), escape };
}

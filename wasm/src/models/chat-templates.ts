// What the files of a model say of conversations: of GGUF its metadata, of the hub tokenizer_config.json and chat_template.jinja.

import type { ChatTemplates } from '../api/chat-types.js';
import type { Tokenizer } from '../api/model-types.js';
import { describe, isRecord } from '../arguments/values.js';
import { refuse } from './errors.js';
import { ownField } from './families/own.js';
import { Fields } from './fields.js';
import type { ModelFile } from './file.js';
import { TextList } from './text-list.js';

type Texts = Record<string, string>;
type Found = Pick<ChatTemplates, 'templates' | 'tokens'>;

/** Tokens that templates name, as transformers has them. */
const tokenNames = ['bos', 'eos', 'unk', 'sep', 'pad', 'cls', 'mask'].map(
  (name) => `${name}_token`,
);

/** The names of the same tokens in GGUF, where they differ. */
const ggufNames: Readonly<Record<string, string>> = {
  unk_token: 'unknown_token',
  sep_token: 'seperator_token', // as GGUF spells it
  pad_token: 'padding_token',
};

function ggufTemplates({ metadata }: ModelFile): Found {
  const fields = new Fields('metadata', metadata, 'tokenizer.');
  const templates: Texts = {};
  for (const name of fields.names()) {
    // "chat_template", or with a name of its own behind a dot.
    const found = /^chat_template(?:\.(.+))?$/.exec(name);
    if (found) templates[found[1] ?? 'default'] = fields.text(name);
  }
  const texts = metadata.get('tokenizer.ggml.tokens');
  const tokens: Texts = {};
  if (TextList.is(texts)) {
    for (const name of tokenNames) {
      const id = metadata.get(`tokenizer.ggml.${ggufNames[name] ?? name}_id`);
      if (typeof id === 'number' && Number.isInteger(id) && id >= 0 && id < texts.length)
        tokens[name] = texts.text(id) ?? '';
    }
  }
  return { templates, tokens };
}

/** One template, or a list of them, each with its name. */
function hubTemplates(fields: Fields): Texts {
  const field = 'chat_template';
  if (!fields.has(field)) return {};
  if (typeof fields.get(field) === 'string') return { default: fields.text(field) };
  const list = fields.list(field) ?? [];
  return Object.fromEntries(
    list.map((each, i) => {
      const one = Fields.of(`${fields.pathOf(field)}[${i}]`, each);
      return [one.text('name'), one.text('template')];
    }),
  );
}

/** Of tokenizer_config.json, where a token may be its text or an object with it. */
function hubTokens(fields: Fields): Texts {
  const tokens: Texts = {};
  for (const name of tokenNames) {
    const given = fields.get(name);
    if (given === undefined) continue;
    tokens[name] = isRecord(given)
      ? Fields.of(fields.pathOf(name), given).text('content')
      : fields.text(name);
  }
  return tokens;
}

/** Of our own files. */
function ownTemplates(file: ModelFile): Found {
  const saved = ownField(file, 'chatTemplates');
  const fields = Fields.of('chatTemplates', saved === undefined ? {} : saved);
  const textsIn = (name: string): Texts => {
    const part = fields.part(name);
    return Object.fromEntries(part?.names().map((each) => [each, part.text(each)]) ?? []);
  };
  return { templates: textsIn('templates'), tokens: textsIn('tokens') };
}

/** What the weights' own file says. */
function templatesIn(file: ModelFile): Found {
  if (file.format === 'gguf') return ggufTemplates(file);
  return file.metadata.get('format') === 'qkv' ? ownTemplates(file) : { templates: {}, tokens: {} };
}

/** What the files beside the weights say; those that are given go before what is in the weights' own. */
interface GivenTemplates {
  /** tokenizer_config.json, parsed. */
  readonly tokenizerConfig?: unknown;
  /** chat_template.jinja. */
  readonly chatTemplate?: string | undefined;
}

/** Undefined where the files say nothing of it. */
export function chatTemplatesOf(
  file: ModelFile,
  { tokenizerConfig, chatTemplate }: GivenTemplates,
  tokenizer: Tokenizer | undefined,
): ChatTemplates | undefined {
  if (tokenizerConfig !== undefined && !isRecord(tokenizerConfig))
    refuse(`tokenizerConfig is ${describe(tokenizerConfig)}`, 'tokenizer_config.json, parsed');
  const inside = templatesIn(file);
  const beside = tokenizerConfig && Fields.of('tokenizerConfig', tokenizerConfig);
  const templates = {
    ...inside.templates,
    ...(beside && hubTemplates(beside)),
    ...(chatTemplate !== undefined && { default: chatTemplate }),
  };
  const tokens = { ...inside.tokens, ...(beside && hubTokens(beside)) };
  if (Object.keys(templates).length + Object.keys(tokens).length === 0) return undefined;
  return Object.freeze({
    templates: Object.freeze(templates),
    tokens: Object.freeze(tokens),
    controls: Object.freeze([...(tokenizer?.controls ?? [])]),
  });
}

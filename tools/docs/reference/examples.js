// The example of a function's page: a program of a guide, or of functions.md, that calls it. Tests run these programs, so an
// example cannot go out of date.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ReflectionKind } from 'typedoc';
import { root } from '../../environment.js';
import { pages } from '../contents.js';
import { isEngine } from './rooms.js';

/** What makes a value of each type: a function, or what a program writes after another value. */
const makers = {
  Tensor: ['tensor'],
  KvCache: ['kvCache'],
  MultiHeadAttention: ['multiHeadAttention'],
  TransformerBlock: ['transformerBlock'],
  LinearLayer: ['linearLayer'],
  LanguageModel: ['load', 'create', 'loadModel'],
  LanguageModelMicroscope: ['load', 'create', 'loadModel'],
  Session: ['session', 'fork'],
  ModelCache: ['modelCache'],
  Generation: ['generate', 'chat'],
  Generations: ['generateAll'],
  Trainer: ['languageModel', 'seq2seq', 'from'],
  Tokenizer: ['charactersTokenizer', 'jsonTokenizer', 'llama2cTokenizer', 'huggingFaceTokenizer'],
  Parameters: ['parameters'],
  InWorkerHandle: ['tensor', 'kvCache', 'multiHeadAttention', 'loadModel'],
};
/** What a value is a part of: a program says `trainer.model.forward()`. */
const parts = {
  Tokenizer: ['tokenizer'],
  HuggingFaceTokenizer: ['tokenizer'],
  LogitModel: ['model'],
  TrainedModel: ['model'],
  Seq2Seq: ['model'],
  Parameters: ['parameters()'],
  LanguageModelTrainers: ['languageModel'],
  WorkerModels: ['models'],
  Activations: ['layers', 'activations'],
};

/** What a program hands to a function, which then calls its methods. */
const handedTo = { WorkerPort: 'serve', WorkerModels: 'serve' };

/** An asynchronous type stands for the type of the same name without the word. */
const plain = (name) => name.replace(/^Async/, '');
const escaped = (text) => text.replace(/[^\w]/g, '\\$&');

/** The variables of a program that the result of one of these functions is assigned to. */
function variablesOf(program, functions) {
  const made = new RegExp(
    `(?:const|let|using) (\\w+) = (?:await )?(?:\\w+\\.)*(?:${functions.join('|')})\\(`,
    'g',
  );
  return Array.from(program.matchAll(made), ([, name]) => name);
}

/** Whether a block of a program calls a function or a method. */
function calls({ code, program }, { name, kind, parent }) {
  const call = `${name}\\(`;
  if (kind === ReflectionKind.Function) return new RegExp(`(?<![\\w.])${call}`).test(code);
  const type = plain(parent.name);
  if (type in handedTo) return code.includes(`${handedTo[type]}(`);
  const engine = isEngine(parent) ? ['init'] : [];
  const names = variablesOf(program, [...engine, ...(makers[type] ?? ['-'])]).map(escaped);
  const own = (parts[type] ?? []).map((part) => `(?:\\w+\\.)*${escaped(part)}`);
  const values = [...names, ...own];
  return (
    values.length > 0 &&
    new RegExp(`(?<![\\w.])(?:${values.join('|')})\\??\\.${name}(?:\\?\\.)?\\(`).test(code)
  );
}

/** The blocks of code of a Markdown file: { language, code, prints, program, begins, title, url }. */
function blocksOf({ file, title, url }) {
  const text = readFileSync(join(root, file), 'utf8');
  const blocks = [];
  const heads = {};
  const programs = {}; // by language: blocks of another may stand between the parts of one
  for (const [, language, code] of text.matchAll(/^```(\w+)\n(.*?)^```$/gms)) {
    if (language === 'text' && blocks.length > 0) blocks.at(-1).prints ??= code;
    if (!/^(?:js|javascript|ts|typescript)$/.test(language)) continue;
    const begins = /^(?:\/\/.*\n)?import/.test(code);
    if (begins) heads[language] = code;
    const program = begins ? code : `${programs[language] ?? ''}${code}`;
    programs[language] = program;
    const shown = begins || url ? code : `${heads[language]}\n${code}`;
    blocks.push({ ...{ language, code, begins, program, shown, title, url } });
  }
  return blocks;
}

const functions = { file: 'tools/docs/functions.md' };
const guides = pages.filter(({ group, file }) => group === 'Guides' && !file.includes('zh-CN'));
const blocks = [functions, ...guides].flatMap(blocksOf);

const moduleOf = ({ parent }) =>
  parent.kindOf(ReflectionKind.Module) ? parent.name : parent.parent.name;
const imports = (program, module) => program.includes(`'${module}'`);

function find(reflection, module) {
  const calling = blocks.filter(
    (block) => imports(block.program, module) && calls(block, reflection),
  );
  // Guides first, whole programs before parts of one; the shortest is about little else.
  const order = ({ url, begins, code }) => (url ? 0 : 1e6) + (begins ? 0 : 1e5) + code.length;
  return calling.sort((a, b) => order(a) - order(b))[0];
}

/**
 * The example of a function or a method: { markdown, url, title, ofCaller }. `ofCaller` tells that it is one of the function of the
 * same name outside of a worker. Undefined where there is none.
 */
export function exampleOf(reflection) {
  const module = moduleOf(reflection);
  const isOfWorker = module === 'qkv/worker';
  // The engine of qkv/train has the functions of qkv, too.
  const others = isOfWorker ? ['qkv', 'qkv/models', 'qkv/train'] : ['qkv/train'];
  const [block, ofCaller] =
    [module, ...others]
      .map((name) => [find(reflection, name), isOfWorker && name !== module])
      .find(([one]) => one) ?? [];
  if (!block) return undefined;
  const { language, shown, prints, url, title } = block;
  const printed = prints ? `\n\`\`\`text\n${prints}\`\`\`\n` : '';
  return { markdown: `\`\`\`${language}\n${shown}\`\`\`\n${printed}`, url, title, ofCaller };
}

// What follows from wasm/bindings/schema.js and models/schema.js, train/schema.js and spectra/schema.js beside it: the C++ header that CMake has
// written (node tools/abi.js <file> <module>), the layouts that the bundler puts into the package for
// wasm/src/memory/abi.ts, and the methods of qkv/worker.
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as schemaFile from '../wasm/bindings/schema.js';
import * as modelsFile from '../wasm/bindings/models/schema.js';
import * as spectraFile from '../wasm/bindings/spectra/schema.js';
import * as trainFile from '../wasm/bindings/train/schema.js';

/**
 * The operators of several files, by numbers in this order: a schema is `groups`, `operators`, `otherMethods` and maybe
 * `headers`, as schema.js exports them.
 */
const join = (...files) => ({
  groups: Object.assign({}, ...files.map(({ groups }) => groups)),
  operators: Object.assign({}, ...files.map(({ operators }) => operators)),
  otherMethods: schemaFile.otherMethods,
  headers: files.flatMap(({ headers = [] }) => headers),
});

/** What every program has the layout of. */
export const baseSchema = schemaFile;

/** That of `qkv`: these, and language models. */
export const schema = join(schemaFile, modelsFile);

/** That of `qkv/train`: the operators of `qkv`, by the same numbers, and after them those that train. */
export const trainSchema = join(schemaFile, modelsFile, trainFile);

/** That of `qkv/spectra`, which has operators of its own alone. */
export const spectraSchema = join(spectraFile);

/** Each by the name of its files. */
const schemas = { qkv: schema, 'qkv-train': trainSchema, 'qkv-spectra': spectraSchema };

const snake = (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const pascal = (name) => name.replace(/(?:^|_)([a-z])/g, (_, letter) => letter.toUpperCase());

/** The plain kinds: the C++ type of each, and the letter that the writer of the package knows it by. */
const kinds = {
  floats: { type: 'Array<const float>', code: 'a' },
  ints: { type: 'Array<const std::int32_t>', code: 'a' },
  bytes: { type: 'Array<const std::uint8_t>', code: 'a' },
  results: { type: 'Array<float>', code: 'a' },
  number: { type: 'double', code: 'n' },
  'number?': { type: 'Maybe<double>', code: 'o' },
  whole: { type: 'Whole', code: 'n' },
  'whole?': { type: 'Maybe<Index>', code: 'o' },
  flag: { type: 'Flag', code: 'f' },
};

/** What a field is: its C++ type, and its code for the writer. `at` names it for messages. */
function meaning(field, groups, at) {
  if (typeof field === 'string' || 'kind' in field) {
    const known = kinds[field.kind ?? field];
    if (!known) throw new Error(`${at} is '${field.kind ?? field}', expected a kind of field`);
    return known;
  }
  if ('object' in field) return { type: `Object<${field.object}>`, code: 'n' };
  if ('choice' in field) {
    const values = field.choice.map((word) => `${field.of}::k${pascal(word)}`);
    const type = `<${field.of}, ${values.join(', ')}>`;
    // The first word is the one that no caller says.
    return field.optional
      ? { type: `MaybeChoice${type}`, code: ['', ...field.choice] }
      : { type: `Choice${type}`, code: field.choice };
  }
  if (!(field.group in groups))
    throw new Error(`${at} has the group '${field.group}', expected one of the schema`);
  const type = `${pascal(field.group)}Fields`;
  return field.optional
    ? { type: `Given<${type}>`, code: `?${field.group}` }
    : { type, code: `>${field.group}` };
}

/** The codes of the fields of each operator and group, which the writer walks. */
export function layoutOf({ groups, operators }) {
  const codes = (fields, of) =>
    Object.fromEntries(
      Object.entries(fields).map(([name, field]) => [
        name,
        meaning(field, groups, `${of}.${name}`).code,
      ]),
    );
  const all = (records, fieldsOf) =>
    Object.fromEntries(
      Object.entries(records).map(([name, record]) => [name, codes(fieldsOf(record), name)]),
    );
  return {
    groups: all(groups, (fields) => fields),
    operators: all(operators, ({ fields }) => fields),
  };
}

/** A hash of the header, so that a .wasm and a package that agree on it agree on every word. */
export const hashOf = (of) => createHash('sha256').update(bodyOf(of)).digest('hex').slice(0, 12);

/** What the bundler defines as QKV_ABI: the layouts of the base, and the hash of all that the .wasm has. */
export const abiOf = (of, base = of) => ({ hash: hashOf(of), ...layoutOf(base) });

/** What a part of a schema has besides the base, from its first operator on. */
function partOf(of, part) {
  const { groups, operators } = layoutOf(of);
  const own = (all, names) => Object.fromEntries(names.map((name) => [name, all[name]]));
  const names = Object.keys(part.operators);
  return {
    hash: hashOf(of),
    first: Object.keys(operators).indexOf(names[0]),
    groups: own(
      groups,
      Object.keys(groups).filter((name) => !(name in baseSchema.groups)),
    ),
    operators: own(operators, names),
  };
}

/** What the bundler defines as QKV_MODELS_ABI. */
export const modelsAbi = () => partOf(schema, modelsFile);

/** What it defines as QKV_TRAIN_ABI. */
export const trainAbi = () => partOf(trainSchema, trainFile);

/** What it defines as QKV_SPECTRA_ABI. */
export const spectraAbi = () => abiOf(spectraSchema);

/** The parameters of the methods that qkv/worker has, which the bundler defines as QKV_METHODS. */
export function methodsOf({ operators, otherMethods }) {
  const own = Object.values(operators).flatMap(({ method, parameters }) =>
    method ? [[method, parameters]] : [],
  );
  return { ...otherMethods, ...Object.fromEntries(own) };
}

/** What callers call each argument whose name in the core is another one. */
export function callerNames({ groups, operators }) {
  const names = new Map();
  const lists = [...Object.values(groups), ...Object.values(operators).map(({ fields }) => fields)];
  for (const [name, field] of lists.flatMap((fields) => Object.entries(fields))) {
    const [own, caller] = [snake(name), field.caller ?? name];
    const known = names.get(own) ?? caller;
    if (known !== caller)
      throw new Error(`${own} is called ${known} and ${caller}, expected one name`);
    names.set(own, caller);
  }
  return [...names].filter(([own, caller]) => own !== caller).sort(([a], [b]) => (a < b ? -1 : 1));
}

function structOf(name, fields, groups) {
  const lines = Object.entries(fields).map(
    ([field, what]) => `  ${meaning(what, groups, `${name}.${field}`).type} ${snake(field)};`,
  );
  return `struct ${pascal(name)}Fields {\n${lines.join('\n')}\n};\n`;
}

/** The header without its hash. */
function bodyOf(of) {
  const { groups, operators } = of;
  const names = Object.keys(operators);
  const lines = (make) => names.map((name) => make(name, `${pascal(name)}Fields`)).join('\n');
  return `${Object.entries(groups)
    .map(([name, fields]) => structOf(name, fields, groups))
    .join('\n')}
${Object.entries(operators)
  .map(([name, { fields }]) => structOf(name, fields, groups))
  .join('\n')}
/// The arguments of one call.
union Arguments {
${lines((name, type) => `  ${type} ${snake(name)};`)}
};

// Each reads its arguments and calls the core.
${lines((name, type) => `Status ${name}(const ${type}& given) noexcept;`)}

/// The operators, by the number that JavaScript calls them with.
inline constexpr Status (*kOperators[])(const Arguments&) noexcept = {
${lines((name) => `    [](const Arguments& given) noexcept { return ${name}(given.${snake(name)}); },`)}
};

/// Names of arguments in the core, in order, and what callers call them.
inline constexpr CallerName kCallerNames[] = {
${callerNames(of)
  .map(([own, caller]) => `    {"${own}", "${caller}"},`)
  .join('\n')}
};
`;
}

/** The header abi.hpp. */
export const headerOf = (
  of,
) => `// Made by tools/abi.js from the schema of the bindings; do not edit.
#pragma once

#include "fields.hpp"
#include "qkv/qkv.hpp"
${(of.headers ?? []).map((header) => `#include "${header}"\n`).join('')}
#define QKV_ABI_HASH "${hashOf(of)}"

namespace qkv::wasm {

${bodyOf(of)}
}  // namespace qkv::wasm
`;

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [file, module] = process.argv.slice(2);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, headerOf(schemas[module]));
}

// @build any
// The schema of the operators: what is made of it, and that an operator more needs no other place.
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { init } from 'qkv';
import { init as initTrain } from 'qkv/train';
import {
  abiOf,
  baseSchema,
  callerNames,
  hashOf,
  headerOf,
  layoutOf,
  methodsOf,
  modelsAbi,
  schema,
  trainAbi,
  trainSchema,
} from '../../../tools/abi.js';
import { toolchain } from '../../../tools/environment.js';
import { run } from '../../../tools/run.js';
import { packageJson, read, root } from '../../support/js/files.js';

/** The schema with one operator more, which has a field of every kind. */
const withScaled = () => ({
  ...schema,
  groups: { ...schema.groups, range: { least: 'number', most: 'number?' } },
  operators: {
    ...schema.operators,
    scaled: {
      method: 'scaled',
      parameters: ['x', 'factor', 'options'],
      fields: {
        x: 'floats',
        rowIds: { kind: 'ints', caller: 'rows' },
        mask: 'bytes',
        out: 'results',
        factor: 'number',
        offset: 'whole',
        stride: 'whole?',
        reversed: 'flag',
        mode: { choice: ['error', 'clamp'], of: 'OutOfRange' },
        range: { group: 'range' },
        limits: { group: 'range', optional: true },
        cache: { object: 'KvCache' },
      },
    },
  },
});

const user = `#include "abi.hpp"
namespace qkv::wasm {
Status scaled(const ScaledFields& given) noexcept {
  const TensorView<const float> x = given.x;
  const TensorView<const std::int32_t> rows = given.row_ids;
  const TensorView<const std::uint8_t> mask = given.mask;
  const TensorView<float> out = given.out;
  const Index offset = given.offset;
  const OutOfRange mode = given.mode;
  const bool any = given.reversed && given.limits.given && given.stride.get().has_value();
  const KvCache* cache = given.cache;
  const double sum = given.factor + given.range.least + given.limits.fields.most.get().value_or(0);
  return x.rank + rows.rank + mask.rank + out.rank + offset + sum > 0 && any && cache != nullptr &&
                 mode == OutOfRange::kClamp
             ? Status()
             : Status::error(StatusCode::kUnsupported, "scaled: %d", 1);
}
static_assert(sizeof(ScaledFields) == 4 * 24 + 4 * 8 + 8 + 2 * 8 + 3 * 8 + 8);
static_assert(sizeof(Arguments) >= sizeof(CreateBlockFields));
}  // namespace qkv::wasm
`;

test('schema: an operator more is a struct, a line of the table and a layout, and the header compiles', async (t) => {
  const more = withScaled();
  const header = headerOf(more);
  assert.match(header, /return scaled\(given\.scaled\);/);
  assert.deepEqual(layoutOf(more).operators.scaled, {
    ...{ x: 'a', rowIds: 'a', mask: 'a', out: 'a', factor: 'n', offset: 'n', stride: 'o' },
    ...{ reversed: 'f', mode: ['error', 'clamp'], range: '>range', limits: '?range', cache: 'n' },
  });
  assert.deepEqual(methodsOf(more).scaled, ['x', 'factor', 'options']);
  assert.deepEqual(
    callerNames(more).find(([own]) => own === 'row_ids'),
    ['row_ids', 'rows'],
  );
  const folder = mkdtempSync(join(tmpdir(), 'qkv-schema-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'abi.hpp'), header);
  writeFileSync(join(folder, 'user.cpp'), user);
  const includes = [folder, 'wasm/bindings', 'core/include'].flatMap((path) => ['-I', path]);
  const line = ['-std=c++20', '-fsyntax-only', '-Wall', '-Werror', ...includes];
  const { code, output } = await run(toolchain.CXX, [...line, join(folder, 'user.cpp')], {
    cwd: root,
  });
  assert.equal(code, 0, output);
});

test('schema: the hash tells a field that moved, and changes with nothing else', () => {
  const { operators } = schema;
  const { x, ...others } = operators.softmax.fields;
  const moved = { ...operators, softmax: { ...operators.softmax, fields: { ...others, x } } };
  assert.notEqual(hashOf({ ...schema, operators: moved }), hashOf(schema));
  assert.notEqual(hashOf(withScaled()), hashOf(schema));
  assert.equal(hashOf(structuredClone({ ...schema })), hashOf(schema));
  assert.equal(abiOf(schema).hash, hashOf(schema));
});

test('schema: every .wasm carries its hash', () => {
  for (const variant of ['simd', 'relaxed', 'simd-threads', 'relaxed-threads']) {
    // Not by WebAssembly.Module, which engines without relaxed SIMD refuse to make.
    const [kind, threads] = variant.split('-');
    const memory = threads ? 'shared' : 'single';
    for (const [module, of] of Object.entries({ qkv: schema, 'qkv-train': trainSchema })) {
      const mark = `${module} ${packageJson.version} ${kind} ${hashOf(of)} ${memory}`;
      assert.ok(read(`dist/${module}-${variant}.wasm`).includes(mark), mark);
    }
  }
});

test('schema: the methods of an engine are those of the schema', async () => {
  const others = ['info', 'memory', 'dispose'];
  const names = Object.keys(await init()).filter((name) => !others.includes(name));
  assert.deepEqual(names.sort(), Object.keys(methodsOf(schema)).sort());
});

/** Layouts of parts, put together again. */
function whole(base, parts) {
  const all = { groups: { ...base.groups }, operators: { ...base.operators } };
  for (const { first, groups, operators } of parts) {
    assert.equal(Object.keys(all.operators).length, first, 'the number of the first operator');
    Object.assign(all.groups, groups);
    Object.assign(all.operators, operators);
  }
  return all;
}

test('schema: what qkv/models and qkv/train have besides is the rest of what the .wasm has, by its numbers', () => {
  const base = abiOf(schema, baseSchema);
  const [models, train] = [modelsAbi(), trainAbi()];
  assert.deepEqual([models.hash, train.hash], [schema, trainSchema].map(hashOf));
  assert.equal(base.hash, models.hash);
  assert.deepEqual(whole(base, [models]), layoutOf(schema));
  assert.deepEqual(whole(base, [models, train]), layoutOf(trainSchema));
  for (const of of [schema, trainSchema]) {
    assert.deepEqual(
      Object.keys(of.operators).slice(0, Object.keys(base.operators).length),
      Object.keys(base.operators),
    );
  }
});

test('schema: the methods of qkv/train are those of qkv and its own operators', async () => {
  const { operators } = trainAbi();
  const [own, all] = [Object.keys(await init()), Object.keys(await initTrain())];
  const more = all.filter((name) => !own.includes(name));
  // Trainers are objects with operators of their own.
  const ofTrainers =
    /Trainer(Steps)?$|Array$|^(create|read)(LanguageModel|Seq2Seq)$|^(translate|reach)$/;
  const functions = Object.keys(operators).filter((name) => !ofTrainers.test(name));
  assert.deepEqual(more.sort(), [...functions, 'languageModel', 'seq2seq'].sort());
});

test('schema: a prompt is read in pieces of as many tokens as the core takes at once', () => {
  const headers = readdirSync(join(root, 'core/src'), { recursive: true });
  const found = (text, name) => new RegExp(`\\b${name} = (\\d+);`).exec(text)?.[1];
  const ofCore = headers
    .filter((file) => file.endsWith('.hpp'))
    .map((file) => found(read(`core/src/${file}`), 'kPieceTokens'))
    .filter(Boolean);
  assert.equal(ofCore.length, 1);
  assert.equal(found(read('wasm/src/models/generate.ts'), 'pieceTokens'), ofCore[0]);
});

test('schema: a kind, a group or a second name that makes no sense is refused', () => {
  const with1 = (fields) => ({ ...schema, operators: { odd: { fields } } });
  assert.throws(() => headerOf(with1({ x: 'float' })), /odd\.x is 'float', expected a kind/);
  assert.throws(() => layoutOf(with1({ x: { group: 'none' } })), /odd\.x has the group 'none'/);
  assert.throws(
    () => callerNames(with1({ additiveMask: 'floats' })),
    /additive_mask is called mask and additiveMask, expected one name/,
  );
});

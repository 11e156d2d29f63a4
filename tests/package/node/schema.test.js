// @build any
// The schema of the operators, and what is made of it.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { init } from 'qkv';
import { init as initSpectra } from 'qkv/spectra';
import { init as initTrain } from 'qkv/train';
import {
  abiOf,
  hashOf,
  methodsOf,
  schema,
  spectraSchema,
  trainAbi,
  trainSchema,
} from '../../../tools/abi.js';
import { packageJson, read, root, text } from '../../support/js/files.js';

test('schema: the hash tells a field that moved, and changes with nothing else', () => {
  const { operators } = schema;
  const { x, ...others } = operators.softmax.fields;
  const moved = { ...operators, softmax: { ...operators.softmax, fields: { ...others, x } } };
  assert.notEqual(hashOf({ ...schema, operators: moved }), hashOf(schema));
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

test('schema: the .wasm of spectra carries its hash, and the engine has its operators and no others', async () => {
  const mark = `qkv-spectra ${packageJson.version} simd ${hashOf(spectraSchema)} single`;
  assert.ok(read('dist/qkv-spectra-simd.wasm').includes(mark), mark);
  const spectra = await initSpectra();
  const others = ['info', 'memory', 'dispose'];
  const names = Object.keys(spectra).filter((name) => !others.includes(name));
  assert.deepEqual(names.sort(), Object.keys(spectraSchema.operators).sort());
  spectra.dispose();
});

test('schema: the methods of an engine are those of the schema', async () => {
  const others = ['info', 'memory', 'dispose'];
  const names = Object.keys(await init()).filter((name) => !others.includes(name));
  assert.deepEqual(names.sort(), Object.keys(methodsOf(schema)).sort());
});

test('schema: the methods of qkv/train are those of qkv and its own operators', async () => {
  const { operators } = trainAbi();
  const [own, all] = [Object.keys(await init()), Object.keys(await initTrain())];
  const more = all.filter((name) => !own.includes(name));
  // Trainers are objects with operators of their own.
  const ofTrainers =
    /Trainer(Steps)?$|Array$|^createFromModel$|^(create|read)(LanguageModel|Seq2Seq)$|^(translate|reach|differentiateLogit)$/;
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
  assert.equal(found(read('wasm/src/models/generation/prompt.ts'), 'pieceTokens'), ofCore[0]);
});

test('schema: every status code of the core is a QkvErrorCode, and only JavaScript adds three', () => {
  const header = text('core/include/qkv/status.hpp');
  const table = /#define QKV_STATUS_CODES\(X\)(.*?)\n\n/s.exec(header)[1];
  const ofCore = Array.from(table.matchAll(/X\(k\w+, "(\w+)", /g), ([, name]) => name);
  const union = /export type QkvErrorCode =(.*?);/s.exec(text('wasm/src/api/errors.ts'))[1];
  const ofPackage = Array.from(union.matchAll(/'(\w+)'/g), ([, name]) => name);
  assert.ok(ofCore.length >= 6 && ofCore[0] === 'ok', `codes: ${ofCore}`);
  assert.deepEqual(
    [...ofCore.slice(1), 'busy', 'disposed', 'load_failed'].sort(),
    ofPackage.sort(),
  );
});

// Writes fixtures/logits.json: what llama.cpp makes of the models of models.js. Run by hand, after `npm run bench:peers --
// models` has installed node-llama-cpp into build/peers:
//
//   node tests/reference/llama_cpp/make_fixtures.js
//
// Caches are float32 and attention is spelled out, so that nothing is rounded more than its kernels round.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../../tools/environment.js';
import { MAX_LENGTH, cases, file, tokens } from './models.js';

const peers = new URL('../../../build/peers/node_modules/', import.meta.url);
const folder = join(root, 'build/llama_cpp');

const { getLlama, LlamaLogLevel } = await import(new URL('node-llama-cpp/dist/index.js', peers));
const { default: about } = await import(new URL('node-llama-cpp/package.json', peers), {
  with: { type: 'json' },
});

const options = {
  ...{ contextSize: MAX_LENGTH, batchSize: MAX_LENGTH, threads: 1, flashAttention: false },
  ...{ experimentalKvCacheKeyType: 'F32', experimentalKvCacheValueType: 'F32' },
};

async function logitsOf(model) {
  const context = await model.createContext(options);
  const wanted = tokens.map((token) => [token, { generateNext: { logits: true } }]);
  const results = await context.getSequence().controlledEvaluate(wanted);
  await context.dispose();
  return results.flatMap(({ next }) =>
    Array.from({ length: next.logits.size }, (_, token) => next.logits.get(token)),
  );
}

/** The row that an encoder makes of all tokens. */
async function rowOf(model) {
  const context = await model.createEmbeddingContext({ contextSize: MAX_LENGTH, threads: 1 });
  const { vector } = await context.getEmbeddingFor(tokens);
  await context.dispose();
  return [...vector];
}

const llama = await getLlama({
  ...{ gpu: false, build: 'never', skipDownload: true, maxThreads: 1 },
  logLevel: LlamaLogLevel.error,
});
mkdirSync(folder, { recursive: true });
const results = [];
for (const each of cases) {
  const path = join(folder, `${each.family}-${each.format}.gguf`);
  writeFileSync(path, file(each));
  const model = await llama.loadModel({ modelPath: path, gpuLayers: 0 });
  const values = await (each.family.startsWith('bert') ? rowOf(model) : logitsOf(model));
  results.push({ ...each, values: values.map((x) => Number(x.toPrecision(7))) });
  await model.dispose();
  console.log(each.family, each.format);
}
rmSync(folder, { recursive: true });
const { release } = llama.llamaCppRelease;
const lines = results.map((result) => `  ${JSON.stringify(result)}`).join(',\n');
writeFileSync(
  new URL('fixtures/logits.json', import.meta.url),
  `{\n "versions": { "node-llama-cpp": "${about.version}", "llama.cpp": "${release}" },\n` +
    ` "tokens": ${JSON.stringify(tokens)},\n "cases": [\n${lines}\n ]\n}\n`,
);
// Its threads would keep the process.
process.exit(0);

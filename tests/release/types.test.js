// What compilers say of the declarations, as an installed package: the oldest TypeScript that is promised and
// the newest, which builds the package. One in between compiles tests/package/types (tools/suites.js).
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import ts from 'typescript';
import { oldestTypeScript } from '../../tools/shipped.js';
import { packageJson, root, text } from '../support/js/files.js';
import { inFullRun } from '../support/js/full.js';
import { installPacked } from './packed.js';
import { tool, versionOf } from './tools.js';

const compilers = {
  oldest: tool('typescript-oldest/bin/tsc'),
  newest: tool('typescript-newest/bin/tsc'),
};
const resolutions = { node16: 'node16', nodenext: 'nodenext', bundler: 'esnext' };
const libraries = { 'ES2022 alone': ['es2022'], 'ES2022 and DOM': ['es2022', 'dom'] };

/** Whatever a strict project may have switched on. */
const strict = {
  ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
  ...{ noImplicitOverride: true, noPropertyAccessFromIndexSignature: true },
  ...{ noImplicitReturns: true, noUnusedLocals: true, noUnusedParameters: true },
  ...{ verbatimModuleSyntax: true, isolatedModules: true },
  ...{ skipLibCheck: false, noEmit: true, types: [], target: 'es2022' },
};
/** The contract of types, and what the newest TypeScript, whose identity of types is another, can follow of it. */
const contract = readdirSync(join(root, 'tests/package/types')).filter((name) =>
  name.endsWith('.ts'),
);
const contracts = {
  oldest: contract,
  newest: contract.filter((name) => name !== 'worker-types.test-d.ts'),
};

let stranger;
before(async () => {
  stranger = await installPacked();
  for (const name of contract) stranger.write(name, text(`tests/package/types/${name}`));
});
after(() => stranger?.remove());

let configs = 0;

/** What a compiler says of programs, { name: text }, and of files beside them; nothing when all is well. */
async function compile(compiler, programs, compilerOptions, files = []) {
  const names = Object.entries(programs).map(([name, lines]) => {
    stranger.write(`${name}.ts`, `${lines.join('\n')}\n`);
    return `${name}.ts`;
  });
  const config = `config-${++configs}.json`;
  const options = { ...strict, ...compilerOptions };
  stranger.write(config, JSON.stringify({ compilerOptions: options, files: [...names, ...files] }));
  const line = [compilers[compiler], '-p', config, '--pretty', 'false'];
  return (await stranger.attempt(process.execPath, ...line)).output;
}

test('types: the oldest and the newest are what they are said to be', () => {
  assert.ok(versionOf('typescript-oldest').startsWith(`${oldestTypeScript}.`));
  for (const name of ['README.md', 'README.zh-CN.md']) {
    assert.ok(text(name).includes(`TypeScript ${oldestTypeScript}`), name);
  }
  const major = (version) => Number(version.split('.')[0]);
  const ours = packageJson.devDependencies.typescript;
  assert.ok(major(versionOf('typescript-newest')) >= major(ours));
});

/** What every entry with an engine exports. */
const ofEngines = `Alibi ArrayInput AttentionExtras AttentionOptions AttentionResult BlockOptions Destination DidYouMean
  Dropout EngineInfo Exactly GeluOptions InitOptions Integers KvCache LayerNormOptions LayerOptions
  LinearLayer LinearOptions MultiHeadAttention MultiHeadAttentionConfig MultiHeadAttentionWeights NdArray NdMask Nested NestedOf
  NewArray NormWeights OwnedArray OwnedNumbers Qkv QkvError QkvErrorCode ResultOf RmsNormOptions RotaryOptions Shape3 Shape4 ShapeOf
  SinusoidalOptions SoftmaxOptions Tensor TransformerBlock TransformerBlockConfig TransformerBlockWeights Unsaid Variant
  array init random toNested zeros`;
/** Types of models, of qkv/models, qkv/train and qkv/worker. */
const ofModels = `AdapterFiles Filled LanguageModelConfig LayerReadings Llama3Scaling LongRopeScaling ModelRotary Passing`;
/** Types of the passes of models that are told what to read, of all three as well. */
const ofReadings = `Activations Read ShapeAt Site Sweep`;
/** Types of what qkv/models does, which qkv/worker does too. */
const ofRunning = `${ofModels} ${ofReadings} Activated Alternative AttributeOptions Attribution Beam BeamOptions BlobOptions
  ChatMessage ChatOptions ChatPrompt ChatPromptOptions ChatTemplates ChatTurn Constraint ConstraintRule Contribution CreateOptions
  Edit EmbedOptions Embeddings EncodeOptions FetchInit FetchOptions FillMaskOptions FinishReason ForwardOptions GenerateAllOptions
  GenerateOptions Generation Generations Guess HeadScores HeadScoresOptions HubOptions HuggingFaceTokenizer Inspect JinjaTemplate
  KeptFile KeptFormat LanguageModel LanguageModelMicroscope LensOptions LoadOptions LossOptions ModelCache ModelCacheOptions
  ModelOutput Neighbour NormWeightsOptions OutputOf Progress RequestHeaders SampledOf SampledToken SamplingOptions ScoreOptions Scores
  Session SessionOf SessionOptions SessionShift Source SweepOptions SweepProgress TextProgress Token TokenLogits TokenOf TokenOfAll
  TokenPair TokenProbability Tokenizer TokenizerJson WeightFormat SavedTokenizer`;
/** Types of trainers, of qkv/train and qkv/worker. */
const ofTraining = `${ofModels} ${ofReadings} AdaptedMap AttributionPatchingOptions Batch EvaluationResult FineTuneOptions GradientRead
  GradientSite GradientsOptions LanguageBatch LanguageModelTrainers LearningRateSchedule LogitGradients LogitModel LoraOptions
  Parameters SaveOptions Seq2Seq Seq2SeqBatch Seq2SeqConfig StepResult TrainedForwardOptions TrainedInspect TrainedModel TrainedOutput
  TrainedOutputOf Trainer TrainerOptions TranslateOptions Translation SaveAdaptersOptions WrittenAdapters SavedTokenizer TokenPair Tokenizer
  TokenizerJson`;
const exported = {
  '.': ofEngines,
  './inline': ofEngines,
  './models': `${ofEngines.replace('init', '')} ${ofRunning} charactersTokenizer cosineSimilarity create huggingFaceTokenizer
    jsonTokenizer llama2cTokenizer load modelCache nearest sample`,
  './train': `${ofEngines} ${ofTraining} ActivationKind AttentionGradients AttentionNeeds CrossEntropy CrossEntropyOptions GateGradients
    GateKind GruBackwardOptions GruGradients GruOptions GruWeights LayerNormGradients LinearBackwardOptions LinearGradients
    RmsNormGradients SavedAttention TrainQkv`,
  './spectra': `ArrayInput Destination Eigenvalues EngineInfo InitOptions Integers NdArray NdMask Nested NestedOf NewArray OwnedArray
    OwnedNumbers PcaOptions PrincipalComponents ProductOptions ProjectedComponents QkvError QkvErrorCode ShapeOf
    SingularValueOptions SingularVectors Spectra SpectraInitOptions Tensor Variant array init random
    toNested zeros`,
  './constraints': `Constraint ConstraintRule JsonSchemaOptions QkvError QkvErrorCode jsonSchema regularExpression`,
  './worker': `${ofEngines} ${ofRunning} ${ofTraining} AsyncArrayInput AsyncAttentionOptions AsyncBlockOptions AsyncDestination AsyncEmbedOptions AsyncEngineInfo
    AsyncInitOptions AsyncKvCache AsyncLanguageModel AsyncLanguageModelTrainers AsyncLayerOptions AsyncLinearLayer AsyncMultiHeadAttention
    AsyncOptions AsyncParameters AsyncQkv AsyncScoreOptions AsyncSeq2Seq AsyncSession AsyncSweepOptions AsyncTensor AsyncTrainedModel
    AsyncTrainer AsyncTransformerBlock BatchSource CallOptions InWorker InWorkerHandle
    InWorkerOptions LoadModelOptions ModelSource OptionsInWorker PlaceOptions RunOptions RunReport RunResult WorkerModels WorkerPort serve`,
  './worker-host': '',
  './models-host': '',
  './train-host': '',
  './thread': '',
};

/** The entries with declarations, each with what it exports: symbols by name, as the compiler resolves them. */
function resolvedEntries() {
  const entries = Object.entries(packageJson.exports).filter(([, { types }]) => types);
  const paths = entries.map(([, { types }]) => join(stranger.project, 'node_modules/qkv', types));
  const options = { module: ts.ModuleKind.NodeNext, lib: ['lib.es2022.d.ts'], types: [] };
  const program = ts.createProgram(paths, options);
  const checker = program.getTypeChecker();
  const resolved = (symbol) =>
    symbol && symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  const exportsOf = (path) => {
    const module = checker.getSymbolAtLocation(program.getSourceFile(path));
    return checker.getExportsOfModule(module).map((each) => [each.name, resolved(each)]);
  };
  const symbolAt = (node) => resolved(checker.getSymbolAtLocation(node));
  const found = new Map(entries.map(([entry], i) => [entry, new Map(exportsOf(paths[i]))]));
  return { entries: found, symbolAt };
}

test('types: every entry exports these names and no other', () => {
  const { entries } = resolvedEntries();
  const found = [...entries].map(([entry, names]) => [entry, [...names.keys()].sort()]);
  assert.deepEqual(
    Object.fromEntries(found),
    Object.fromEntries(
      Object.entries(exported).map(([entry, names]) => [
        entry,
        [...new Set(names.match(/\w+/g) ?? [])].sort(),
      ]),
    ),
  );
});

test('types: what two entries export under one name is one thing, but for `init`, of which each has its own', () => {
  const meanings = new Map();
  for (const [entry, names] of resolvedEntries().entries) {
    for (const [name, symbol] of names) {
      const of = meanings.get(name) ?? new Map();
      meanings.set(name, of.set(symbol, [...(of.get(symbol) ?? []), entry]));
    }
  }
  const several = [...meanings].filter(([, of]) => of.size > 1);
  assert.deepEqual(
    several.map(([name, of]) => `${name}: ${[...of.values()].join(' | ')}`),
    ['init: .,./inline | ./train | ./spectra | ./worker'],
  );
});

/** Types that compute others, and those of the web where a program has them: nobody has to write them. */
const computing = `Layers ListOf NoOthers NoOthersIn Only Reading Requested Said Shown With
  WebBlob WebBytes WebModule WebResponse WebSignal WebUrl`;
/** What an entry takes that another makes. */
const madeElsewhere = { './train': 'LanguageModel' };

/** The types of this package that a declaration refers to. A member of a type, T['name'], is not T. */
function* typesIn(node, symbolAt) {
  if (ts.isIndexedAccessTypeNode(node)) return;
  if (ts.isTypeReferenceNode(node) || ts.isExpressionWithTypeArguments(node)) {
    const symbol = symbolAt(node.typeName ?? node.expression);
    const [declared] = symbol?.declarations ?? [];
    const isOurs = declared?.getSourceFile().fileName.includes('/node_modules/qkv/');
    if (isOurs && !(symbol.flags & ts.SymbolFlags.TypeParameter)) yield symbol;
  }
  const children = [];
  ts.forEachChild(node, (child) => void children.push(child));
  for (const child of children) yield* typesIn(child, symbolAt);
}

test('types: every type that the declarations of an entry name can be imported from it', () => {
  const { entries, symbolAt } = resolvedEntries();
  const absent = [];
  for (const [entry, names] of entries) {
    const known = new Set([...computing.split(/\s+/), madeElsewhere[entry]]);
    const exports = new Set(names.values());
    for (const [name, { declarations }] of names) {
      for (const symbol of declarations.flatMap((each) => [...typesIn(each, symbolAt)])) {
        if (!exports.has(symbol) && !known.has(symbol.name)) {
          absent.push(`${entry}: ${symbol.name} of ${name}`);
        }
      }
    }
  }
  assert.deepEqual(absent, []);
});

/** A program that has an engine of every entry. */
const everyEntry = [
  "import { init, zeros } from 'qkv';",
  ...['inline', 'train', 'worker'].map((name) => `import * as ${name} from 'qkv/${name}';`),
  "import { load } from 'qkv/models';",
  "import 'qkv/worker-host';",
  'const x = zeros([2, 2]);',
  'for (const engine of [await init(), await inline.init(), await train.init()]) {',
  '  using held = engine.tensor(x.shape, x.data);',
  '  const { weights } = engine.attention(x, held, x, { returnWeights: true });',
  "  using model = await load(engine, { weights: '/model.safetensors' });",
  '  model.forward([1]).logits.data.set(weights.data);',
  '}',
  'export const { output } = await (await worker.init()).attention(x, x, x);',
];
const importing = (...lines) => ["import { init } from 'qkv';", ...lines];

/** The lines of programs that a compiler refuses, each with the code of its error. */
const refused = (said) =>
  Array.from(
    said.matchAll(/^(.*)\.ts\((\d+),\d+\): error (TS\d+)/gm),
    ([, name, line, code]) => `${name} ${line} ${code}`,
  );

for (const compiler of Object.keys(compilers)) {
  describe(`types: with the ${compiler} TypeScript`, () => {
    const resolves = (moduleResolution, libraryName) =>
      test(`moduleResolution ${moduleResolution}, ${libraryName}`, async () => {
        const module = resolutions[moduleResolution];
        const options = { module, moduleResolution, lib: libraries[libraryName] };
        assert.equal(await compile(compiler, { everyEntry }, options), '');
      });
    // How modules are found and what the language brings along have nothing to do with each other.
    const [alone, withDom] = Object.keys(libraries);
    // The newest reads a program in a fifth of the time, so an everyday run takes it alone.
    const everyday = (register) =>
      compiler === 'newest'
        ? register()
        : inFullRun('more programs with the oldest TypeScript', register);
    everyday(() => resolves('bundler', alone));
    inFullRun(`every resolution with every library, ${compiler} TypeScript`, () => {
      resolves('node16', alone);
      resolves('node16', withDom);
      resolves('bundler', withDom);
      resolves('nodenext', alone);
    });

    test('the contract, with DOM: every source of a .wasm is taken, and nothing else', async () => {
      const sources = ["'/qkv.wasm'", "new URL('file:///')", 'new ArrayBuffer(8)', "fetch('/')"];
      const lines = [...sources, 'null'].map((source) => `void init({ wasm: ${source} });`);
      const options = { module: 'nodenext', lib: libraries[withDom] };
      const programs = { sources: importing(...lines) };
      const said = await compile(compiler, programs, options, contracts[compiler]);
      assert.deepEqual(refused(said), ['sources 6 TS2322'], said);
    });

    everyday(() => {
      test('for Node, without the types of a browser', async () => {
        const typeRoots = [join(root, 'node_modules/@types')];
        // The declarations of Node are checked by their own authors, with newer compilers.
        const options = { module: 'nodenext', lib: ['es2022'], types: ['node'], typeRoots };
        const ofNode = importing("void init({ wasm: new URL('file:///qkv.wasm') });");
        assert.equal(await compile(compiler, { ofNode }, { ...options, skipLibCheck: true }), '');
      });

      test('without DOM: what is wrong is refused, and undefined stands for what is left out', async () => {
        const wrong = importing(
          // With DOM a number passes: there a WebAssembly.Module is an interface without members.
          'void init({ wasm: 3 });',
          "void init({ variant: 'fast' });",
          'void init({ variant: undefined });',
          "void init({ variant: 'simd' });",
        );
        const options = { module: 'node16', lib: libraries[alone] };
        const said = await compile(compiler, { everyEntry, wrong }, options);
        assert.deepEqual(
          refused(said).map((place) => place.replace(/ TS\d+$/, '')),
          ['wrong 2', 'wrong 3'],
          said,
        );
        assert.match(said, /TS2322: Type '"fast"'/);
      });
    });
  });
}

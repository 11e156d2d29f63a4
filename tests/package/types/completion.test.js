// @build any
// What an editor offers where options are written, and what it says of one that is misspelt: for every function of every
// entry that takes options. TypeScript's language service is asked, as editors ask it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import ts from 'typescript';
import { complaints, placeOf, serviceOf } from './service.js';

/** What has functions, by entry; `functions` stands for those that the entry itself exports. */
const holders = {
  qkv: ['functions', 'Qkv', 'MultiHeadAttention', 'TransformerBlock', 'LinearLayer'],
  'qkv/models': ['functions', 'LanguageModel'],
  'qkv/train': ['functions', 'TrainQkv', 'Trainer<TrainedModel>', 'TrainedModel', 'Seq2Seq'],
  'qkv/spectra': ['functions', 'Spectra'],
  'qkv/constraints': ['functions'],
  'qkv/worker': [
    ...['functions', 'AsyncQkv', 'AsyncMultiHeadAttention', 'AsyncTransformerBlock'],
    ...['AsyncLinearLayer', 'AsyncLanguageModel', 'AsyncKvCache', 'AsyncTensor', 'AsyncSession'],
  ],
};
const all = Object.entries(holders).flatMap(([entry, types]) =>
  types.map((type) => ({ entry, type })),
);

/** How a program has each of them at hand. */
const heads = all.map(({ entry, type }, i) => {
  if (type === 'functions') return `import * as of${i} from '${entry}';`;
  const names = type.match(/\w+/g);
  const imported = names.map((name) => `${name} as ${name}${i}`).join(', ');
  const named = type.replace(/\w+/g, (name) => `${name}${i}`);
  return `import type { ${imported} } from '${entry}'; declare const of${i}: ${named};`;
});
const head = `${heads.join('\n')}\n`;

const isObject = (checker, type) =>
  !checker.isArrayLikeType(type) && type.getCallSignatures().length === 0;

/** Members of an options object, whatever the type parameters are. */
function namesOf(checker, type) {
  const parts = type.isUnion() ? type.types : [type];
  const objects = parts.filter(
    (part) =>
      !(part.flags & (ts.TypeFlags.Undefined | ts.TypeFlags.Null | ts.TypeFlags.StringLike)),
  );
  return objects.flatMap((part) =>
    checker.getPropertiesOfType(checker.getApparentType(part)).map(({ name }) => name),
  );
}

/** Every place for options: the function, how many arguments go before, and what may be written there. */
function placesOf(service) {
  const program = service.getProgram();
  const checker = program.getTypeChecker();
  const file = program.getSourceFile(placeOf('head.ts'));
  const symbols = checker.getSymbolsInScope(file, ts.SymbolFlags.Variable | ts.SymbolFlags.Alias);
  return all.flatMap(({ entry, type }, i) => {
    const symbol = symbols.find(({ name }) => name === `of${i}`);
    const whole = checker.getTypeOfSymbolAtLocation(symbol, file);
    return checker.getPropertiesOfType(whole).flatMap((method) => {
      const places = new Map();
      for (const signature of checker.getTypeOfSymbolAtLocation(method, file).getCallSignatures()) {
        signature.parameters.forEach((parameter, before) => {
          if (!/^(options|config|source)$/.test(parameter.name)) return;
          const given = checker.getTypeOfSymbolAtLocation(parameter, file);
          if (!isObject(checker, checker.getNonNullableType(given))) return;
          const after = signature.minArgumentCount - before - 1;
          const place = places.get(before) ?? { names: new Set(), after };
          for (const name of namesOf(checker, given)) place.names.add(name);
          places.set(before, place);
        });
      }
      return Array.from(places, ([before, { names, after }]) => ({
        title: `${entry}: ${type === 'functions' ? '' : `${type}.`}${method.name}`,
        call(written) {
          const others = (count) => Array(Math.max(count, 0)).fill('null!');
          return `of${i}.${method.name}(${[...others(before), written, ...others(after)]});`;
        },
        names: [...names].sort(),
      }));
    });
  });
}

const places = placesOf(serviceOf({ 'head.ts': head }));

/** What is offered at the bar in each of these calls. */
function offered(calls) {
  let text = head;
  const cursors = calls.map((call) => {
    const at = text.length + call.indexOf('|');
    text += `${call.replace('|', '')}\n`;
    return at;
  });
  const service = serviceOf({ 'offered.ts': text });
  return cursors.map((at) => {
    const found = service.getCompletionsAtPosition(placeOf('offered.ts'), at, {});
    const members = found?.isMemberCompletion ? found.entries : [];
    return members.map(({ name }) => name).sort();
  });
}

test('completion: the functions that take options are found', () => {
  const titles = places.map(({ title }) => title);
  for (const title of [
    ...['qkv: init', 'qkv: Qkv.attention', 'qkv: MultiHeadAttention.forward', 'qkv: Qkv.softmax'],
    ...[
      'qkv/models: load',
      'qkv/models: LanguageModel.generate',
      'qkv/models: LanguageModel.forward',
    ],
    ...['qkv/train: TrainQkv.languageModel', 'qkv/train: TrainQkv.attentionBackward'],
    ...['qkv/worker: AsyncQkv.attention', 'qkv/worker: AsyncLanguageModel.forward'],
  ]) {
    assert.ok(titles.includes(title), title);
  }
  const { names } = places.find(({ title }) => title === 'qkv: Qkv.attention');
  for (const name of ['numHeads', 'causal', 'returnWeights', 'out'])
    assert.ok(names.includes(name));
});

test('completion: with nothing written yet, every option is offered', () => {
  const found = offered(places.map(({ call }) => call('{ | }')));
  places.forEach(({ title, names }, i) => assert.deepEqual(found[i], names, title));
});

test('completion: after one option, the others are offered', () => {
  const several = places.filter(({ names }) => names.length > 1);
  const found = offered(several.map(({ call, names }) => call(`{ ${names[0]}: null!, | }`)));
  several.forEach(({ title, names }, i) => assert.deepEqual(found[i], names.slice(1), title));
});

test('completion: within `inspect`, `bias` and `dropout`, too', () => {
  const inside = (title, option) =>
    places.find((place) => place.title === title).call(`{ ${option}: { | } }`);
  const [inspect, dropout] = offered([
    inside('qkv/models: LanguageModel.forward', 'inspect'),
    inside('qkv: Qkv.attention', 'dropout'),
  ]);
  for (const name of ['layers', 'weights', 'logitLens']) assert.ok(inspect.includes(name), name);
  assert.deepEqual(dropout, ['rate', 'seed']);
});

test('completion: of an option that is misspelt, the compiler names the one that was meant', () => {
  // Two letters changed places, as fast fingers do, in the longest name: of short ones a compiler guesses another.
  const long = places.flatMap(({ title, call, names }) => {
    const name = [...names].sort((a, b) => b.length - a.length)[0];
    return name.length > 5 ? [{ title, call, name }] : [];
  });
  assert.ok(long.length > 30, `${long.length}`);
  const misspelt = (name) => name.replace(/(.)(.)$/, '$2$1').replace(/(.)\1$/, '$1');
  const lines = long.map(({ call, name }) => call(`{ ${misspelt(name)}: null! as object }`));
  const service = serviceOf({ 'misspelt.ts': `${head}${lines.join('\n')}` });
  const said = complaints(service, 'misspelt.ts');
  const first = head.split('\n').length;
  long.forEach(({ title, name }, i) => {
    const words = said.filter(({ line }) => line === first + i).map((one) => one.words);
    assert.match(words.join('\n'), new RegExp(`['"]${name}['"]`), `${title}: ${words.join('\n')}`);
  });
});

test('completion: hovering over a result shows its arrays, and extents have their number', () => {
  const service = serviceOf({
    'hover.ts': `import type { Qkv, NdArray } from 'qkv'; declare const qkv: Qkv, x: NdArray;
const result = qkv.attention(x, x, x, { returnWeights: true });
const [b, h, q, k]: readonly [number, number, number, number] = result.weights.shape;
`,
  });
  assert.deepEqual(complaints(service, 'hover.ts'), []);
  const program = service.getProgram();
  const at = program.getSourceFile(placeOf('hover.ts')).text.indexOf('result');
  const { displayParts } = service.getQuickInfoAtPosition(placeOf('hover.ts'), at);
  const shown = displayParts.map(({ text }) => text).join('');
  for (const part of ['output:', 'weights:']) assert.ok(shown.includes(part), shown);
  assert.doesNotMatch(shown, /Pick|never/, shown);
});

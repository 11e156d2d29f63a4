// What create(), load(), and the methods of models and sessions refuse.
import { zeros } from '../../../support/js/arrays.js';
import { checkpoint, checkpointConfig } from '../../../support/js/checkpoints.js';
import { kinds as models, rowsOf } from '../../../support/js/model-kinds.js';
import { randomWeights } from '../../../support/js/model-oracle.js';
import { create, load, sample } from 'qkv/models';
import {
  all,
  boolean,
  choice,
  made,
  noneOf,
  number,
  options,
  refusal,
  refused,
  required,
  shown,
  whole,
} from '../../node/bad-input/kinds.js';
import { modelConfig, modelConfigKinds } from '../../node/bad-input/model-config.js';
import {
  anyInteger,
  editKind,
  inspectKinds,
  listOf,
  readKind,
  rows,
  session,
  signal,
  tokenizer,
  tokens,
  wholes,
} from './kinds.js';

const invalid = 'invalid_argument';
const range = 'out_of_range';
const shapes = 'shape_mismatch';
const most = 2 ** 31 - 1;

const engineKind = (name) =>
  noneOf(name, invalid, [undefined, null, 3, {}, () => 1], 'one that init of qkv');
const optionKinds = (maxLength) => ({
  options: options('format', 'fromat'),
  'options.format': choice('f32', 'bf16', 'int8', 'f16', 'int4'),
  'options.maxLength': whole(1, maxLength, '1 to'),
});

// ---- create ----

const weights = randomWeights(modelConfig, 2);
const { 'layers.0.attention.wq': wq, ...lacking } = weights;

const createTable = {
  ...{ method: 'create', says: 'create' },
  base: ({ engine }) => ({ engine, config: modelConfig, weights, options: {} }),
  call: (_, { engine, config, weights: given, options: of }) =>
    create(engine, config, given, of).dispose(),
  kinds: {
    engine: engineKind,
    ...modelConfigKinds({
      'config.head': [refused(false, invalid, 'causal is true without head')],
      'config.tiedEmbeddings': [
        {
          ...refused(true, invalid, 'tiedEmbeddings is given'),
          with: { 'config.causal': false, 'config.head': false },
        },
      ],
      'config.postNorms': [
        { ...refused(true, invalid, 'postNorms'), with: { 'config.norm': 'post' } },
      ],
      'config.logitSoftcap': [refused(-1, range, 'logitSoftcap')],
    }),
    weights: (name) => [
      ...noneOf(
        name,
        invalid,
        [undefined, null, 3, 'x', () => 1],
        'an object with an array for each name',
      ),
      refused(lacking, invalid, 'weights have no layers.0.attention.wq', 'every'),
      refused({}, invalid, 'weights have no embedding', 'more', 'every array'),
      refused({ ...weights, extra: wq }, invalid, 'weights have extra', 'only the arrays'),
      refusal(
        'another shape',
        { ...weights, head: zeros([8, 6]) },
        ...[shapes, '["head"] is [8,6]', '[8,7]'],
      ),
      refusal(
        'another rank',
        { ...weights, 'norm.gamma': zeros([1, 8]) },
        ...[shapes, '["norm.gamma"] is [1,8]', '[8]'],
      ),
      refused({ ...weights, head: [1, 2] }, invalid, '["head"] is an array'),
      refused({ ...weights, head: undefined }, invalid, '["head"] is undefined'),
    ],
    ...optionKinds(6),
    'options.tokenizer': tokenizer,
  },
};

// ---- load ----

const sizes = { vocabulary: 12, numLayers: 1, dModel: 8, numHeads: 2, numKvHeads: 1 };
const file = checkpoint(checkpointConfig({ ...sizes, dFeedForward: 12, maxLength: 6 }));

/** A JSON file beside the weights. */
const beside = (file) => (name) =>
  noneOf(
    name.replace('source.', ''),
    invalid,
    [null, 3, true, () => 1],
    `an object, or the URL or path of ${file}`,
  );

/** Headers of requests; a function is asked for some. */
const headers = (name) => [
  ...noneOf(name, invalid, [null, 3, []], 'an object'),
  refused({ 'a b': 'c' }, invalid, `${name} has the name "a b"`),
  refused({ a: 3 }, invalid, `${name}['a']`),
];

/** Options of a cache. */
const inCache = (field, ...values) => ({
  [`options.cache.${field}`]: () => noneOf(`cache.${field}`, invalid, values),
});

const loadTable = {
  ...{ method: 'load', says: 'load', rejects: true },
  base: ({ engine }) => ({ engine, source: { weights: file }, options: {} }),
  async call(_, { engine, source, options: of }) {
    const model = await load(engine, source, of);
    model.dispose();
  },
  kinds: {
    engine: engineKind,
    // A text is an address.
    source: (name) =>
      required(options('weights', 'wieghts'))(name).filter(({ value }) => value !== 'x'),
    'source.config': beside('config.json'),
    'source.generation': beside('generation_config.json'),
    'source.pooling': beside('1_Pooling/config.json'),
    'source.tokenizerConfig': beside('tokenizer_config.json'),
    'source.chatTemplate': () =>
      noneOf(
        'chatTemplate',
        invalid,
        [null, 3, {}, [], new Uint8Array(3)],
        'the text of a template',
      ),
    'source.weights': (name) => [
      ...noneOf(
        name.replace('source.', ''),
        invalid,
        [undefined, null, 3, {}, new Float32Array(4), Promise.resolve(file)],
        'a URL, a Blob or an ArrayBuffer',
      ),
      refused([], invalid, 'weights is an empty list', 'at least one'),
      refused([file, 3], invalid, 'weights[1] is 3'),
    ],
    // A text is an address.
    'source.tokenizer': () =>
      tokenizer('tokenizer').filter(({ value }) => typeof value !== 'string'),
    'source.tokenizer.model': () => [
      ...[null, 3, 'x'].map((value) => refused(value, invalid, 'tokenizer is Object', 'or tokenizer.json')), // prettier-ignore
      refused({}, invalid, 'tokenizer has no model', 'tokenizer.json'),
    ],
    ...optionKinds(6),
    'options.head': boolean,
    'options.signal': signal,
    'options.onProgress': (name) => noneOf(name, invalid, [null, 3, {}], 'a function'),
    'options.headers': headers,
    'options.hub': options('host', 'hosts'),
    'options.hub.host': (name) => noneOf(name, invalid, [null, 3, 'x', 'ftp://x'], 'an address'),
    'options.hub.token': () =>
      [null, 3, '', 'a b'].map((value) => refused(value, invalid, 'hub.token', 'an access token')),
    'options.hub.headers': headers,
    'options.fetch': (name) => noneOf(name, invalid, [null, 3, {}], 'a function'),
    'options.tries': whole(0, 1000),
    'options.sha256': (name) => noneOf(name, invalid, [null, 3, 'x', []], '64 hexadecimal digits'),
    'options.cache': (name) => noneOf(name, invalid, [null, 3, 'x'], 'modelCache()'),
    ...inCache('name', null, 3, '', '../x'),
    ...inCache('folder', null, 3, ''),
    'options.cache.kind': () => choice('cache', 'opfs', 'folder')('cache.kind'),
    ...inCache('maxBytes', null, '3', 0, -1, NaN),
  },
};

// ---- a model ----

const config = models.llama;
const ids = rowsOf(config, 6);

/** Tokens, or a text, of which a model without a tokenizer makes nothing. */
const tokensOrText = (...more) =>
  all(
    (name) => tokens(...more)(name).filter(({ value }) => typeof value !== 'string'),
    ['', 'xyz'].map((text) => refused(text, invalid, 'has no tokenizer', 'tokens')),
  );

/** A method of a model of `config`, or with `of` of another one in the world. */
const method = (name, base, kinds, of = 'model') => ({
  ...{ method: `LanguageModel.${name}`, says: `LanguageModel.${name}` },
  base: () => base,
  call: (world, args) => world[of][name](...Object.keys(base).map((key) => args[key])),
  kinds,
});

const forwardTable = method(
  'forward',
  { ids, options: {} },
  {
    ids: tokensOrText(refused(rowsOf(config, 25), range, '25', '24')),
    options: options('keyLengths', 'keyLenghts'),
    'options.batch': all(anyInteger, [refused(4, shapes, 'ids has 6 elements', 'batch = 4')]),
    'options.rows': choice('all', 'last'),
    'options.hidden': boolean,
    'options.session': session(
      refused(
        made(({ small }) => small),
        range,
        '4',
      ),
    ),
    // Of a model without a table for them.
    'options.tokenTypes': wholes({ length: 6 }, refused(Array(6).fill(0), invalid, 'tokenTypes')),
    'options.keyLengths': wholes({ end: 7, length: 1 }),
    ...inspectKinds,
    'options.inspect.rows': rows,
    'options.read': readKind,
    'options.edit': editKind(),
    'options.plain': boolean,
  },
);

const sessionTable = {
  ...method(
    'session',
    { options: {} },
    {
      options: options('capacity', 'capactiy'),
      'options.batch': anyInteger,
      'options.capacity': whole(1, config.maxLength, '1 to'),
      'options.format': choice('f32', 'bf16', 'int8'),
      // Of a model without an encoder.
      'options.source': () => [
        refused([1, 2], invalid, 'source is an array', 'none: the model has no encoder'),
        refused('a', invalid, 'source is "a"', 'none: the model has no encoder'),
      ],
      // Bytes that are none are in session-moves.test.js.
      'options.from': (name) =>
        noneOf(
          name.replace('options.', ''),
          invalid,
          [null, 3, 'x', {}, new Float32Array(30)],
          'a Uint8Array',
        ),
      'options.shift': (name) => options('keep', 'kep')(name.replace('options.', '')),
      'options.shift.keep': (name) =>
        whole(0, config.maxLength - 1, '0 to')(name.replace('options.', '')),
      'options.plain': boolean,
      'options.read': () => [
        refused([], invalid, 'read is an array', 'none: the model has no encoder'),
        refused(3, invalid, 'read is 3', 'none: the model has no encoder'),
      ],
      'options.edit': () => [
        refused([], invalid, 'edit is an array', 'none: the model has no encoder'),
        refused(null, invalid, 'edit is null', 'none: the model has no encoder'),
      ],
    },
  ),
  call: ({ model }, { options: of }) => model.session(of).dispose(),
};

const seed = (name) => whole(0, Number.MAX_SAFE_INTEGER, '0 to')(name).filter(({ value }) => !(value > 2 ** 53 - 2)); // prettier-ignore

/** Each pass that chooses a token has one row. */
const readKindOfOne = (name) =>
  readKind(name).filter(({ says }) => !says.includes('1 to 6') && !says.includes('2 to'));

const tokenList = listOf(
  'an array of tokens',
  [[19], range, '@[0] is 19', '0 to 18'],
  [[0, -1], range, '@[1] is -1'],
  [[0.5], invalid, '@[0] is 0.5'],
);

const generateTable = {
  ...method(
    'generate',
    { prompt: ids, options: {} },
    {
      prompt: tokensOrText(refused(rowsOf(config, 25), range, 'prompt has 25 tokens', '24')),
      options: options('topK', 'topk'),
      'options.maxTokens': anyInteger,
      'options.temperature': number([-1, range, 'at least 0']),
      'options.topK': whole(0, most, '0 to'),
      'options.topP': number([0, range, '(0, 1]'], [1.1, range, '(0, 1]'], [-1, range, '(0, 1]']),
      'options.minP': number([-0.1, range, '[0, 1]'], [2, range, '[0, 1]']),
      'options.repetitionPenalty': number([0, range, 'above 0'], [-1, range, 'above 0']),
      'options.seed': seed,
      'options.stop': listOf(
        'an array of texts',
        [[''], invalid, '@ is an array'],
        [['x', 3], invalid, '@ is an array'],
      ),
      'options.stopTokens': tokenList,
      'options.frequencyPenalty': number(),
      'options.presencePenalty': number(),
      'options.logitBias': (name) => [
        ...noneOf(name, invalid, [null, 3, 'x', [], new Map()], 'a number for each token'),
        refused({ 19: 1 }, range, 'a token of logitBias is 19', '0 to 18'),
        refused({ 3: '1' }, invalid, 'logitBias[3] is "1"', 'finite'),
      ],
      'options.reuse': boolean,
      'options.banned': tokenList,
      'options.forced': tokenList,
      'options.mask': (name) => noneOf(name, invalid, [null, 3, [1]], 'a function'),
      'options.topLogprobs': whole(0, 19, '0 to 19'),
      'options.constraint': () => [
        refused({}, invalid, 'constraint is given and the model has no tokenizer'),
      ],
      'options.session': session(
        refused(
          made(({ wide }) => wide),
          range,
          'the batch of session',
        ),
        refused(
          made(({ small }) => small),
          range,
          'prompt has 6 tokens',
          '4',
        ),
      ),
      ...inspectKinds,
      'options.inspect': all(inspectKinds['options.inspect'], [
        refused({ rows: [0, 1] }, invalid, "the unknown key 'rows'"),
      ]),
      'options.read': readKindOfOne,
      'options.edit': editKind({ isOpen: true }),
      'options.signal': signal,
      'options.plain': boolean,
    },
  ),
  // What was begun draws a seed of its own, and does nothing before its loop.
  call({ model }, { prompt, options: of }) {
    model.generate(prompt, of);
  },
};

const sampleTable = {
  ...{ method: 'sample', says: 'sample' },
  base: ({ engine }) => ({ engine, logits: new Float32Array(40), options: {} }),
  call: (_, { engine, logits, options: of }) => sample(engine, logits, of),
  kinds: {
    engine: engineKind,
    logits: (name) => [
      ...noneOf(
        name,
        invalid,
        [undefined, null, 3, 'x', {}, [1, 2]],
        '{ data: Float32Array, shape }',
      ),
      refused(new Float32Array(0), shapes, 'logits is [0]', '[vocabulary]'),
      refused(zeros([2, 40]), shapes, 'logits is [2,40]', 'those of one token'),
    ],
    options: options('topK', 'topk'),
    'options.temperature': number([-1, range, 'at least 0']),
    'options.topK': whole(0, most, '0 to'),
    'options.topP': number([0, range, '(0, 1]'], [1.1, range, '(0, 1]'], [-1, range, '(0, 1]']),
    'options.minP': number([-0.1, range, '[0, 1]'], [2, range, '[0, 1]']),
    'options.repetitionPenalty': number([0, range, 'above 0'], [-1, range, 'above 0']),
    'options.frequencyPenalty': number(),
    'options.presencePenalty': number(),
    'options.seed': seed,
    'options.step': seed,
    'options.seen': wholes({ end: 40 }),
    'options.logitBias': (name) => [
      ...noneOf(name, invalid, [null, 3, 'x', [], new Map(), () => 1], 'a number for each token'),
      refused({ 40: 1 }, range, 'a token of logitBias is 40', '0 to 39'),
      ...['-1', '1e1', '', '0.5', 'a'].map((key) =>
        refused(
          { [key]: 1 },
          invalid,
          `a token of logitBias is ${JSON.stringify(key)}`,
          'a whole number',
        ),
      ),
      ...[undefined, null, '1', NaN, Infinity, 1e300].map((value) =>
        refused({ 3: value }, invalid, `logitBias[3] is ${shown(value)}`, 'finite'),
      ),
    ],
    'options.allowed': (name) => [
      ...noneOf(
        name,
        invalid,
        [null, 3, [1, 2], new Int32Array(2), new Float32Array(2)],
        'a Uint32Array of 2 words',
      ),
      ...[0, 1, 3].map((count) =>
        refused(
          new Uint32Array(count).fill(1),
          shapes,
          `allowed has ${count} words`,
          '2 for a vocabulary of 40',
        ),
      ),
    ],
    'options.topLogprobs': whole(0, 40, '0 to 40'),
  },
};

const lossTable = method(
  'loss',
  { ids, options: {} },
  {
    ids: tokensOrText(
      refused(rowsOf(config, 25), range, '25', '24'),
      refused([1], shapes, 'rows of 1 token', 'at least 2'),
    ),
    options: options('batch', 'batsh'),
    'options.batch': all(anyInteger, [refused(6, shapes, 'rows of 1 token', 'at least 2')]),
    'options.inspect': all(options('ablate', 'albate'), (name) =>
      noneOf(name, invalid, [0, ''], 'an object'),
    ),
    'options.inspect.ablate': inspectKinds['options.inspect.ablate'],
    'options.edit': editKind(),
    'options.plain': boolean,
  },
);

const watched = {
  'options.signal': signal,
  'options.onProgress': (name) => noneOf(name, invalid, [null, 3, {}], 'a function'),
};
const textsOf = (more) => (name) => [
  ...listOf(
    'an array of texts',
    [[[1], []], invalid, '@[1] has 0 elements', 'at least one token'],
    [[3], invalid, '@[0] is 3'],
    [[[0.5]], invalid, '@[0][0] is 0.5'],
    [[[1], [19]], range, '@[1]'],
    [['text'], invalid, '@[0] is "text"', 'no tokenizer'],
    [[rowsOf(models.bert, 25)], range, '@[0] has 25', '24'],
    ...more,
  )(name),
  refused(undefined, invalid, 'texts is undefined'),
  refused('text', invalid, 'texts is "text"'),
];

const embedMethod = method(
  'embed',
  { texts: [[1, 2, 3], [4]], options: {} },
  {
    texts: textsOf([]),
    options: options('pooling', 'polling'),
    'options.pooling': choice('mean', 'cls', 'last'),
    'options.normalize': boolean,
    'options.truncate': boolean,
    'options.plain': boolean,
    ...watched,
  },
  'encoder',
);
const embedTable = { ...embedMethod, rejects: true };

const scoreTable = {
  ...method(
    'score',
    { texts: [[1, 2, 3], [4]], options: {} },
    {
      texts: textsOf([[[['a', 'b']], invalid, '@[0] is two texts', 'no tokenizer']]),
      options: options('truncate', 'trunkate'),
      'options.truncate': boolean,
      'options.plain': boolean,
      ...watched,
    },
    'scorer',
  ),
  rejects: true,
};

const fillMaskTable = method(
  'fillMask',
  { text: [1, 2, 3], options: { mask: 2 } },
  {
    text: tokensOrText(
      refused(rowsOf(models.bert, 25), range, '25', '24'),
      refused([1, 3], invalid, 'text has no token 2'),
    ),
    options: all(options('top', 'topp'), [
      refused({}, invalid, 'mask is undefined and the tokenizer has none'),
    ]),
    'options.top': whole(1, 19, '1 to 19'),
    'options.mask': required(whole(0, 18, '0 to 18')),
  },
  'masked',
);

const truncateTable = {
  ...{ method: 'Session.truncate', says: 'Session.truncate' },
  base: () => ({ length: 0 }),
  call: ({ empty }, { length }) => empty.truncate(length),
  kinds: { length: required(whole(0, 0, '0 to 0')) },
};

const removeTable = {
  ...{ method: 'Session.remove', says: 'Session.remove' },
  base: () => ({ begin: 0, end: 0 }),
  call: ({ empty }, { begin, end }) => empty.remove(begin, end),
  kinds: { begin: required(whole(0, 0, '0 to 0')), end: required(whole(0, 0, '0 to 0')) },
};

/** Of a session alone. */
const ofSession = (name) => ({
  ...{ method: `Session.${name}`, says: `Session.${name}`, base: () => ({}) },
  call: ({ empty }) => empty[name](),
  kinds: {},
});

const saveTable = method('save', {}, {});

/** A session of another model, or one that has no room. */
const narrow = session(refused(made(({ small }) => small), range, '4')); // prettier-ignore
const inTokens = (names) =>
  Object.fromEntries(names.map((name) => [`options.${name}`, required(whole(0, 18, '0 to 18'))]));

const attributeTable = method(
  'attribute',
  { ids, options: { answer: 1 } },
  {
    ids: tokensOrText(refused(rowsOf(config, 25), range, '25', '24')),
    options: options('answer', 'anwser'),
    ...inTokens(['answer']),
    'options.instead': whole(0, 18, '0 to 18'),
    'options.row': whole(0, 5, '0 to 5'),
    'options.edit': editKind(),
    'options.session': narrow,
  },
);

const sweepTable = {
  ...method(
    'sweep',
    { options: { clean: ids, corrupt: ids.with(2, 4), answer: 1, instead: 2, site: 'neurons', layer: 0 } },
    {
      options: options('clean', 'cleen'),
      'options.clean': tokensOrText(refused(rowsOf(config, 25), range, '25', '24')),
      'options.corrupt': tokensOrText(refused(rowsOf(config, 5), shapes, 'corrupt has 5 tokens')),
      ...inTokens(['answer', 'instead']),
      'options.site': choice('residual', 'attention', 'feedForward', 'z', 'neurons'),
      'options.layer': required(whole(0, 1, '0 to 1')),
      'options.block': whole(1, config.dFeedForward, '1 to'),
      'options.with': all(
        ['dirty', ''].map((word) => refused(word, invalid, 'with is', "'clean' or 'zero'")),
        [0, null].map((value) => refused(value, invalid, 'with is', 'an object')),
        [refused({ zzzz: ids }, invalid, "with has the unknown key 'zzzz'", 'expected mean')],
      ),
      'options.with.mean': tokensOrText(refused(rowsOf(config, 25), range, '25', '24')),
      'options.edit': editKind(),
      ...watched,
    },
  ),
  rejects: true,
}; // prettier-ignore

const headScoresTable = method(
  'headScores',
  { options: {} },
  {
    options: options('tokens', 'tokns'),
    'options.text': (name) =>
      tokensOrText(refused([1], shapes, 'text has 1 token'))(name).filter(
        ({ value }) => value !== undefined,
      ),
    'options.tokens': whole(1, 12, '1 to 12'),
    'options.seed': whole(0, 2 ** 32 - 1, '0 to'),
  },
);

const normWeightsTable = method(
  'normWeights',
  { ids, options: { layer: 1 } },
  {
    ids: tokensOrText(refused(rowsOf(config, 25), range, '25', '24')),
    options: options('layer', 'laier'),
    'options.layer': required(whole(0, 1, '0 to 1')),
    'options.rows': rows,
    'options.session': narrow,
  },
);

const lensTable = method(
  'lens',
  { ids, options: {} },
  {
    ids: tokensOrText(refused(rowsOf(config, 25), range, '25', '24')),
    options: options('layers', 'laiers'),
    'options.top': whole(1, 19, '1 to 19'),
    'options.layers': inspectKinds['options.inspect.layers'],
    'options.edit': editKind(),
    'options.session': narrow,
  },
);

export const modelTables = [
  sampleTable,
  ...[attributeTable, sweepTable, headScoresTable, normWeightsTable, lensTable],
  ...[createTable, loadTable, forwardTable, sessionTable, generateTable, lossTable],
  ...[embedTable, scoreTable, fillMaskTable, saveTable, truncateTable, removeTable],
  ...[ofSession('fork'), ofSession('save')],
];

// node tests/reference/onnx/make_rules.js: writes rules/*.json, one file for each operator and opset: its rules,
// and for each rule the cases that prove it. definitions/ says what they are, support/ computes what they give.
// Results have ten digits, a hundred times more than the bounds beside them need, so that the last bit of a
// system's exp() does not show.
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import attention23 from './definitions/attention-23.js';
import attention24 from './definitions/attention-24.js';
import attention25 from './definitions/attention-25.js';
import { gelu20, softmax13 } from './definitions/elementwise.js';
import { layerNorm17, rmsNorm23 } from './definitions/norms.js';
import { rotary23 } from './definitions/rotary.js';
import { attention } from './support/attention.js';
import { gelu, norm, rotary, softmax } from './support/operators.js';

/** The reference of each operator. */
const references = {
  Attention: attention,
  RotaryEmbedding: rotary,
  RMSNormalization: norm,
  LayerNormalization: norm,
  Gelu: gelu,
  Softmax: softmax,
};

export const definitions = {
  'attention-23': attention23,
  'attention-24': attention24,
  'attention-25': attention25,
  'rotary_embedding-23': rotary23,
  'rms_normalization-23': rmsNorm23,
  'layer_normalization-17': layerNorm17,
  'gelu-20': gelu20,
  'softmax-13': softmax13,
};

/** Which outputs of Attention a case compares: those that its inputs and attributes ask for. */
function outputsOf({ attributes, inputs }) {
  const mode = attributes.qk_matmul_output_mode;
  return [
    'Y',
    ...(inputs.past_key ? ['present_key', 'present_value'] : []),
    ...(mode === undefined ? [] : ['qk_matmul_output']),
  ];
}

/** A case as the reference takes it. */
function exampleOf({ op, opset }, { attributes = {}, inputs, outputs, ...rest }) {
  const example = { ...rest, op, opset, attributes, inputs };
  return op === 'Attention' ? { ...example, outputs: outputs ?? outputsOf(example) } : example;
}

/** JSON has no infinities, and -0 is 0 in it. */
const words = new Map([
  [Infinity, 'inf'],
  [-Infinity, '-inf'],
]);
const digits = (count) => (x) => words.get(x) ?? (Number(x.toPrecision(count)) || 0);

/** Bounds of neighbours are mostly the same, so each number stands for as many elements as it can. */
function inBlocks(bound) {
  const rounded = bound.map((b) => Number((b * 1.005).toPrecision(3)));
  for (let size = rounded.length; size > 1; --size) {
    const whole = rounded.length % size === 0;
    if (whole && rounded.every((b, i) => b === rounded[i - (i % size)]))
      return rounded.filter((_, i) => i % size === 0);
  }
  return rounded;
}

const input = ({ data, ...array }) => ({ ...array, data: data.map(digits(17)) });

function output({ dtype, shape, data, bound }) {
  if (data.some(Number.isNaN)) throw new Error('NaN is no result of any rule');
  return { dtype, shape, data: data.map(digits(10)), bound: inBlocks(bound) };
}

const mapped = (object, f) =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [name, f(value)]));

function caseOf(file, definition) {
  const example = exampleOf(file, definition);
  const { refused, ...outputs } = references[file.op](example);
  const { name, attributes, inputs } = example;
  return {
    ...{ name, op: file.op, opset: file.opset, attributes, inputs: mapped(inputs, input) },
    ...(refused ? { refused } : { outputs: mapped(outputs, output) }),
  };
}

/** One line for each case; what is in a rule around them is for reading. */
function textOf({ op, opset, rules }) {
  const ruleText = ({ rule, text, section, cases }) => {
    const head = JSON.stringify({ rule, text, section }, null, 1).slice(0, -2);
    const lines = cases.map((c) => `  ${JSON.stringify(caseOf({ op, opset }, c))}`);
    return `${head},\n "cases": [\n${lines.join(',\n')}\n ]}`;
  };
  const by = 'tests/reference/onnx/make_rules.js';
  return (
    `{"op": "${op}", "opset": ${opset}, "made_by": "${by}", "rules": [\n` +
    `${rules.map(ruleText).join(',\n')}\n]}\n`
  );
}

/** The text of every file by its name. */
export const texts = () => mapped(definitions, textOf);

export const rulesUrl = new URL('rules/', import.meta.url);

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [name, text] of Object.entries(texts()))
    writeFileSync(new URL(`${name}.json`, rulesUrl), text);
}

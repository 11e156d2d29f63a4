// ONNX models, written as bytes at run time: the few messages of onnx.proto that a graph of a handful of
// nodes needs. Field numbers are those of https://github.com/onnx/onnx/blob/main/onnx/onnx.proto.

const text = new TextEncoder();

/** A varint of protobuf: seven bits a byte, the lowest first. */
function varint(value) {
  const bytes = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  while (rest > 127n) {
    bytes.push(Number(rest & 127n) | 128);
    rest >>= 7n;
  }
  bytes.push(Number(rest));
  return Uint8Array.from(bytes);
}

function concat(parts) {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

const whole = (field, value) => concat([varint(field << 3), varint(value)]);
const single = (field, value) =>
  concat([varint((field << 3) | 5), new Uint8Array(Float32Array.of(value).buffer)]);
function bytes(field, value) {
  const content = typeof value === 'string' ? text.encode(value) : value;
  return concat([varint((field << 3) | 2), varint(content.length), content]);
}

const elementType = { float: 1, uint8: 2, int8: 3, int32: 6, int64: 7 };

/** StringStringEntryProto */
const pair = ([key, value]) => concat([bytes(1, key), bytes(2, String(value))]);

/** TensorProto. The bytes of one with `external`, { location, offset, length }, are in another file. */
function tensor(name, { data, shape, type = 'float', external }) {
  const head = [
    ...shape.map((extent) => whole(1, extent)),
    whole(2, elementType[type]),
    bytes(8, name),
  ];
  if (external) {
    const entries = Object.entries(external).map((entry) => bytes(13, pair(entry)));
    return concat([...head, ...entries, whole(14, 1)]);
  }
  const raw =
    type === 'int64'
      ? new Uint8Array(BigInt64Array.from(data, BigInt).buffer)
      : new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  return concat([...head, bytes(9, raw)]);
}

/** AttributeProto. Whole numbers are ints and `{ float }` a float; strings and lists of ints as such. */
function attribute(name, value) {
  const kinds = {
    number: () => [whole(3, value), whole(20, 2)],
    string: () => [bytes(4, value), whole(20, 3)],
    object: () =>
      Array.isArray(value)
        ? [...value.map((item) => whole(8, item)), whole(20, 7)]
        : [single(2, value.float), whole(20, 1)],
  };
  return concat([bytes(1, name), ...kinds[typeof value]()]);
}

/** NodeProto from ['op' or 'domain:op', inputs, outputs, attributes]. */
function node([op, inputs, outputs, attributes = {}], index) {
  const [type, domain = ''] = op.split(':').reverse();
  return concat([
    ...inputs.map((name) => bytes(1, name)),
    ...outputs.map((name) => bytes(2, name)),
    bytes(3, `${type}_${index}`),
    bytes(4, type),
    ...Object.entries(attributes).map(([name, value]) => bytes(5, attribute(name, value))),
    bytes(7, domain),
  ]);
}

/** ValueInfoProto of a shape, or of { shape, type }; an extent that is not known before is a name. */
function value(name, about) {
  const { shape, type } = Array.isArray(about) ? { shape: about, type: 'float' } : about;
  const extent = (n) => bytes(1, typeof n === 'string' ? bytes(2, n) : whole(1, n));
  const extents = concat(shape.map(extent));
  const content = bytes(1, concat([whole(1, elementType[type]), bytes(2, extents)]));
  return concat([bytes(1, name), bytes(2, content)]);
}

/**
 * ModelProto with opset 23: `inputs` and `outputs` are { name: shape }, `constants` { name: { data, shape,
 * type } }, `nodes` a list of ['op' or 'domain:op', inputs, outputs, attributes].
 */
export function model({ inputs, outputs, constants = {}, nodes }) {
  const graph = concat([
    ...nodes.map((entry, index) => bytes(1, node(entry, index))),
    bytes(2, 'bench'),
    ...Object.entries(constants).map(([name, array]) => bytes(5, tensor(name, array))),
    ...Object.entries(inputs).map(([name, shape]) => bytes(11, value(name, shape))),
    ...Object.entries(outputs).map(([name, shape]) => bytes(12, value(name, shape))),
  ]);
  const opset = (domain, version) => bytes(8, concat([bytes(1, domain), whole(2, version)]));
  return concat([
    whole(1, 10),
    bytes(2, 'qkv-bench'),
    bytes(7, graph),
    opset('', 23),
    opset('com.microsoft', 1),
  ]);
}

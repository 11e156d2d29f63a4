// The arrays of a model from the rows that a reader hands on, in our layout.
import assert from 'node:assert/strict';
import { fromFloat16 } from '../../../support/js/half.js';
import { element } from './numbers.js';

const sizeOf = (shape) => shape.reduce((n, extent) => n * extent, 1);

/** The scale of an element of int8: of a block of 32 inputs. */
function scaleOf({ scales, scaleRowBytes, layout, type }, row, column) {
  if (type !== 'I8') return 1;
  const at =
    layout === 'in_out'
      ? Math.floor(row / 32) * scaleRowBytes + 2 * column
      : row * scaleRowBytes + 2 * Math.floor(column / 32);
  return fromFloat16(new DataView(scales.buffer, scales.byteOffset).getUint16(at, true));
}

/** { name: { shape, data } }, maps as [in, out]; every element was handed on just once. */
export async function collect(opened, options) {
  const arrays = new Map(
    opened.parameters.map(({ name, shape, kind }) => [
      name,
      { shape, kind, data: new Float32Array(sizeOf(shape)).fill(NaN), rows: 0 },
    ]),
  );
  const onRows = (rows) => {
    const { parameter, type, bytes, count, rowBytes, layout } = rows;
    const array = arrays.get(parameter.name);
    const [first, second] = array.kind === 'vector' ? [1, array.shape[0]] : array.shape;
    const isTurned = array.kind === 'map' && layout === 'out_in';
    const columns = isTurned ? first : second;
    if (layout === 'in_out' && array.kind === 'map' && array.rows + count < first)
      assert.equal(count % 32, 0);
    for (let r = 0; r < count; ++r) {
      for (let c = 0; c < columns; ++c) {
        const row = array.rows + r;
        const at = isTurned ? c * second + row : row * second + c;
        assert.ok(Number.isNaN(array.data[at]), `${parameter.name} has element ${at} twice`);
        const number = element(type, bytes.subarray(r * rowBytes), c) * scaleOf(rows, r, c);
        array.data[at] = (number + rows.plus) * rows.factor;
      }
    }
    array.rows += count;
  };
  await opened.stream(onRows, options);
  return Object.fromEntries(
    [...arrays].map(([name, { shape, data }]) => [name, { shape: [...shape], data }]),
  );
}

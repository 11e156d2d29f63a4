// @build each
// Gradients of adapters of low rank against PyTorch, whose results in float64 are in fixtures/adapters.json (make_adapter_fixtures.py).
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { create, load } from 'qkv/models';
import { init } from 'qkv/train';
import { expectClose } from '../../support/js/check.js';
import { u } from '../../support/js/oracle.js';
import { adaptedModels } from './support/models.js';
import { toArray } from './support/state.js';

const engine = await init();
after(() => engine.dispose());

/** Some two dozen products of about 20 terms, 32 at most, lie between a number of an adapter and the loss, and as many on the way back. */
const ROUNDINGS = 2 * 24 * 22;

/** A model whose weights lie in a format, which has room for each of these exactly. */
async function modelOf({ config, weights, format }) {
  const plain = create(engine, config, weights);
  if (!format) return plain;
  const bytes = plain.save();
  plain.dispose();
  return load(engine, { weights: new Blob([bytes]) }, { format });
}

for (const { rank, alpha, maps, ...c } of adaptedModels()) {
  const over = c.format ? ` over ${c.format}` : '';
  test(`torch languageModel.from: loss and gradients of adapters of ${c.name}${over}`, async () => {
    const model = await modelOf(c);
    const trainer = engine.languageModel.from(model, { lora: { rank, alpha, maps } });
    const parameters = trainer.parameters();
    assert.deepEqual([...parameters.names].sort(), Object.keys(c.adapters).sort());
    for (const each of parameters.names) parameters.set(each, toArray(c.adapters[each]));
    const { loss } = trainer.differentiate({
      ...{ ids: c.ids.flat(), targets: c.targets.flat(), batch: c.ids.length },
      ...{ tokenTypes: c.types?.flat(), keyLengths: c.lengths },
    });
    assert.ok(Math.abs(loss - c.loss) <= 20 * u * c.loss, `${loss}, expected ${c.loss}`);
    for (const each of parameters.names) {
      const { data } = c.gradients[each];
      const size = Math.max(...data.map(Math.abs));
      const quantity = 'torch gradients of adapters';
      expectClose(parameters.gradient(each).data, data, ROUNDINGS * u * size, {
        quantity,
        what: each,
      });
    }
    trainer.dispose();
    model.dispose();
  });
}

// PyTorch on one thread, where a python3 has it (Debian: python3-torch, with libopenblas0-pthread for the products, whose
// default is many times slower). It comes from no npm package, so where it is missing it takes no part, and the report says so.
import { adam, COMPARED } from '../train_model.js';

export function torch() {
  let python;

  const plain = (array) => ({ shape: array.shape, data: [...array.data] });

  return {
    async load() {
      const { torchProcess } = await import('../torch_process.js');
      const env = { ...process.env, OPENBLAS_NUM_THREADS: '1', OMP_NUM_THREADS: '1' };
      python = torchProcess('peers/torch_steps.py', { env });
      python.child.unref();
    },
    async prepare(entry, { ids, targets, weights }) {
      if (entry.op !== 'train') return [];
      const all = Object.entries(weights).map(([name, array]) => [name, plain(array)]);
      const { losses, version } = await python.ask({
        ...{ entry, adam, compared: COMPARED, weights: Object.fromEntries(all) },
        ...{ ids: [...ids], targets: [...targets] },
      });
      return [
        {
          way: `PyTorch ${version}, torch.optim.Adam`,
          run: () => python.ask({ milliseconds: 1 }),
          sample: async (milliseconds) => (await python.ask({ milliseconds })).ms,
          output: () => Float32Array.from(losses),
          close: () => python.child.kill(),
        },
      ];
    },
  };
}

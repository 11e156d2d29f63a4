// PyTorch on one thread, where a python3 has it (Debian: python3-torch, with libopenblas0-pthread for the products, whose
// default is many times slower). It comes from no npm package, so where it is missing it takes no part, and the report says so.
import { adam, COMPARED } from '../train_model.js';

const program = new URL('torch_steps.py', import.meta.url);

export function torch() {
  let child;
  let lines;

  /** One line to the process, and the one that it answers with. */
  async function ask(request) {
    child.stdin.write(`${JSON.stringify(request)}\n`);
    const { value, done } = await lines.next();
    if (done) throw new Error('no python3 here has torch');
    return JSON.parse(value);
  }

  const plain = (array) => ({ shape: array.shape, data: [...array.data] });

  return {
    async load() {
      const [{ spawn }, { createInterface }, { fileURLToPath }] = await Promise.all([
        import('node:child_process'),
        import('node:readline'),
        import('node:url'),
      ]);
      const env = { ...process.env, OPENBLAS_NUM_THREADS: '1', OMP_NUM_THREADS: '1' };
      child = spawn(process.env.QKV_PYTHON ?? 'python3', [fileURLToPath(program)], { env });
      child.on('error', () => {}); // the first answer is missing then
      child.stdin.on('error', () => {});
      child.unref();
      lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    },
    async prepare(entry, { ids, targets, weights }) {
      if (entry.op !== 'train') return [];
      const all = Object.entries(weights).map(([name, array]) => [name, plain(array)]);
      const { losses, version } = await ask({
        ...{ entry, adam, compared: COMPARED, weights: Object.fromEntries(all) },
        ...{ ids: [...ids], targets: [...targets] },
      });
      return [
        {
          way: `PyTorch ${version}, torch.optim.Adam`,
          run: () => ask({ milliseconds: 1 }),
          sample: async (milliseconds) => (await ask({ milliseconds })).ms,
          output: () => Float32Array.from(losses),
          close: () => child.kill(),
        },
      ];
    },
  };
}

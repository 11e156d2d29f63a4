// Ways to make a training step of train_model.js, each with a run() that makes one and an output() of the first losses.
import { adam, causalMask, COMPARED, lossOf, oneHot } from '../train_model.js';

/** `step()` makes a step and gives its loss, or a promise of it. */
export function stepsOf(way, step) {
  const losses = [];
  const run = async () => {
    const loss = await step();
    if (losses.length < COMPARED) losses.push(loss);
  };
  const output = async () => {
    while (losses.length < COMPARED) await run();
    return Float32Array.from(losses);
  };
  return { way, run, output };
}

/** This library: `library` is an engine of qkv/train. */
export function ownSteps(library, entry, { ids, targets, weights }) {
  const trainer = library.languageModel(
    {
      ...{ vocabulary: entry.vocabulary, numLayers: entry.layers, dModel: entry.model },
      ...{ numHeads: entry.heads, dFeedForward: entry.hidden, maxLength: entry.tokens },
      activation: 'relu',
    },
    {
      ...{ learningRate: adam.rate, betas: [adam.beta1, adam.beta2], epsilon: adam.epsilon },
      ...{ weightDecay: 0, clipNorm: 0 },
    },
  );
  const { names, set } = trainer.parameters();
  for (const name of names) set(name, weights[name]);
  const batch = { ids, targets, batch: entry.batch };
  const way = stepsOf('languageModel', () => trainer.step(batch).loss);
  return [{ ...way, close: () => trainer.dispose() }];
}

/** TensorFlow.js, whose optimizer it is. */
export function tfjsSteps(tf, entry, { ids, targets, weights }) {
  const tensor = ({ data, shape }) => tf.tensor(data, shape, 'float32');
  const constants = {
    x: tensor(oneHot(ids, entry.vocabulary)),
    y: tensor(oneHot(targets, entry.vocabulary)),
    mask: tensor(causalMask(entry.tokens)),
  };
  const variables = Object.fromEntries(
    Object.entries(weights).map(([name, array]) => [name, tf.variable(tensor(array))]),
  );
  const ops = {
    matMul: (a, b) => tf.matMul(a, b),
    turned: (a, b) => tf.matMul(a, b, false, true),
    scale: (a, factor) => tf.mul(a, factor),
    shift: (a, number) => tf.add(a, number),
    mean: (a) => tf.mean(a, -1, true),
    swap: (a) => tf.transpose(a, [0, 2, 1, 3]),
    total: (a) => tf.sum(a),
    ...{ add: tf.add, sub: tf.sub, mul: tf.mul, softmax: tf.softmax, rsqrt: tf.rsqrt },
    ...{ relu: tf.relu, reshape: tf.reshape, logSoftmax: tf.logSoftmax },
  };
  const optimizer = tf.train.adam(adam.rate, adam.beta1, adam.beta2, adam.epsilon);
  const list = Object.values(variables);
  return [
    stepsOf('tf.train.adam, tokens as one-hot rows', () => {
      const loss = optimizer.minimize(() => lossOf(ops, entry, variables, constants), true, list);
      const [value] = loss.dataSync();
      loss.dispose();
      return value;
    }),
  ];
}

/** jax-js: loss, gradients and Adam in one function under jit. */
export function jaxSteps(js, entry, { ids, targets, weights }) {
  const { numpy: np } = js;
  const array = ({ data, shape }) => np.array(data, { shape });
  // Every use takes an array away unless it is of a reference of its own.
  const ops = {
    matMul: (a, b) => np.matmul(a.ref, b.ref),
    turned: (a, b) => np.matmul(a.ref, np.transpose(b.ref, [0, 1, 3, 2])),
    add: (a, b) => a.ref.add(b.ref),
    sub: (a, b) => a.ref.sub(b.ref),
    mul: (a, b) => a.ref.mul(b.ref),
    scale: (a, factor) => a.ref.mul(factor),
    shift: (a, number) => a.ref.add(number),
    mean: (a) => np.mean(a.ref, -1, { keepdims: true }),
    rsqrt: (a) => np.reciprocal(np.sqrt(a.ref)),
    softmax: (a) => js.nn.softmax(a.ref),
    logSoftmax: (a) => js.nn.logSoftmax(a.ref),
    relu: (a) => js.nn.relu(a.ref),
    reshape: (a, shape) => a.ref.reshape(shape),
    swap: (a) => np.transpose(a.ref, [0, 2, 1, 3]),
    total: (a) => np.sum(a.ref),
  };
  const names = Object.keys(weights);
  const constants = {
    x: array(oneHot(ids, entry.vocabulary)),
    y: array(oneHot(targets, entry.vocabulary)),
    mask: array(causalMask(entry.tokens)),
  };
  const loss = (w, given) => lossOf(ops, entry, w, given);
  const compiled = js.jit((w, m, v, c1, c2, given) => {
    const [value, gradients] = js.valueAndGrad(loss)(js.tree.ref(w), given);
    const next = { w: {}, m: {}, v: {} };
    for (const name of names) {
      const g = gradients[name];
      const first = m[name].mul(adam.beta1).add(g.ref.mul(1 - adam.beta1));
      const second = v[name].mul(adam.beta2).add(g.ref.mul(g).mul(1 - adam.beta2));
      const size = np.sqrt(second.ref.mul(c2.ref)).add(adam.epsilon);
      next.w[name] = w[name].sub(first.ref.mul(c1.ref).div(size).mul(adam.rate));
      next.m[name] = first;
      next.v[name] = second;
    }
    return { value, ...next };
  });
  const each = (of) => Object.fromEntries(names.map((name) => [name, of(weights[name])]));
  let state = {
    w: each(array),
    m: each(({ shape }) => np.zeros(shape)),
    v: each(({ shape }) => np.zeros(shape)),
  };
  let steps = 0;
  return [
    stepsOf('jit(valueAndGrad), tokens as one-hot rows', async () => {
      steps += 1;
      const [c1, c2] = [adam.beta1, adam.beta2].map((beta) => np.array(1 / (1 - beta ** steps)));
      const { value, w, m, v } = compiled(
        state.w,
        state.m,
        state.v,
        c1,
        c2,
        js.tree.ref(constants),
      );
      state = { w, m, v };
      const [found] = await value.data();
      return found;
    }),
  ];
}

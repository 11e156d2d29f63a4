// The training. It hears messages between two steps, so that a page can stop it, and tells some of its losses at once.
import { init, random } from '../../dist/train.js';

const vocabulary = 24;
const length = 24;
const batch = 32;
const mostSteps = 1000;
const config = {
  vocabulary,
  numLayers: 2,
  dModel: 64,
  numHeads: 4,
  dFeedForward: 0, // attention alone
  maxLength: length,
};

/** A batch of rows that repeat 6 to 12 different tokens. A target of -1 does not count: nobody can know it. */
function rows(seed) {
  const { data } = random([batch, vocabulary], seed); // numbers from -1 to 1
  const ids = [];
  const targets = [];
  for (let row = 0; row < batch; row += 1) {
    const dice = data.subarray(row * vocabulary, (row + 1) * vocabulary);
    const tokens = Array.from(dice, (_, token) => token).sort((a, b) => dice[a] - dice[b]);
    const period = 6 + Math.min(6, Math.floor(3.5 * (dice[0] + 1)));
    for (let t = 0; t < length; t += 1) {
      ids.push(tokens[t % period]);
      targets.push(t + 1 < period ? -1 : tokens[(t + 1) % period]);
    }
  }
  return { ids, targets, batch };
}

let stopped = true;

/** Lets messages in. A timer would do, but browsers make those wait for 4 ms. */
const { port1, port2 } = new MessageChannel();
const messages = () =>
  new Promise((resolve) => {
    port1.onmessage = resolve;
    port2.postMessage(null);
  });

async function train({ seed }) {
  const qkv = await init({ deterministic: true }); // a seed gives the same weights on every machine
  const trainer = qkv.languageModel(config, { learningRate: 3e-3, deviation: 0.08, seed });
  const heldOut = rows(mostSteps + 1);
  postMessage({ even: Math.log(vocabulary) }); // the loss of one who knows nothing
  let ended = `ended after ${mostSteps} steps`;
  let losses = [];
  while (trainer.steps < mostSteps) {
    losses.push(trainer.step(rows(trainer.steps)).loss);
    await messages();
    if (stopped) ended = 'stopped';
    if (!stopped && losses.length < 10) continue;
    const { accuracy } = trainer.evaluate(heldOut);
    postMessage({ losses, accuracy });
    losses = [];
    if (accuracy >= 0.99) ended = 'learned';
    if (stopped || accuracy >= 0.99) break;
  }
  trainer.dispose();
  postMessage({ ended });
}

addEventListener('message', ({ data }) => {
  if (data.stop) stopped = true;
  if (!data.start || !stopped) return;
  stopped = false;
  train(data.start)
    .catch(({ message }) => postMessage({ error: message }))
    .finally(() => (stopped = true));
});

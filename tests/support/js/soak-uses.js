// What a round of a long run does with one model besides passes and plain generation: a conversation, answers side by side,
// sessions that are copied and restored, patches and attributions, and adapters that learn. The same calls serve models of this
// thread and models in workers; each function resolves to the number of its calls.

/** Writes messages one after the other, as most chat templates do: the template language is not what is tried here. */
class Messages {
  render({ messages }) {
    const written = messages.map(
      ({ role, content }) => `<|im_start|>${role}\n${content}<|im_end|>\n`,
    );
    return `${written.join('')}<|im_start|>assistant\n`;
  }
}

async function drain(tokens, most = Infinity) {
  let count = 0;
  for await (const _ of tokens) {
    count += 1;
    if (count === most) break;
  }
  return count;
}

/** A conversation of three turns in one session, whose beginning makes room; one answer is broken off. */
export async function converse(model, i) {
  const session = await model.session();
  const messages = [];
  let tokens = 0;
  for (let turn = 0; turn < 3; turn += 1) {
    messages.push({ role: 'user', content: `Round ${i}, turn ${turn}: what is attention?` });
    const options = { session, jinja: Messages, maxTokens: 12, temperature: 1, seed: i + turn };
    const answer = model.chat(messages, { ...options, logitBias: { 101: 2 }, topLogprobs: 3 });
    if (turn === 1) tokens += await drain(answer, 4);
    else messages.push({ role: 'assistant', content: await answer.text() });
  }
  const [copy, bytes] = [await session.fork(), await session.save()];
  const restored = await model.session({ from: bytes });
  await restored.remove(2, 5);
  const rest = { maxTokens: 4, temperature: 1, seed: i };
  tokens += await drain(model.generate('More', { ...rest, session: copy }));
  tokens += await drain(model.generate('More', { ...rest, session: restored }));
  for (const each of [session, copy, restored]) await each.dispose();
  return 7 + tokens;
}

/** Answers to several prompts in one pass, and the likeliest answers to one. */
export async function answerSeveral(model, i) {
  const options = { maxTokens: 6, temperature: 1, seed: i };
  const tokens = await drain(model.generateAll(['One', 'And two', 'Three'], options));
  await drain(model.generateAll(['One', 'Two'], options), 3);
  await model.beams('One', { beams: 3, maxTokens: 4 });
  return 2 + tokens;
}

/** Patches over all layers and tokens, one that is given up, attributions, scores and the lens. */
export async function patch(model) {
  const [clean, corrupt] = [
    [3, 1, 4, 1, 5, 9],
    [3, 1, 4, 2, 5, 9],
  ];
  const asked = { clean, corrupt, answer: 7, instead: 8 };
  for (const site of ['residual', 'z', 'attention']) await model.sweep({ ...asked, site });
  const stop = new AbortController();
  const onProgress = () => stop.abort();
  const ended = await model.sweep({ ...asked, site: 'z', signal: stop.signal, onProgress }).then(
    () => 'done',
    ({ name }) => name,
  );
  if (ended !== 'AbortError') throw new Error(`a sweep that was given up ended with ${ended}`);
  await model.attribute(clean, { answer: 7, instead: 8 });
  await model.forward(clean, {
    read: [{ site: 'scores' }, { site: 'neurons', layers: [1] }],
    edit: [{ site: 'z', layer: 0, head: 1, value: 0 }],
  });
  await model.headScores({ text: 'One, and two' });
  await model.lens(clean, { top: 3 });
  return 8;
}

const rows = { ids: [3, 1, 4, 1, 5, 9], targets: [1, 4, 1, 5, 9, -1], batch: 1 };

/** Adapters over a model: steps in pieces, a file from which a second trainer goes on, and the whole saved. */
export async function learnOn(engine, model, i) {
  const options = { lora: { rank: 2, maps: ['wq', 'wv', 'w2'] }, seed: i, learningRate: 1e-3 };
  const [one, other] = [
    await engine.languageModel.from(model, options),
    await engine.languageModel.from(model, options),
  ];
  for (let step = 0; step < 3; step += 1) await one.step(rows);
  await other.load(await one.save({ optimizer: true }));
  const [a, b] = [await one.step(rows), await other.step(rows)];
  if (a.loss !== b.loss) throw new Error('a trainer that was restored learned something else');
  await one.evaluate(rows);
  await one.save({ merged: true });
  await one.model.gradients(rows.ids, { answer: 3, read: [{ site: 'residual' }] });
  for (const each of [one, other]) await each.dispose();
  return 10;
}

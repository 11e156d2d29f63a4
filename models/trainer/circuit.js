// node models/trainer/circuit.js: which heads of models/names move the names and which mark the one who gives, by the tools of qkv/models.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { BEGIN, givingSentence, LANGUAGES, partsOf } from '../data/names.js';
import { randomOf } from '../recipes/random.js';

const SENTENCES = 200;
const SEED = 0x7ffffffe; // that of the sentences on the card
const rounded = (x) => Number(x.toFixed(3)) + 0;

/** Sentences up to the one who gets it, as tokens: A gets, B gives, C is not in it, `again` is the place of B's second mention. */
function questions(language, idOf) {
  const random = randomOf(SEED);
  const names = partsOf(language).names.map((name) => idOf(LANGUAGES[language].slot(name)));
  return Array.from({ length: SENTENCES }, (_, i) => {
    const { tokens, asked, gets, gives } = givingSentence(random, language);
    const ids = [BEGIN, ...tokens.slice(0, asked)].map(idOf);
    const [A, B] = [idOf(gets), idOf(gives)];
    const others = names.filter((name) => name !== A && name !== B);
    return { ids, A, B, C: others[i % others.length], again: ids.lastIndexOf(B) };
  });
}

const withToken = ({ ids, again }, id) => ids.map((own, t) => (t === again ? id : own));

/** The weight of every head from the last token on `key`, layer after layer. */
function weightsOn(model, ids, key) {
  const last = [ids.length - 1, ids.length];
  const { activations } = model.forward(ids, { read: [{ site: 'weights', rows: last }] });
  const { numLayers, numHeads } = model.config;
  return Array.from({ length: numLayers }, (_, layer) => {
    const { data } = activations.get('weights', layer);
    return Array.from({ length: numHeads }, (_, head) => data[head * ids.length + key]);
  }).flat();
}

/** What every head gives to a logit less another, layer after layer. */
const givenTo = (model, ids, answer, instead) =>
  model
    .attribute(ids, { answer, instead })
    .parts.filter(({ part }) => part === 'head')
    .map(({ value }) => value);

/** What is found of every head in one sentence. */
async function found(model, question) {
  const { ids, A, B, C, again } = question;
  const prompts = { clean: ids, corrupt: withToken(question, A), answer: A, instead: B };
  const { grid } = await model.sweep({ ...prompts, site: 'z' });
  return {
    restored: Array.from(grid.data),
    toGets: givenTo(model, ids, A, C),
    toGives: givenTo(model, ids, B, C),
    onGivesAgain: weightsOn(model, ids, again),
    onAnother: weightsOn(model, withToken(question, C), again),
  };
}

/**
 * Of every head, means over sentences: `restored` is the part of the difference of the logits of A and B that comes back when the head
 * alone is restored in the sentence in which A stands in the place of B's second mention; `toGets` and `toGives` are what it gives to the
 * logits of A and of B less that of a name that is not in the sentence; `onGivesAgain` is its weight from the last token on B's second
 * mention, `onAnother` on another name in that place. `copying` is that of headScores() over the names.
 */
async function circuitIn(model, language) {
  const { numHeads } = model.config;
  const idOf = (token) => model.tokenizer.encode(`${BEGIN}${token === BEGIN ? '' : token}`).at(-1);
  const sums = {};
  for (const question of questions(language, idOf)) {
    for (const [name, values] of Object.entries(await found(model, question))) {
      sums[name] ??= values.map(() => 0);
      values.forEach((value, i) => (sums[name][i] += value));
    }
  }
  const { names } = partsOf(language);
  const text = [BEGIN, ...names.map((name) => LANGUAGES[language].slot(name))].join('');
  const scores = model.headScores({ text });
  return Object.fromEntries(
    scores.map(({ copying }, i) => {
      const means = Object.entries(sums).map(([name, all]) => [name, rounded(all[i] / SENTENCES)]);
      const head = `${Math.floor(i / numHeads)}.${i % numHeads}`;
      return [head, { ...Object.fromEntries(means), copying: rounded(copying) }];
    }),
  );
}

/** What the card says of the circuit of a file. It takes the package as built. */
export async function circuitOf(bytes) {
  const [{ init }, { load }] = await Promise.all([import('qkv'), import('qkv/models')]);
  const engine = await init({ deterministic: true });
  const model = await load(engine, { weights: bytes }, { format: 'f32' });
  const scores = model.headScores();
  const circuit = { mostDuplicate: rounded(Math.max(...scores.map((each) => each.duplicate))) };
  for (const language of Object.keys(LANGUAGES)) {
    circuit[language] = await circuitIn(model, language);
  }
  engine.dispose();
  return circuit;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const file = new URL('../names/names.safetensors', import.meta.url);
  const { mostDuplicate, ...languages } = await circuitOf(readFileSync(file));
  console.log(`highest duplicate score over random tokens: ${mostDuplicate}`);
  for (const [language, heads] of Object.entries(languages)) {
    console.log(language);
    console.table(heads);
  }
}

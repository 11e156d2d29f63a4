// Quatrains of the Tang dynasty, character by character. What it says is held to the form, and how often it rhymes is told beside how
// often the quatrains do that no model was trained on.
import { archive as readings, endsOf, readRhymes } from '../data/rhyme.js';
import { archive, converter, hasForm, tangTexts } from '../data/tang.js';
import { sample } from '../trainer/sample.js';
import { randomOf } from './random.js';

const BATCH = 32;
/** A line break, four lines of seven and their marks; the line break at the end is a target alone. */
const LENGTH = 33;
const HELD_OUT_BATCH = 89;

const pad = (list, value) => [...list, ...Array(LENGTH - list.length).fill(value)];

/** Quatrains between line breaks; what is past the end of a short one does not count. */
function batchOf(rows) {
  const join = (row) => Int32Array.from(rows.flatMap(row));
  return {
    ids: join((ids) => pad(ids.subarray(0, -1), 0)),
    targets: join((ids) => pad(ids.subarray(1), -1)),
    batch: rows.length,
  };
}

async function data() {
  const { training, heldOut, tokenizer } = await tangTexts();
  const [rows, held] = [training, heldOut].map((texts) =>
    texts.map((text) => tokenizer.encode(`\n${text}\n`)),
  );
  return {
    tokenizer,
    training,
    heldOutTexts: heldOut,
    batches(seed, { batch = BATCH } = {}) {
      const random = randomOf(seed);
      return () => batchOf(Array.from({ length: batch }, () => rows[random.below(rows.length)]));
    },
    heldOut: Array.from({ length: Math.ceil(held.length / HELD_OUT_BATCH) }, (_, i) =>
      batchOf(held.slice(i * HELD_OUT_BATCH, (i + 1) * HELD_OUT_BATCH)),
    ),
  };
}

const SAMPLES = 1024;
const TOGETHER = 64;
const SHOWN = 12;

/** How many of its quatrains keep the form, rhyme, or have a couplet that was trained on. */
async function measure(trainer, { tokenizer, training, heldOutTexts }) {
  const texts = [];
  for (let seed = 0; seed < SAMPLES / TOGETHER; ++seed) {
    const how = { count: TOGETHER, most: 64, end: 0, temperature: 0.8, seed };
    const said = await sample(trainer, { ...how, prompt: tokenizer.encode('\n') });
    texts.push(...said.map((ids) => tokenizer.decode(ids)));
  }
  const pair = await readRhymes();
  const rhyme = (text) => pair(...endsOf(text));
  // The second line of one quatrain and the fourth of the next.
  const byChance = (text, i, all) => pair(endsOf(text)[0], endsOf(all[(i + 1) % all.length])[1]);
  const known = new Set(training.flatMap((text) => text.split(/(?<=。)/)));
  const copied = (text) => text.split(/(?<=。)/).some((couplet) => known.has(couplet));
  const formed = texts.filter(hasForm);
  const part = (list, test) => Number((list.filter(test).length / list.length).toFixed(3));
  const head = `The first ${SHOWN} of ${SAMPLES}; temperature 0.8, seed 0, int8 weights.`;
  return {
    figures: {
      samples: {
        ...{ count: SAMPLES, temperature: 0.8, keepTheForm: part(texts, hasForm) },
        ...{ rhyme: part(formed, rhyme), withACoupletOfTheData: part(formed, copied) },
      },
      rhymeOfTheData: {
        ...{ heldOut: part(heldOutTexts, rhyme), training: part(training, rhyme) },
        byChance: part(heldOutTexts, byChance),
      },
    },
    samples: `${[head, ...texts.slice(0, SHOWN)].join('\n')}\n`,
  };
}

export const tang = {
  about: 'the next character of Tang quatrains',
  archives: [archive, converter, readings],
  data,
  short: {
    batch: 8,
    sha256: { tang: '1f4b980acae631ca59c51d5966177ab0fea5404607e17de41da00e2e4abf0aef' },
  },
  measure,
  options: {
    learningRate: { peak: 3e-3, warmup: 200, steps: 6000, final: 1e-4 },
    ...{ betas: [0.9, 0.98], weightDecay: 0.1, deviation: 0.04 },
  },
  variants: {
    tang: {
      config: {
        ...{ vocabulary: 3966, numLayers: 3, dModel: 128, numHeads: 4, dFeedForward: 352 },
        ...{ maxLength: 64, normType: 'rms', activation: 'swiglu', positions: 'rotary' },
        tiedEmbeddings: true,
      },
      steps: 6000,
      expect: { lossAtMost: 5 },
    },
  },
};

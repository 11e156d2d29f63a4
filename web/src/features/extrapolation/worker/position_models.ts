import type { LanguageBatch, TrainedModel, Trainer, TrainQkv } from 'qkv/train';
import { largestAt } from '../../../domain/largest_at';
import { dice, type Dice } from '../../../domain/random_ints';
import {
  BLOCK,
  STEPS,
  TESTED,
  TESTED_EVERY,
  VOCABULARY,
  type Settings,
  type Tested,
  type Way,
} from '../shared/protocol';

const POSITIONS = ['learned', 'sinusoidal', 'rotary'] as const;
type Positions = (typeof POSITIONS)[number];

const [BATCH, TEST_ROWS, TEST_SEED] = [8, 8, 20_017];
const WIDTH = 32;

/** Random tokens; the answer at each is the one before it, at the first there is none. */
export function rowsOf(random: Dice, batch: number, length: number): LanguageBatch {
  const ids = Int32Array.from({ length: batch * length }, () => random.below(VOCABULARY));
  const targets = ids.map((_, i) => (i % length === 0 ? -1 : ids[i - 1]!));
  return { ids, targets, batch };
}

/** Which of the logits of a token is largest. */
const likeliest = (logits: Float32Array, at: number): number =>
  largestAt(logits.subarray(at * VOCABULARY, (at + 1) * VOCABULARY));

/** The share of right answers in each block of positions. */
function accuracyOf(model: TrainedModel, { ids, targets, batch }: LanguageBatch): number[] {
  const { logits } = model.forward(ids, { batch });
  const [right, tested] = [0, 1].map(() => new Array<number>(TESTED / BLOCK).fill(0));
  for (let i = 0; i < ids.length; i++) {
    const block = Math.floor((i % TESTED) / BLOCK);
    if (targets[i] === -1) continue;
    tested![block]! += 1;
    if (likeliest(logits.data, i) === targets[i]) right![block]! += 1;
  }
  return right!.map((count, block) => count / tested![block]!);
}

/** Does `work` while all positions from `trained` on have the row of the one before it. */
function clamped<Result>(
  trainer: Trainer<TrainedModel>,
  trained: number,
  work: () => Result,
): Result {
  const parameters = trainer.parameters();
  const table = parameters.value('positions');
  const data = Float32Array.from(table.data);
  const last = data.slice((trained - 1) * WIDTH, trained * WIDTH);
  for (let position = trained; position < TESTED; position++) data.set(last, position * WIDTH);
  parameters.set('positions', { data, shape: table.shape });
  try {
    return work();
  } finally {
    parameters.set('positions', table);
  }
}

/**
 * Three models of one layer that differ in their positions alone, trained on the same short rows to say the token before, and tested
 * on long ones. Yields what is known after every few steps.
 */
export function* positionModels(qkv: TrainQkv, settings: Settings): Generator<Tested> {
  const { seed, trained } = settings;
  const modelOf = (positions: Positions) =>
    qkv.languageModel(
      {
        ...{ vocabulary: VOCABULARY, maxLength: TESTED, dModel: WIDTH, numHeads: 2, numLayers: 1 },
        ...{ dFeedForward: 0, positions, causal: true },
      },
      {
        ...{ seed, deviation: 0.08, weightDecay: 0 },
        learningRate: { peak: 0.01, warmup: 10, steps: STEPS, final: 5e-4 },
      },
    );
  const models = { learned: modelOf('learned'), sinusoidal: modelOf('sinusoidal'), rotary: modelOf('rotary') }; // prettier-ignore
  try {
    const random = dice(seed);
    const test = rowsOf(dice(TEST_SEED), TEST_ROWS, TESTED);
    for (let step = 0; ; step++) {
      if (step % TESTED_EVERY === 0) yield { settings, step, ...testedOf(models, trained, test) };
      if (step === STEPS) return;
      const batch = rowsOf(random, BATCH, trained);
      for (const positions of POSITIONS) models[positions].step(batch);
    }
  } finally {
    for (const positions of POSITIONS) models[positions].dispose();
  }
}

/** What the models answer on the long rows, and how large they are. */
function testedOf(
  models: Readonly<Record<Positions, Trainer<TrainedModel>>>,
  trained: number,
  test: LanguageBatch,
): Pick<Tested, 'accuracy' | 'parameters'> {
  const { learned, sinusoidal, rotary } = models;
  const accuracy: Record<Way, readonly number[]> = {
    learned: accuracyOf(learned.model, test),
    clamped: clamped(learned, trained, () => accuracyOf(learned.model, test)),
    sinusoidal: accuracyOf(sinusoidal.model, test),
    rotary: accuracyOf(rotary.model, test),
  };
  const parameters = {
    learned: learned.parameterCount,
    sinusoidal: sinusoidal.parameterCount,
    rotary: rotary.parameterCount,
  };
  return { accuracy, parameters };
}

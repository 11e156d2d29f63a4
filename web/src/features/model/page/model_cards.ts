import austen from '../../../../../models/austen/card.json';
import austenLog from '../../../../../models/austen/austen.csv?raw';
import tang from '../../../../../models/tang/card.json';
import tangLog from '../../../../../models/tang/tang.csv?raw';
import { readLog, type TrainingLog } from './training_log';
import type { ShippedName } from '../shared/shipped_models';

/** What is known of a model that was trained before, out of its card and its log. */
export interface Card {
  readonly data: readonly { readonly name: string; readonly version: string }[];
  readonly bytes: number;
  readonly sha256: string;
  readonly parameters: number;
  readonly steps: number;
  readonly seconds: number;
  readonly seed: number;
  readonly commit: string;
  /** Mean nats per character of what it was not trained on. */
  readonly heldOut: number;
  /** The same of other models, by their names. */
  readonly baselines: readonly (readonly [name: string, loss: number])[];
  readonly log: TrainingLog;
}

type Model = (typeof austen.models)['austen'] | (typeof tang.models)['tang'];

function cardOf(
  { data }: typeof austen | typeof tang,
  { file, parameters, run, heldOut }: Model,
  csv: string,
  baselines: Card['baselines'] = [],
): Card {
  return {
    ...{ data, bytes: file.bytes, sha256: file.sha256, parameters },
    ...{ steps: run.steps, seconds: run.seconds, seed: run.seed, commit: run.commit },
    ...{ heldOut: heldOut.loss, baselines, log: readLog(csv) },
  };
}

export const CARDS: Readonly<Record<ShippedName, Card>> = {
  austen: cardOf(austen, austen.models.austen, austenLog, Object.entries(austen.baseline)),
  tang: cardOf(tang, tang.models.tang, tangLog),
};

import austen from '../../../../../models/austen/card.json';
import austenLog from '../../../../../models/austen/austen.csv?raw';
import names from '../../../../../models/names/card.json';
import namesLog from '../../../../../models/names/names.csv?raw';
import novels from '../../../../../models/novels/card.json';
import novelsLog from '../../../../../models/novels/novels.csv?raw';
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
  /** What its losses are means over. */
  readonly unit: 'character' | 'token';
  /** Mean nats per unit of what it was not trained on. */
  readonly heldOut: number;
  /** The same of other models, by their names. */
  readonly baselines: readonly (readonly [name: string, loss: number])[];
  /** What else was measured, in a sentence; null where nothing was. */
  readonly figures: {
    readonly text: 'model.names.figures' | 'model.novels.figures';
    readonly values: Readonly<Record<string, string>>;
  } | null;
  readonly log: TrainingLog;
}

interface Model {
  readonly file: { readonly bytes: number; readonly sha256: string };
  readonly parameters: number;
  readonly run: {
    readonly commit: string;
    readonly seed: number;
    readonly steps: number;
    readonly seconds: number;
  };
  readonly heldOut: { readonly loss: number };
}

type More = Partial<Pick<Card, 'data' | 'unit' | 'baselines' | 'figures'>>;

function cardOf({ file, parameters, run, heldOut }: Model, csv: string, more: More): Card {
  return {
    ...{ data: [], unit: 'character', baselines: [], figures: null },
    ...more,
    ...{ bytes: file.bytes, sha256: file.sha256, parameters },
    ...{ steps: run.steps, seconds: run.seconds, seed: run.seed, commit: run.commit },
    ...{ heldOut: heldOut.loss, log: readLog(csv) },
  };
}

/** The share of sentences, of both languages, in which the right one gets it. */
function shareOf(group: 'known' | 'templates' | 'places' | 'names'): string {
  const { english, chinese } = names.models.names;
  return ((100 * (english[group].accuracy + chinese[group].accuracy)) / 2).toFixed(0);
}

const namesFigures = {
  known: shareOf('known'),
  templates: shareOf('templates'),
  places: shareOf('places'),
  people: shareOf('names'),
};

/** A head with the largest score, "layer.head", and that score. */
function bestHead(score: 'previous' | 'induction'): { head: string; score: string } {
  const [first, ...others] = Object.entries(novels.models.novels.heads.scores);
  if (!first) throw new Error('the card has no heads');
  const best = others.reduce(
    (most, each) => (each[1][score] > most[1][score] ? each : most),
    first,
  );
  return { head: best[0], score: best[1][score].toFixed(2) };
}

function novelsFigures(): Readonly<Record<string, string>> {
  const { heads } = novels.models.novels;
  const [previous, induction] = [bestHead('previous'), bestHead('induction')];
  const { whole, withoutInduction } = heads.losses;
  return {
    ...{ previousHead: previous.head, previous: previous.score },
    ...{ inductionHead: induction.head, induction: induction.score },
    ...{ copies: whole.copies.toFixed(2), copiesWithout: withoutInduction.copies.toFixed(2) },
    ...{ text: whole.text.toFixed(2), textWithout: withoutInduction.text.toFixed(2) },
  };
}

export const CARDS: Readonly<Record<ShippedName, Card>> = {
  names: cardOf(names.models.names, namesLog, {
    ...{ unit: 'token', figures: { text: 'model.names.figures', values: namesFigures } },
  }),
  novels: cardOf(novels.models.novels, novelsLog, {
    ...{ data: novels.data, unit: 'token' },
    figures: { text: 'model.novels.figures', values: novelsFigures() },
  }),
  austen: cardOf(austen.models.austen, austenLog, {
    ...{ data: austen.data, baselines: Object.entries(austen.baseline) },
  }),
  tang: cardOf(tang.models.tang, tangLog, { data: tang.data }),
};

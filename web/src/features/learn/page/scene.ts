import type { State } from '../../../state/state';
import type { Settings } from '../shared/run_settings';
import type { Snapshot } from '../shared/protocol';
import type { Controlled } from './controls';
import { isHead } from './head_maps';
import type { RunGuess } from './run_guess';
import { shownOf, type RunRecord } from './run_record';
import type { Training } from './training_client';

/** Everything that the panel is drawn from. */
export interface Scene extends Controlled {
  readonly state: State;
  readonly look: number;
  readonly training: Training;
  readonly guess: RunGuess;
  /** What a live region says. */
  readonly said: string;
  /** Something else than state or training has changed. */
  readonly redraw: () => void;
}

/** What is shown of a moment of the run that trains. */
export interface Moment {
  /** Null before the first run. */
  readonly record: RunRecord | null;
  readonly snapshot: Snapshot | null;
  /** Of the run, or of the one that is to come. */
  readonly seen: Settings;
  /** The map that is enlarged: 8 times its layer plus its head. */
  readonly chosen: number | null;
}

export function momentOf({ state, settings, training }: Scene): Moment {
  const { current: record, looked } = training;
  const seen = record?.settings ?? settings;
  const { learnMap } = state;
  const chosen = learnMap !== null && isHead(seen, learnMap) ? learnMap : null;
  return { record, snapshot: record && shownOf(record, looked), seen, chosen };
}

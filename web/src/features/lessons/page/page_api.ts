import type { State } from '../../../state/state';
import type { TensorsOf, View } from '../../panel';

/** What an open lesson has to say about the page. */
export interface Hold {
  /** What of a change goes through: locked fields do not. */
  readonly allow: (patch: Partial<State>) => Partial<State>;
  /** The fragment of the lesson: in the place of that of the state. */
  readonly fragment: () => string;
  /** Panels that are computed though they are off the screen: exercises ask for their numbers. */
  readonly panels: ReadonlySet<string>;
}

/** The page as lessons see it. */
export interface Host {
  hold: Hold | null;
  /** Everything anew: the state that a step begins with. */
  begin(state: State): void;
  show(section: Element, visible: boolean): void;
  panelAdded(): void;
  view(): View;
  readonly settled: boolean;
  readonly client: { tensors: TensorsOf };
}

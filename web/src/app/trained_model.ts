import type { ModelHeads } from '../domain/sources';
import type { TokenList } from '../domain/tokenizer';
import {
  fileOfAddress,
  type FromModel,
  type ToModel,
  type TrainedText,
} from '../features/model/shared/protocol';
import { modelAsk } from '../features/model/state';
import {
  afterMessage,
  loadBegins,
  NO_MODEL,
  type ModelView,
} from '../features/model/shared/model_view';
import type { State } from '../state/state';

/** One list for ever: what draws tokens compares lists, and does nothing while it is the same. */
const NO_TOKENS: TokenList = { tokens: [], own: 0, total: 0, textCut: false };

/** What a load is called while nothing is known of it. */
function nameOf({ files }: Extract<ToModel, { kind: 'load' }>): string {
  if (files.kind === 'web') return fileOfAddress(files.url);
  return files.kind === 'files' ? files.files.map(({ name }) => name).join(', ') : files.name;
}

/** The trained model as the page knows it: nothing, until the reader asks for one. */
export class TrainedModel {
  readonly #send: (message: ToModel) => void;
  #view: ModelView = NO_MODEL;
  /** The last request, and whether all of it is answered. */
  #requested = '';
  #waiting = false;

  constructor(send: (message: ToModel) => void) {
    this.#send = send;
  }

  get view(): ModelView {
    return this.#view;
  }

  /** Whether everything that was requested is answered; what goes on by itself, as writing, does not count. */
  get atRest(): boolean {
    return !this.#waiting && this.#view.loading === null;
  }

  /** Passes on what a panel says to the model. */
  tell(message: ToModel, state: State): void {
    if (message.kind === 'load') {
      this.#view = loadBegins(this.#view, nameOf(message));
      this.#ask(state);
    }
    this.#send(message);
  }

  /** Asks what the state shows of a model that is there. */
  follow(state: State): void {
    if (this.#view.info) this.#ask(state);
  }

  #ask(state: State): void {
    const ask = modelAsk(state);
    const written = JSON.stringify(ask);
    if (written === this.#requested) return;
    this.#requested = written;
    this.#waiting = this.#view.info !== null;
    this.#send({ kind: 'ask', ask });
  }

  /** Takes in a message of the worker. */
  receive(message: FromModel): void {
    if (message.kind === 'answered') this.#waiting = false;
    // What would hear the ask may not have come at all: the next load asks again.
    if (message.kind === 'refused' && !this.#view.info) this.#requested = '';
    if (message.kind === 'loaded') this.#waiting = true; // it answers the latest ask by itself
    this.#view = afterMessage(this.#view, message);
  }

  /** The worker is gone, and the model with it. */
  lose(): void {
    this.#view = NO_MODEL;
    this.#requested = '';
    this.#waiting = false;
  }

  // ---- as a source of the other panels ----

  get heads(): ModelHeads | null {
    const { info } = this.#view;
    return info?.notDrawn === null ? { layers: info.numLayers, perLayer: info.numHeads } : null;
  }

  /** The tokens that the other panels show: none while there is no model that they can draw. */
  get tokens(): TokenList {
    const { info, answers } = this.#view;
    const labels = info?.notDrawn === null ? answers.reading?.labels : undefined;
    if (!labels) return NO_TOKENS;
    return { tokens: labels, own: labels.length, total: labels.length, textCut: false };
  }

  get text(): TrainedText | null {
    const { info, answers } = this.#view;
    return info?.notDrawn === null && answers.reading
      ? { model: info.id, ids: answers.reading.ids }
      : null;
  }

  /** Its own mask: which keys a query may read is part of what it has learned with. */
  get mask(): 'causal' | 'none' {
    return this.#view.info?.causal === false ? 'none' : 'causal';
  }
}

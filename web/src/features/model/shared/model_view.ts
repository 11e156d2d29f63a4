import type { Failure } from '../../../domain/failure';
import { NO_MICROSCOPE, type Microscope } from '../../microscope/shared/protocol';
import type {
  Answers,
  Contexts,
  FromModel,
  Generated,
  HeadChanges,
  KeptFiles,
  ModelInfo,
  Speed,
  Work,
} from './protocol';

/** What the page knows of the trained model: its worker's latest words. */
export interface ModelView {
  /** What is being loaded: one of the page's models, or the reader's own. */
  readonly loading: {
    readonly what: string;
    readonly loaded: number;
    readonly total: number;
  } | null;
  /** Why the last load came to nothing. */
  readonly refused: { readonly what: string; readonly failure: Failure } | null;
  readonly info: ModelInfo | null;
  /** The reader's files that are kept; null until they are requested. */
  readonly kept: KeptFiles | null;
  readonly answers: Partial<Answers>;
  readonly generated: Generated | null;
  readonly speed: Speed | null;
  readonly changes: HeadChanges | null;
  readonly contexts: Contexts | null;
  readonly microscope: Microscope;
  /** What could not be done with the loaded model. */
  readonly failed: Failure | null;
}

export const NO_MODEL: ModelView = {
  ...{ loading: null, refused: null, info: null, kept: null, answers: {} },
  ...{ generated: null, speed: null, changes: null, contexts: null, failed: null },
  microscope: NO_MICROSCOPE,
};

export function loadBegins(view: ModelView, what: string): ModelView {
  return { ...view, refused: null, loading: { what, loaded: 0, total: 0 } };
}

/** The view in which one kind of work is under way no more; what it has reported stays. */
function stopped(view: ModelView, work: Work): ModelView {
  const before = work === 'answers' || work === 'contexts' ? null : view[work];
  return before ? { ...view, [work]: { ...before, running: false } } : view;
}

/** The view after a message of the worker. */
export function afterMessage(view: ModelView, message: FromModel): ModelView {
  switch (message.kind) {
    case 'progress': {
      const { loaded, total } = message;
      return view.loading ? { ...view, loading: { ...view.loading, loaded, total } } : view;
    }
    case 'loaded':
      return { ...NO_MODEL, kept: view.kept, info: message.info };
    case 'kept':
      return { ...view, kept: message.kept };
    case 'refused': {
      const { loading } = view;
      if (!loading) return view;
      return { ...view, loading: null, refused: { what: loading.what, failure: message.failure } };
    }
    case 'answered':
      return view;
    case 'aborted':
      return { ...view, loading: null };
    case 'answers':
      return { ...view, failed: null, answers: { ...view.answers, ...message.news } };
    case 'generated':
      return { ...view, failed: null, generated: message.generated };
    case 'changes':
      return { ...view, changes: message.changes };
    case 'contexts':
      return { ...view, failed: null, contexts: message.contexts };
    case 'microscope':
      return { ...view, microscope: { ...view.microscope, ...message.news } };
    case 'speed':
      return { ...view, speed: message.speed };
    case 'failed':
      return { ...stopped(view, message.of), failed: message.failure };
  }
}

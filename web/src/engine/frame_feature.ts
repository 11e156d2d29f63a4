import type { Qkv } from 'qkv';
import type { LayerRequest } from '../domain/layer';
import type { ViewRequest } from '../domain/view';
import type { FullLayer } from './full_layer';
import type { Heads } from './head_list';
import type { StageLog } from './memo';
import type { RowData } from '../domain/row_data';
import type { Picture } from './paint';
import type { PaintPalette } from '../domain/paint_palette';

/** What a feature computes with: made once for each engine. */
export interface Workbench {
  readonly qkv: Qkv;
  /** For its stages, so that the frame can tell which of them ran. */
  readonly log: StageLog;
  /** All heads of a model as one layer. */
  readonly whole: FullLayer;
}

/** The layer that a frame is about, its heads ready to run. */
export interface Scene {
  readonly heads: Heads;
  readonly layer: LayerRequest;
  readonly view: ViewRequest;
  /** The row of the selected query; null without tokens. */
  readonly query: RowData | null;
}

/** A canvas of a feature: what of its result is on it, and how that is painted. It is painted again when `of` is another. */
export interface FeaturePicture<Result> {
  readonly of: (result: Result) => object;
  readonly picture: (result: Result, palette: PaintPalette) => Picture;
}

/** What goes on after the frame, in small steps, and is reported as it becomes known. */
export interface FeatureStudy<Request, Result, Question, Study> {
  /** Null: nothing to study. The same question again is not begun again. */
  readonly question: (request: Request, result: Result | null) => Question | null;
  readonly begin: (question: Question) => Generator<Study | undefined, undefined>;
}

/** What a panel has computed with every frame, while it is on the screen. */
export interface FrameFeature<Request, Result extends object, Question = unknown, Study = unknown> {
  readonly compute: (request: Request, scene: Scene) => Result | null;
  /** By the names of the canvases. */
  readonly pictures?: Readonly<Record<string, FeaturePicture<Result>>>;
  readonly study?: FeatureStudy<Request, Result, Question, Study>;
}

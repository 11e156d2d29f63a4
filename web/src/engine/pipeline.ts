/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index here is in range by its loop */
import type { Mask, Positions } from '../domain/choices';
import type { Model } from '../domain/model';
import type { LayerRequest } from '../domain/layer';
import type { HeadResult, Heads } from './head_list';
import type { Qkv } from 'qkv';
import { GRID } from '../maskgrid';
import { countOf } from '../numbersets';
import { Drag } from './drag';
import { residual } from './drift';
import { GivenHead, LayerHead, type Head, type Inputs, type Layer } from './heads';
import { MAX_MATRIX } from './limits';
import { maskedGrid, type MasksRequest, type MasksResult } from './masks';
import { layerInput, modelOf } from './model';
import type { PairLayout } from './pairs';
import { Pictures } from './pictures';
import { positionStages } from './positions';
import type { Frame, FrameRequest, ShiftCheck } from './protocol';
import { rowData, valuesOf, type Values } from './results';
import { rowSteps } from './row';
import { D_MODEL, type Source } from './sources';
import { stage, type StageLog } from './stage';
import type { Pixels } from './surface';
import { randomScores, rowScores, temperaturePoint, type RowScores } from './temperature';
import { WholeLayer } from './whole';

/** The picture of the encoding shows at least this many positions. */
const MIN_ENCODING = 64;

/**
 * From tokens to what is on the screen, in stages that run only when something before them changed: a
 * new temperature touches the shown head and its picture, a new k nothing but the shift.
 */
export class Pipeline {
  readonly #qkv: Qkv;
  readonly #log: StageLog = [];
  readonly pictures = new Pictures(this.#log);
  readonly whole: WholeLayer;
  readonly #drag: Drag;

  constructor(qkv: Qkv) {
    this.#qkv = qkv;
    this.whole = new WholeLayer(qkv);
    this.#positions = positionStages(qkv, this.#log);
    this.#drag = new Drag(this, this.#log);
  }

  get qkv(): Qkv {
    return this.#qkv;
  }

  run(id: number, request: FrameRequest) {
    this.#log.length = 0;
    const { layer, view } = request;
    const heads = this.heads(layer);
    const encoding = this.#encoding(heads.count, request.layout);
    const result = this.#results(heads, request);
    const pixels: Record<string, Pixels> = {};
    this.pictures.map(pixels, result, request);
    const shift = this.#shift(encoding, request.shift);
    this.pictures.encoding(pixels, encoding, request);
    const masks = request.masks && this.#maskedGrid(heads, request, request.masks);
    const { positions: asked } = request;
    const positions = asked && this.#positions(asked, request.shift, request.layout);
    this.pictures.masks(pixels, masks, request);
    this.pictures.scheme(pixels, positions?.scheme, request);
    const { mask, temperature } = layer;
    const query = this.#queryRow(heads, view.head, mask, temperature, view.query);
    const told =
      view.told === view.query
        ? query
        : this.#toldRow(heads, view.head, mask, temperature, view.told);
    const otherTold =
      view.other === null ? null : this.#otherRow(heads, view.other, mask, temperature, view.told);
    const frame: Omit<Frame, 'request' | 'time'> = {
      id,
      numHeads: heads.list.length,
      query,
      told,
      otherTold,
      range: result?.range ?? 0,
      step: result?.step ?? 1,
      matrix: result && view.matrix && heads.count <= MAX_MATRIX ? result.values : null,
      encoding,
      shift,
      row: request.row ? this.#rowSteps(JSON.stringify(request.row), request.row) : null,
      temperature: this.#atTemperature(heads, request),
      masks,
      positions,
      info: this.#qkv.info,
      ran: [...this.#log],
    };
    return { frame, pixels };
  }

  /** The heads that a request is about; the same ones for as long as it asks for the same. */
  heads({ source, seed, tokens, positions, numbers }: LayerRequest): Heads {
    if (source === 'yours') return this.#given(JSON.stringify(numbers), numbers);
    const model = this.#model(source, seed);
    // A string beside the array: requests arrive as copies, which are never identical.
    const x = this.#x(model, JSON.stringify(tokens), tokens, positions);
    return this.#layers(model, x);
  }

  result(heads: Heads, head: number, layer: Layer, scores: boolean): HeadResult {
    const returnLogits = scores ? { returnLogits: 'biased' as const } : {};
    const extras = { returnWeights: true, returnEntropy: true, ...returnLogits };
    const { weights, logits, entropy } = heads.list[head]!.all(layer, extras);
    if (!weights || !entropy) throw new Error('the head left out what it was asked for');
    return { weights: weights.data, scores: logits?.data ?? null, entropy: entropy.data };
  }

  // ---- stages ----

  readonly #encoding = stage('encoding', this.#log, (tokens: number, layout: PairLayout) => {
    const length = Math.max(MIN_ENCODING, tokens);
    const { data } = this.#qkv.sinusoidalEncoding(length, D_MODEL, { layout });
    return { data, length, layout };
  });

  readonly #model = stage('model', this.#log, (source: Exclude<Source, 'yours'>, seed: number) =>
    modelOf(this.#qkv, source, seed),
  );

  readonly #x = stage(
    'x',
    this.#log,
    (model: Model, _key: string, tokens: readonly string[], positions: Positions) =>
      layerInput(this.#qkv, model, tokens, positions),
    [2],
  );

  #inputs: Inputs | null = null;
  #list: { model: Model; heads: readonly Head[] } | null = null;

  readonly #layers = stage('heads', this.#log, (model: Model, x: Float32Array): Heads => {
    const count = x.length / D_MODEL;
    const shape = [count, D_MODEL];
    const inputs = { tensor: this.#qkv.tensor(shape, x), out: this.#qkv.tensor(shape) };
    this.#inputs?.tensor.dispose(); // only now: had the new ones failed, the old would still serve
    this.#inputs?.out.dispose();
    this.#inputs = inputs;
    if (this.#list?.model !== model) {
      const get = () => this.#inputs!;
      const make = (_: unknown, head: number) => new LayerHead(this.#qkv, model, head, get);
      const heads = Array.from({ length: model.numHeads }, make);
      this.#list?.heads.forEach((head) => head.dispose());
      this.#list = { model, heads };
    }
    return { model, x, list: this.#list.heads, inputs, count };
  });

  readonly #given = stage(
    'given',
    this.#log,
    (_key: string, numbers: LayerRequest['numbers']): Heads => ({
      model: null,
      x: new Float32Array(),
      list: [new GivenHead(this.#qkv, numbers)],
      inputs: null,
      count: countOf(numbers),
    }),
    [1], // the key says all of it
  );

  #headStage(name: string) {
    return stage(
      name,
      this.#log,
      (heads: Heads, head: number, mask: Mask, temperature: number, scores: boolean) =>
        this.result(heads, head, { mask, temperature }, scores),
    );
  }

  readonly #shown = this.#headStage('head');
  readonly #other = this.#headStage('other head');

  readonly #values = stage(
    'values',
    this.#log,
    (a: HeadResult, b: HeadResult | null, show: FrameRequest['view']['show'], mask: Mask) => {
      const of = (result: HeadResult) => (show === 'scores' ? result.scores! : result.weights);
      if (b === null) return valuesOf(of(a), show, mask);
      const [left, right] = [of(a), of(b)];
      const difference = left.map((value, i) => value - right[i]!);
      return valuesOf(difference, 'difference', mask);
    },
  );

  /** Nothing is computed for a picture that is not on the screen. */
  #results(heads: Heads, request: FrameRequest): Values | null {
    const { layer, view, surfaces } = request;
    if (heads.count === 0 || (!surfaces['map'] && !view.matrix)) return null;
    const dragged = this.#drag.values(heads, request);
    if (dragged) return dragged;
    const { mask, temperature } = layer;
    const scores = view.show === 'scores';
    const a = this.#shown(heads, view.head, mask, temperature, scores);
    const b =
      view.other === null ? null : this.#other(heads, view.other, mask, temperature, scores);
    return this.#values(a, b, view.show, mask);
  }

  /** The result of a head when the stages hold it already. */
  shownResult(heads: Heads, { layer, view }: FrameRequest): HeadResult {
    return this.#shown(heads, view.head, layer.mask, layer.temperature, view.show === 'scores');
  }

  #rowStage(name: string) {
    return stage(
      name,
      this.#log,
      (heads: Heads, head: number, mask: Mask, temperature: number, row: number) => {
        if (row < 0 || row >= heads.count) return null;
        return rowData(heads.list[head]!, row, { mask, temperature });
      },
    );
  }

  readonly #queryRow = this.#rowStage('query row');
  readonly #toldRow = this.#rowStage('told row');
  readonly #otherRow = this.#rowStage('other row');

  readonly #rowSteps = stage(
    'row steps',
    this.#log,
    (_key: string, request: NonNullable<FrameRequest['row']>) => rowSteps(this.#qkv, request),
    [1],
  );

  readonly #rowScores = stage(
    'row scores',
    this.#log,
    (heads: Heads, head: number, mask: Mask, row: number) =>
      rowScores(heads.list[head]!, row, mask),
  );

  readonly #randomScores = stage('random scores', this.#log, (seed: number) =>
    randomScores(this.#qkv, seed),
  );

  readonly #temperature = stage(
    'temperature',
    this.#log,
    (scores: RowScores, temperature: number) => temperaturePoint(this.#qkv, scores, temperature),
  );

  #atTemperature(heads: Heads, { layer, view, studies }: FrameRequest) {
    if (!studies.temperature) return null;
    const random = studies.temperature === 'random';
    if (!random && heads.count === 0) return null;
    const scores = random
      ? this.#randomScores(layer.seed)
      : this.#rowScores(heads, view.head, layer.mask, view.query);
    return this.#temperature(scores, layer.temperature);
  }

  readonly #shift = stage('shift', this.#log, (encoding: Frame['encoding'], k: number) => {
    const { data, length, layout } = encoding;
    const blocks = this.#qkv.sinusoidalShift(k, D_MODEL).data;
    const shifted = this.#qkv.sinusoidalEncoding(length, D_MODEL, { offset: k, layout }).data;
    const check: ShiftCheck = {
      k,
      blocks,
      shifted,
      residual: residual(data, shifted, blocks, layout),
    };
    return check;
  });

  readonly #positions: ReturnType<typeof positionStages>;

  readonly #masks = stage(
    'masks',
    this.#log,
    (
      _key: string,
      model: Model | null,
      layer: LayerRequest,
      masks: MasksRequest,
      head: number,
    ): MasksResult | null =>
      maskedGrid({ qkv: this.#qkv, whole: this.whole, model }, layer, masks, head),
    [2, 3],
  );

  #maskedGrid(heads: Heads, { layer, view }: FrameRequest, masks: MasksRequest) {
    const tokens = layer.tokens.slice(0, GRID);
    const { positions, temperature, numbers } = layer;
    const key = JSON.stringify([masks, tokens, positions, temperature, numbers]);
    return this.#masks(key, heads.model, { ...layer, tokens }, masks, view.head);
  }
}

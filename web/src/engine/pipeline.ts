/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index here is in range by its loop */
import type { Qkv } from 'qkv';
import { cividis } from '../matrix/colour';
import { countOf } from '../numbersets';
import { colourIndex, isSigned } from '../scale';
import type { Mask, Positions } from '../state';
import { shiftResidual } from './check';
import { Drag, rowOf } from './drag';
import { GivenHead, LayerHead, type Head, type Inputs, type Layer } from './heads';
import { MAX_MATRIX } from './limits';
import { allowedKeys } from './mask';
import { modelOf, type Model } from './model';
import type { PaintPalette, Picture } from './paint';
import type { Frame, FrameRequest, LayerRequest, ShiftCheck } from './protocol';
import { rowData, valuesOf, type Values } from './results';
import { rowSteps } from './row';
import { D_MODEL, type Source } from './sources';
import { stage, type StageLog } from './stage';
import type { Pixels, Size, Surface } from './surface';

/** The picture of the encoding shows at least this many positions. */
const MIN_ENCODING = 64;

const cividisPixels = new Uint32Array(cividis.buffer);

/** The heads of a request, ready to run, with what they are made of. */
export interface Heads {
  readonly model: Model | null;
  readonly x: Float32Array;
  readonly list: readonly Head[];
  readonly inputs: Inputs | null;
  readonly count: number;
}

export interface HeadResult {
  readonly weights: Float32Array;
  /** Only where scores are shown. */
  readonly scores: Float32Array | null;
  readonly entropy: Float32Array;
}

/**
 * From tokens to what is on the screen, in stages that run only when something before them changed: a
 * new temperature touches the shown head and its picture, a new k nothing but the shift.
 */
export class Pipeline {
  readonly #qkv: Qkv;
  readonly #log: StageLog = [];
  readonly #drag: Drag;
  #palette: PaintPalette | undefined;
  readonly surfaces = new Map<string, Surface>();

  constructor(qkv: Qkv) {
    this.#qkv = qkv;
    this.#drag = new Drag(this, this.#log);
  }

  get qkv(): Qkv {
    return this.#qkv;
  }

  set palette(palette: PaintPalette) {
    this.#palette = palette;
  }

  run(id: number, request: FrameRequest) {
    this.#log.length = 0;
    const { layer, view } = request;
    const heads = this.heads(layer);
    const encoding = this.#encoding(heads.count);
    const result = this.#results(heads, request);
    const pixels: Record<string, Pixels> = {};
    if (result) this.#paintMap(pixels, result, request, heads.count);
    const shift = this.#shift(encoding.data, request.shift);
    this.#paintEncoding(pixels, encoding, request);
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

  /** Paints one head on a canvas of its own; see `values`. */
  paintHead(name: string, size: Size, values: Values, layer: LayerRequest, ratio: number) {
    return this.#paint(name, size, ratio, {
      ...this.#square(values, layer.mask),
      ramp: isSigned(values.show) ? this.#palette!.diverging : cividisPixels,
    });
  }

  // ---- stages ----

  readonly #encoding = stage('encoding', this.#log, (tokens: number) => {
    const length = Math.max(MIN_ENCODING, tokens);
    return { data: this.#qkv.sinusoidalEncoding(length, D_MODEL).data, length };
  });

  readonly #model = stage('model', this.#log, (source: Exclude<Source, 'yours'>, seed: number) =>
    modelOf(this.#qkv, source, seed),
  );

  readonly #x = stage(
    'x',
    this.#log,
    (model: Model, _key: string, tokens: readonly string[], positions: Positions) => {
      const x = new Float32Array(tokens.length * D_MODEL);
      tokens.forEach((token, t) => x.set(model.embed(token), t * D_MODEL));
      if (positions === 'none') return x;
      const width = model.positionWidth;
      const encoding = this.#qkv.sinusoidalEncoding(tokens.length, width).data;
      encoding.forEach((value, at) => {
        const row = Math.floor(at / width);
        x[row * D_MODEL + (at % width)]! += value;
      });
      return x;
    },
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

  readonly #shift = stage('shift', this.#log, (encoding: Float32Array, k: number): ShiftCheck => {
    const blocks = this.#qkv.sinusoidalShift(k, D_MODEL).data;
    const length = encoding.length / D_MODEL;
    const shifted = this.#qkv.sinusoidalEncoding(length, D_MODEL, { offset: k }).data;
    return { k, blocks, shifted, residual: shiftResidual(encoding, shifted, blocks) };
  });

  // ---- painting ----

  #square({ values, count, step, show, range }: Values, mask: Mask): Omit<Picture, 'ramp'> {
    return {
      rows: values.length / count,
      cols: count,
      values,
      signed: isSigned(show),
      allowed: (row) => allowedKeys(mask, rowOf(row, step, count), count),
      place: colourIndex(show, range),
    };
  }

  #paint(name: string, size: Size, ratio: number, picture: Picture): Pixels | null {
    const surface = this.surfaces.get(name);
    if (!surface || !this.#palette || size.width < 1 || size.height < 1) return null;
    return surface.paint(size, picture, this.#palette, ratio);
  }

  readonly #drawnMap = stage(
    'paint map',
    this.#log,
    // The colours are part of what is drawn, and known to paintHead.
    (
      _palette: object,
      values: Values,
      mask: Mask,
      ratio: number,
      width: number,
      height: number,
    ) => {
      const layer = { mask } as LayerRequest;
      return { pixels: this.paintHead('map', { width, height }, values, layer, ratio) };
    },
  );

  #paintMap(
    pixels: Record<string, Pixels>,
    values: Values,
    { layer, surfaces, ratio }: FrameRequest,
    count: number,
  ): void {
    const size = surfaces['map'];
    if (!size || !this.#palette || count === 0) return;
    const { width, height } = size;
    const before = this.#log.length;
    const drawn = this.#drawnMap(this.#palette, values, layer.mask, ratio, width, height);
    if (drawn.pixels && this.#log.length > before) pixels['map'] = drawn.pixels;
  }

  readonly #drawnEncoding = stage(
    'paint encoding',
    this.#log,
    (data: Float32Array, ratio: number, width: number, height: number, palette: PaintPalette) => ({
      pixels: this.#paint('encoding', { width, height }, ratio, {
        rows: data.length / D_MODEL,
        cols: D_MODEL,
        values: data,
        signed: true,
        allowed: () => [0, D_MODEL],
        place: colourIndex('difference', 1),
        ramp: palette.diverging,
      }),
    }),
  );

  #paintEncoding(
    pixels: Record<string, Pixels>,
    encoding: Frame['encoding'],
    { surfaces, ratio }: FrameRequest,
  ): void {
    const size = surfaces['encoding'];
    if (!size || !this.#palette) return;
    const before = this.#log.length;
    const { width, height } = size;
    const drawn = this.#drawnEncoding(encoding.data, ratio, width, height, this.#palette);
    if (drawn.pixels && this.#log.length > before) pixels['encoding'] = drawn.pixels;
  }
}

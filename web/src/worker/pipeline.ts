import type { Qkv } from 'qkv';
import type { Mask, Positions } from '../domain/choices';
import { MAX_MATRIX, type LayerRequest } from '../domain/layer';
import type { Model } from '../domain/model';
import { countOf } from '../domain/number_sets';
import { D_MODEL } from '../domain/sources';
import type { ViewRequest } from '../domain/view';
import type { Pixels } from '../domain/pixels';
import type { Scene } from '../engine/frame_feature';
import { FullLayer } from '../engine/full_layer';
import type { HeadResult, Heads, ModelOfHeads } from '../engine/head_list';
import { GivenHead, LayerHead, type Head, type Inputs, type Layer } from '../engine/heads';
import { stage, type StageLog } from '../engine/memo';
import { layerInput, modelOf, type Built } from '../engine/layer_weights';
import { rowData, valuesOf, type Values } from '../engine/picture_values';
import type { ComputedId, PanelResults } from '../features/computed';
import { makeFeatures } from '../features/frame_features';
import { Pictures } from './painter';
import type { Frame, FrameRequest } from './protocol';
import { TemperaturePreview } from './temperature_preview';

const NO_HEADS: Heads = {
  ...{ model: null, x: new Float32Array(), list: [], inputs: null, count: 0 },
};

/**
 * From tokens to what is on the screen, in stages that run only when something before them changed: a
 * new temperature touches the shown head and its picture, a new k nothing but the shift.
 */
export class Pipeline {
  readonly #qkv: Qkv;
  readonly #log: StageLog = [];
  readonly pictures = new Pictures(this.#log);
  readonly whole: FullLayer;
  readonly #preview: TemperaturePreview;
  /** The trained model, once the reader has loaded one. */
  model: ModelOfHeads | undefined;
  /** What panels compute with every frame. */
  readonly features: ReturnType<typeof makeFeatures>;

  constructor(qkv: Qkv) {
    this.#qkv = qkv;
    this.whole = new FullLayer(qkv);
    this.features = makeFeatures({ qkv, log: this.#log, whole: this.whole });
    this.#preview = new TemperaturePreview(this, this.#log);
  }

  get qkv(): Qkv {
    return this.#qkv;
  }

  run(id: number, request: FrameRequest) {
    this.#log.length = 0;
    const { layer, view } = request;
    const heads = this.heads(layer);
    const result = this.#results(heads, request);
    const pixels: Record<string, Pixels> = {};
    this.pictures.map(pixels, result, request);
    const rows = this.#rows(heads, layer, view);
    const panels = this.#panels(pixels, { heads, layer, view, query: rows.query }, request);
    const frame: Omit<Frame, 'request' | 'time'> = {
      id,
      numHeads: heads.list.length,
      ...rows,
      range: result?.range ?? 0,
      step: result?.step ?? 1,
      matrix: result && view.matrix && heads.count <= MAX_MATRIX ? result.values : null,
      ...panels,
      info: this.#qkv.info,
      ran: [...this.#log],
    };
    return { frame, pixels };
  }

  #rows(heads: Heads, { mask, temperature }: LayerRequest, view: ViewRequest) {
    const { head, other, query: row, described: at } = view;
    const query = this.#queryRow(heads, head, mask, temperature, row);
    const described = at === row ? query : this.#describedRow(heads, head, mask, temperature, at);
    const otherDescribed =
      other === null ? null : this.#otherRow(heads, other, mask, temperature, at);
    return { query, described, otherDescribed };
  }

  /** What the panels on the screen compute, and their canvases. */
  #panels(pixels: Record<string, Pixels>, scene: Scene, request: FrameRequest): PanelResults {
    // In the order of the request, which is that of the page.
    const isComputed = (name: string): name is ComputedId => name in this.features;
    const results = Object.keys(request)
      .filter(isComputed)
      .map((id) => {
        const { compute, pictures = {} } = this.features[id];
        const own = request[id];
        const result = own === null ? null : compute(own, scene);
        for (const [name, picture] of Object.entries(pictures)) {
          if (result) this.pictures.feature(pixels, name, { picture, result }, request);
        }
        return [id, result] as const;
      });
    return Object.fromEntries(results) as unknown as PanelResults;
  }

  /** The heads that a request is about; the same ones for as long as it asks for the same. */
  heads({ source, seed, tokens, positions, numbers, trained }: LayerRequest): Heads {
    if (source === 'trained') return this.#learned(JSON.stringify(trained), trained);
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
    if (!weights || !entropy) throw new Error('the head left out weights or entropy');
    return { weights: weights.data, scores: logits?.data ?? null, entropy: entropy.data };
  }

  // ---- stages ----

  readonly #model = stage('model', this.#log, (source: Built, seed: number) =>
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

  /** Another key for every model and text; nothing to see while there is none. */
  readonly #learned = stage(
    'learned',
    this.#log,
    (_key: string, trained: LayerRequest['trained']): Heads =>
      (trained && this.model?.heads(trained)) ?? NO_HEADS,
    [1],
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
    const dragged = this.#preview.values(heads, request);
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
  readonly #describedRow = this.#rowStage('described row');
  readonly #otherRow = this.#rowStage('other row');
}

import type { Qkv } from 'qkv';
import type { Spectra } from 'qkv/spectra';
import type { Heads } from '../../../engine/head_list';
import { Slices } from '../../../engine/slices';
import { spectraEngine } from '../../../engine/spectra_engine';
import { describeFailure } from '../../../domain/describe_failure';
import * as answers from './analyses';
import { generate, speedOf } from './generation';
import { open, type Opened, keptModels } from './open_model';
import type {
  Answers,
  ContextsAsk,
  FromModel,
  HeadChanges,
  ModelAsk,
  ModelFiles,
  Reading,
  ToModel,
  TrainedText,
  Work,
} from '../shared/protocol';
import type { MicroscopeDesk } from '../../microscope/worker/microscope_desk';
import { contextsOf } from './contexts';
import { cutPass } from './cut_pass';
import { layerPass } from './layer_pass';
import { lensGrid } from './lens_grid';
import { broughtOver, tokenReads, type ReadsAsk } from './token_reads';
import { idsOf } from './token_ids';
import { passOver, surprisalOf, type Pass } from './forward_pass';

/** How long a piece of this work may keep a frame waiting, in milliseconds. */
const SLICE = 8;

/** What follows from the tokens of a text: nothing of it is there when a text has none. */
const FROM_TOKENS = ['next', 'losses', 'lens', 'rollout', 'scores', 'grid', 'reads'] as const;

type Steps = Generator<unknown, undefined>;

/** The trained model in the worker: loads it, and answers what the panel and the frames ask of it. */
export class ModelHost {
  readonly #qkv: Qkv;
  readonly #say: (message: FromModel) => void;
  #opened: Opened | undefined;
  /** What finds the plane of embeddings; it comes with the first model. */
  #spectra: Spectra | undefined;
  /** The desk of the microscope, whose code comes with the first model. */
  #Desk: typeof MicroscopeDesk | undefined;
  #id = 0;
  #loading: AbortController | undefined;
  #ask: ModelAsk | undefined;
  #pass: Pass | undefined;
  #reading: Reading | undefined;
  #readings = 0;
  /** The latest work of each kind; a newer one takes its place. */
  readonly #work = new Map<Work, Slices<unknown, undefined>>();
  /** What every answer that was sent followed from. */
  readonly #sent = new Map<keyof Answers, string>();
  #writing: AbortController | undefined;
  #microscope: MicroscopeDesk | undefined;

  constructor(qkv: Qkv, say: (message: FromModel) => void) {
    this.#qkv = qkv;
    this.#say = say;
  }

  receive(message: ToModel): void {
    if (message.kind === 'load') void this.#load(message.files);
    else if (message.kind === 'abort') this.#loading?.abort();
    else if (message.kind === 'list_kept') void this.#tellKept();
    else if (message.kind === 'remove_kept') void this.#tellKept(message.address);
    else if (message.kind === 'stop') this.#writing?.abort();
    else if (message.kind === 'ask') {
      this.#ask = message.ask;
      this.#begin('answers', (of) => this.#answers(of, message.ask));
    } else if (message.kind === 'generate') void this.#write(message);
    else if (message.kind === 'changes') this.#begin('changes', (of) => this.#changes(of));
    else if (message.kind === 'contexts') {
      this.#begin('contexts', (of) => this.#contexts(of, message.ask));
    } else if (message.kind === 'speed') this.#begin('speed', (of) => this.#speed(of));
    else this.#microscope?.receive(message);
  }

  // ---- loading ----

  async #load(files: ModelFiles): Promise<void> {
    this.#loading?.abort();
    const loading = (this.#loading = new AbortController());
    const begin = performance.now();
    const { signal } = loading;
    let reported = 0;
    const onProgress = (loaded: number, total: number) => {
      if (signal.aborted || (performance.now() - reported < 30 && loaded < total)) return;
      reported = performance.now();
      this.#say({ kind: 'progress', loaded, total });
    };
    try {
      this.#spectra ??= await spectraEngine();
      this.#Desk ??= (await import('../../microscope/worker/microscope_desk')).MicroscopeDesk;
      const opened = await open(this.#qkv, files, { signal, onProgress });
      if (signal.aborted) {
        opened.model.dispose();
        throw signal.reason;
      }
      this.#take(opened);
      const info = { ...opened.info, id: this.#id, time: performance.now() - begin };
      this.#say({ kind: 'loaded', info });
      if (files.kind === 'web') void this.#tellKept();
      if (this.#ask) this.receive({ kind: 'ask', ask: this.#ask });
    } catch (error) {
      if (this.#loading !== loading) return; // another load has begun
      this.#say(
        signal.aborted ? { kind: 'aborted' } : { kind: 'refused', failure: describeFailure(error) },
      );
    }
  }

  /** Tells which files are kept, after one was removed. */
  async #tellKept(removed?: string): Promise<void> {
    try {
      const cache = await keptModels();
      if (removed !== undefined) await cache.remove(removed);
      const { problem } = cache;
      const files = (await cache.list()).map(({ address, size, kept }) => ({
        ...{ address, bytes: kept, isWhole: kept === size },
      }));
      this.#say({ kind: 'kept', kept: { files, problem: problem ?? cache.problem ?? null } });
    } catch (error) {
      this.#say({ kind: 'kept', kept: { files: [], problem: describeFailure(error).message } });
    }
  }

  #take(opened: Opened): void {
    this.#writing?.abort();
    this.#writing = undefined; // what the model before it wrote is sent no more
    for (const work of this.#work.values()) work.end();
    this.#work.clear();
    this.#sent.clear();
    this.#microscope?.end();
    this.#microscope =
      this.#Desk &&
      new this.#Desk(this.#qkv, opened, (news) => this.#say({ kind: 'microscope', news }));
    this.#opened?.model.dispose();
    this.#opened = opened;
    this.#pass = this.#reading = this.#repeated = this.#brought = undefined;
    this.#id++;
  }

  // ---- one piece of work after another ----

  #begin(name: Work, steps: (of: Opened) => Steps): void {
    const of = this.#opened;
    if (!of) return;
    this.#work.get(name)?.end();
    const work = new Slices(steps(of), SLICE, {
      onDone: () => this.#work.delete(name),
      onError: (error) => {
        this.#work.delete(name);
        this.#say({ kind: 'failed', of: name, failure: describeFailure(error) });
      },
    });
    this.#work.set(name, work.start());
  }

  // ---- answers ----

  /** The pass over these tokens; the latest one is kept, for the frames as well. */
  #over(of: Opened, ids: readonly number[]): Pass {
    if (this.#pass?.ids.join() !== ids.join()) this.#pass = passOver(this.#qkv, of.model, ids);
    return this.#pass;
  }

  #read(of: Opened, { text, length }: ModelAsk): Reading {
    const known = this.#reading;
    if (known?.text === text && known.length === length) return known;
    const tokens = idsOf(of, { text, length });
    const { ids } = tokens;
    const logits = ids.length > 0 ? this.#over(of, ids).logits : null;
    this.#reading = {
      ...tokens,
      ...{ id: ++this.#readings, text, length },
      labels: ids.map(of.label),
      surprisal: logits ? surprisalOf(logits, ids) : new Float32Array(ids.length).fill(NaN),
    };
    return this.#reading;
  }

  /** Sends an answer, unless it is what was sent last; it may take several steps. */
  *#part<K extends keyof Answers>(
    name: K,
    from: readonly unknown[],
    make: () => Answers[K] | Generator<undefined, Answers[K]>,
  ): Generator<unknown, undefined> {
    const key = JSON.stringify(from);
    if (this.#sent.get(name) === key) return;
    const made = make();
    const isSteps = made !== null && typeof made === 'object' && Symbol.iterator in made;
    const answer = isSteps ? yield* made : made;
    this.#sent.set(name, key);
    this.#say({ kind: 'answers', news: { [name]: answer } });
    yield;
  }

  *#answers(of: Opened, ask: ModelAsk): Generator<unknown, undefined> {
    const qkv = this.#qkv;
    const reading = this.#read(of, ask);
    const { id, ids } = reading;
    yield* this.#part('reading', [id], () => reading);
    const at = Math.min(ask.at ?? ids.length - 1, ids.length - 1);
    const pass = () => this.#over(of, ids);
    if (ids.length > 0) {
      const { sampling, ablated } = ask;
      yield* this.#part('next', [id, at, sampling, ablated], () =>
        answers.nextToken(qkv, of, pass(), { at, sampling, ablated }),
      );
      yield* this.#part('losses', [id, ablated], () => answers.losses(of, pass(), ablated));
      yield* this.#part('lens', [id, at, ablated], () =>
        answers.lensAt(qkv, of, pass(), { at, ablated }),
      );
      yield* this.#part('rollout', [id, at], () => answers.rolloutAt(qkv, of, pass(), at));
      yield* this.#part('scores', [id], () => this.#scores(of, pass()));
      yield* this.#part('grid', [id], () => lensGrid(of, ids));
      const { head, brought } = ask;
      yield* this.#part('reads', [id, at, head, brought], () =>
        this.#reads(of, pass(), { at, head, brought }),
      );
    } else {
      for (const name of FROM_TOKENS) yield* this.#part(name, [], () => null);
    }
    const spectra = this.#spectra;
    yield* this.#part('plane', [], () => (spectra ? answers.planeOf(spectra, of) : null));
    const near = ask.near ?? ids[at] ?? 0;
    yield* this.#part('near', [near], () => answers.nearOf(of, near));
    this.#say({ kind: 'answered' });
  }

  #repeated: { of: Opened; found: ReturnType<typeof answers.inductionScores> } | undefined;

  *#scores(of: Opened, pass: Pass): Generator<undefined, Answers['scores']> {
    if (this.#repeated?.of !== of) {
      this.#repeated = { of, found: answers.inductionScores(this.#qkv, of) };
      yield;
    }
    const { found } = this.#repeated;
    return { ...(yield* answers.headScores(of, pass)), ...found };
  }

  /** What the weights of all heads bring, over the latest pass for which it was requested. */
  #brought: { pass: Pass; maps: readonly Float32Array[] } | undefined;

  *#reads(of: Opened, pass: Pass, ask: ReadsAsk): Generator<undefined, Answers['reads']> {
    if (!ask.brought) return tokenReads(of, pass, pass.weights, ask);
    if (this.#brought?.pass !== pass) {
      this.#brought = { pass, maps: yield* broughtOver(of, pass.ids) };
    }
    return tokenReads(of, pass, this.#brought.maps, ask);
  }

  /** What the loss of the shown text changes by without each head, head by head. */
  *#changes(of: Opened): Generator<unknown, undefined> {
    const [reading, { numLayers, numHeads, speaks }] = [this.#reading, of.info];
    if (!reading || !speaks || reading.ids.length < 2) return;
    const changes = new Float32Array(numLayers * numHeads).fill(NaN);
    const tell = (running: boolean) => {
      const news: HeadChanges = { reading: reading.id, changes: changes.slice(), running };
      this.#say({ kind: 'changes', changes: news });
    };
    const whole = of.model.loss(reading.ids);
    for (let at = 0; at < changes.length; at++) {
      const ablate = [[Math.floor(at / numHeads), at % numHeads]] as const;
      changes[at] = of.model.loss(reading.ids, { inspect: { ablate } }) - whole;
      if (at % 4 === 3) tell(true);
      yield;
    }
    tell(false);
  }

  *#speed(of: Opened): Generator<unknown, undefined> {
    const ids = this.#reading?.ids ?? [];
    if (ids.length === 0 || !of.info.speaks) return;
    for (const speed of speedOf(of, ids)) {
      this.#say({ kind: 'speed', speed });
      yield;
    }
  }

  *#contexts(of: Opened, ask: ContextsAsk): Generator<unknown, undefined> {
    const contexts = yield* contextsOf(of, ask);
    this.#say({ kind: 'contexts', contexts });
  }

  async #write({ seed, tokens, pace }: Extract<ToModel, { kind: 'generate' }>): Promise<void> {
    this.#writing?.abort();
    const writing = (this.#writing = new AbortController());
    const [of, ask] = [this.#opened, this.#ask];
    if (!of?.info.speaks || !ask) return;
    const { sampling, ablated } = ask;
    try {
      const { ids } = this.#read(of, ask); // may run the model over the text, which may fail
      await generate(
        of,
        { ids, sampling, ablated, seed, tokens, pace },
        {
          signal: writing.signal,
          say: (generated) => {
            if (this.#writing === writing) this.#say({ kind: 'generated', generated });
          },
        },
      );
    } catch (error) {
      if (this.#writing !== writing) return;
      this.#say({ kind: 'failed', of: 'generated', failure: describeFailure(error) });
    }
  }

  // ---- for the frames ----

  /** The heads of the loaded model over these tokens; none when it is another model. */
  heads({ model, ids }: TrainedText): Heads | null {
    const of = this.#opened;
    if (!of || model !== this.#id || of.info.notDrawn !== null || ids.length === 0) return null;
    const { heads } = this.#over(of, ids);
    return {
      ...{ model: null, x: new Float32Array(), list: heads, inputs: null, count: ids.length },
      exact: (head) => heads[head]!.exact, // as many as are listed
      learned: {
        causal: of.info.causal,
        layer: (head, count) => layerPass(of, ids.slice(0, count), head),
        cut: (mask, count, head) => cutPass(this.#qkv, of, ids.slice(0, count), { mask, head }),
      },
    };
  }
}

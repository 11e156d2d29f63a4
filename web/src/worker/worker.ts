import { init } from 'qkv';
import { Slices, type SlicesListener } from '../engine/slices';
import { Background, FEW_TOKENS, type Progress } from './background';
import { describeFailure } from '../domain/describe_failure';
import { Pipeline } from './pipeline';
import { StudyDesk } from './study_scheduler';
import type { ModelHost } from '../features/model/worker/model_host';
import type { ToModel } from '../features/model/shared/protocol';
import type { Frame, FrameNews, FrameRequest, FromWorker, ToWorker, Wanted } from './protocol';
import type { Failure } from '../domain/failure';
import { Surface } from '../engine/canvas';
import type { Pixels } from '../domain/pixels';

/** How long a piece of background work may keep the next frame waiting, in milliseconds. */
const SLICE = 6;
/** With many tokens background work begins when no request came for this long. */
const REST = 120;

/** Studies begin, and go on, when no request came for this long. */
const STUDY_REST = 40;

let engine: { pipeline: Pipeline; background: Background; studies: StudyDesk } | undefined;
let loading: Promise<NonNullable<typeof engine>> | undefined;
let sent: FrameNews = {};
/** Canvases and colours may arrive while the engine is still loading. */
const early: ToWorker[] = [];

function reply(message: FromWorker, transfer: Transferable[] = []): void {
  self.postMessage(message, { transfer });
}

const buffers = (pixels: Readonly<Record<string, Pixels>>) =>
  Object.values(pixels).map(({ data }) => data.buffer);

/** Stages that did not run hand out the very same arrays: those are on the page already. */
function newsOf(frame: FrameNews): FrameNews {
  const known = sent;
  sent = frame;
  const isNew = ([key, value]: [string, unknown]) => known[key as keyof Frame] !== value;
  return Object.fromEntries(Object.entries(frame).filter(isNew));
}

async function newEngine(): Promise<NonNullable<typeof engine>> {
  const pipeline = new Pipeline(await init());
  return {
    pipeline,
    background: new Background(pipeline),
    studies: new StudyDesk(pipeline.features),
  };
}

/** Also what a reader tries after a run that failed: the engine stays, which has the canvases, the colours and the model. */
async function start(): Promise<void> {
  try {
    engine ??= await (loading ??= newEngine());
    early.splice(0).forEach(receive);
    reply({ type: 'ready', info: engine.pipeline.qkv.info });
  } catch (error) {
    loading = undefined;
    reply({ type: 'load-failed', failure: describeFailure(error) });
  }
}

/** Tells the page when nothing is left to do for its latest request. */
function restIfDone(id: number): void {
  if (engine && !job && !engine.studies.busy && !spectra) reply({ type: 'rest', id });
}

// ---- background work ----

let look = 0;
let job: { key: string; id: number; work: Slices<Progress | undefined, undefined> } | undefined;
let done = { key: '', last: undefined as Parameters<typeof reply>[0] | undefined };

/** Takes up the work for a request, goes on with it, or says again what is known already. */
function startBackground(id: number, request: FrameRequest): void {
  if (!engine) return;
  const key = Background.key(request, look);
  if (key === done.key && done.last?.type === 'report') {
    endJob();
    reply({ ...done.last, report: { ...done.last.report, id } });
    return;
  }
  if (job?.key === key) job.id = id;
  else {
    endJob();
    job = { key, id, work: new Slices(engine.background.work(request), SLICE, backgroundListener) };
  }
  job.work.start(request.layer.tokens.length > FEW_TOKENS ? REST : 0);
}

function endJob(): number {
  const id = job?.id ?? 0;
  job?.work.end();
  job = undefined;
  return id;
}

const backgroundListener: SlicesListener<Progress | undefined, undefined> = {
  onStep(progress) {
    if (!progress || !job) return;
    const { id, key } = job;
    const { report, pixels } = progress;
    const message = { type: 'report', report: { ...report, id }, pixels } as const;
    reply(message, buffers(pixels));
    if (report.check) done = { key, last: { ...message, pixels: {} } };
  },
  onDone: () => restIfDone(endJob()),
  onError(error) {
    reply({ type: 'run-failed', id: endJob(), failure: describeFailure(error) });
  },
};

// ---- effective ranks ----

/** What finds them is fetched with the first request for them. Undefined: it is not on its way. */
let spectra: Promise<void> | undefined;

async function fetchSpectra(background: Background): Promise<void> {
  try {
    const { spectraEngine } = await import('../engine/spectra_engine');
    background.spectra = await spectraEngine();
    spectra = undefined;
    look++; // what is known of the latest request lacks them
    if (latest) startBackground(latest.id, latest.request);
  } catch (error) {
    spectra = undefined; // it may be tried again
    reply({ type: 'run-failed', id: latest?.id ?? 0, failure: describeFailure(error) });
  }
}

// ---- studies ----

let studyTimer: ReturnType<typeof setTimeout> | undefined;

function study(id: number, studies: StudyDesk): void {
  const start = performance.now();
  try {
    while (studies.busy && performance.now() - start < SLICE) {
      const news = studies.step();
      if (news) reply({ type: 'studies', news });
    }
  } catch (error) {
    studies.drop();
    reply({ type: 'run-failed', id, failure: describeFailure(error) });
    return;
  }
  if (studies.busy) studyTimer = setTimeout(study, 0, id, studies);
  else restIfDone(id);
}

// ---- the trained model ----

let model: Promise<ModelHost> | undefined;

/** Its code is fetched with the first message to it. */
async function hostOf({ pipeline }: NonNullable<typeof engine>): Promise<ModelHost> {
  const { ModelHost } = await import('../features/model/worker/model_host');
  const host = new ModelHost(pipeline.qkv, (message) => reply({ type: 'model', message }));
  pipeline.model = host;
  return host;
}

async function toModel(message: ToModel, of: NonNullable<typeof engine>): Promise<void> {
  let host: ModelHost;
  try {
    host = await (model ??= hostOf(of));
  } catch (error) {
    model = undefined; // it may be tried again
    const { message: words } = describeFailure(error);
    // A load is preceded by requests to the model: one failure is reported once.
    if (message.kind === 'load') refuse({ code: 'load_failed', message: words });
    return;
  }
  try {
    host.receive(message);
  } catch (error) {
    const failure = describeFailure(error);
    if (message.kind === 'load') refuse(failure);
    else reply({ type: 'model', message: { kind: 'failed', of: 'answers', failure } });
  }
}

function refuse(failure: Failure): void {
  reply({ type: 'model', message: { kind: 'refused', failure } });
}

// ---- messages ----

let latest: { readonly id: number; readonly request: FrameRequest } | undefined;

function run(id: number, request: FrameRequest): void {
  if (!engine) return;
  latest = { id, request };
  const start = performance.now();
  try {
    const { frame, pixels } = engine.pipeline.run(id, request);
    const news = newsOf({ ...frame, time: performance.now() - start });
    reply({ type: 'frame', news, pixels }, buffers(pixels));
    const { studies, background } = engine;
    if (request.view.ranks && !background.spectra) spectra ??= fetchSpectra(background);
    startBackground(id, request);
    studies.ask({ ...request }, { ...frame });
    clearTimeout(studyTimer);
    if (studies.busy) studyTimer = setTimeout(study, STUDY_REST, id, studies);
    restIfDone(id);
  } catch (error) {
    reply({ type: 'run-failed', id, failure: describeFailure(error) });
  }
}

function receive(message: ToWorker): void {
  if (message.type === 'start') {
    void start();
  } else if (!engine) {
    early.push(message);
  } else if (message.type === 'surface') {
    look++;
    engine.pipeline.pictures.surfaces.set(message.name, new Surface(message.canvas));
  } else if (message.type === 'palette') {
    look++;
    engine.pipeline.pictures.palette = message.palette;
  } else if (message.type === 'model') {
    void toModel(message.message, engine);
  } else if (message.type === 'run') {
    run(message.id, message.request);
  } else if (latest) {
    tell(latest.request, message.wanted, engine.background);
  }
}

/** Too much to be sent costs the reader a file, and not the engine with all that it holds. */
function tell(request: FrameRequest, wanted: Wanted, background: Background): void {
  try {
    const tensors = background.tensors(request, wanted);
    const arrays = tensors.heads.flatMap(({ weights, scores, entropy }) => [
      weights,
      scores,
      entropy,
    ]);
    reply({ type: 'tensors', tensors }, [...new Set(arrays.map(({ buffer }) => buffer))]);
  } catch (error) {
    reply({ type: 'tensors-failed', failure: describeFailure(error) });
  }
}

self.addEventListener('message', (event: MessageEvent<ToWorker>) => receive(event.data));

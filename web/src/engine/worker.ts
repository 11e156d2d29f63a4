import { init, QkvError } from 'qkv';
import { Pipeline } from './pipeline';
import type { Failure, Frame, FrameNews, FromWorker, ToWorker } from './protocol';

let pipeline: Pipeline | undefined;
let sent: FrameNews = {};

function reply(message: FromWorker): void {
  self.postMessage(message);
}

/** Stages that did not run hand out the very same arrays: those are on the page already. */
function newsOf(frame: Frame): FrameNews {
  const known = sent;
  sent = frame;
  const isNew = ([key, value]: [string, unknown]) => known[key as keyof Frame] !== value;
  return Object.fromEntries(Object.entries(frame).filter(isNew));
}

function describe(error: unknown): Failure {
  if (error instanceof QkvError) return { code: error.code, message: error.message };
  return { code: 'unexpected', message: error instanceof Error ? error.message : String(error) };
}

async function start(): Promise<void> {
  try {
    const qkv = await init();
    pipeline = new Pipeline(qkv);
    reply({ type: 'ready', info: qkv.info });
  } catch (error) {
    reply({ type: 'load-failed', failure: describe(error) });
  }
}

self.addEventListener('message', (event: MessageEvent<ToWorker>) => {
  const message = event.data;
  if (message.type === 'start') {
    void start();
    return;
  }
  try {
    if (pipeline) reply({ type: 'frame', news: newsOf(pipeline.run(message.id, message.request)) });
  } catch (error) {
    reply({ type: 'run-failed', id: message.id, failure: describe(error) });
  }
});

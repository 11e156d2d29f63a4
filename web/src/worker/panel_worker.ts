// The worker of a panel, for what takes long. One script for all of them, so that they share what they have in common: its
// first message names the panel, whose features/<id>/worker/serve.ts then hears the others.
import { describeFailure } from '../domain/describe_failure';
import type { LabFailed } from '../domain/failure';

/** What features/<id>/worker/serve.ts exports. */
interface PanelLab {
  /**
   * Begins, and gives back what hears the messages of the panel. Nothing may begin before it: the single file has the labs of
   * all panels in one script, which runs all of their modules.
   */
  readonly serve: () => (message: never) => void;
}

const LABS = import.meta.glob<PanelLab>('../features/*/worker/serve.ts');

/** The browsers each have words of their own for a script that did not come. */
function notLoaded(error: unknown): never {
  throw Object.assign(new Error(describeFailure(error).message), { code: 'load_failed' });
}

async function listenerOf(id: string): Promise<(message: unknown) => void> {
  const load = LABS[`../features/${id}/worker/serve.ts`];
  if (!load) throw new Error(`no panel has a lab called ${id}`);
  const { serve } = await load().catch(notLoaded);
  return serve() as (message: unknown) => void; // a panel and its lab belong together by the name
}

let listener: ReturnType<typeof listenerOf> | undefined;

self.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
  if (!listener) {
    listener = listenerOf(data as string);
    listener.catch((error: unknown) => {
      const failed: LabFailed = { type: 'failed', failure: describeFailure(error) };
      self.postMessage(failed);
    });
    return;
  }
  listener.then(
    (hear) => hear(data),
    () => undefined, // reported already
  );
});

// The worker of a panel, for what takes long. One script for all of them, so that they share what they have in common: its
// first message names the panel, whose features/<id>/worker.ts then listens.
import { describeFailure } from './describe_failure';
import type { LabFailed } from './lab';

const LABS = import.meta.glob('../features/*/worker.ts');

/** Messages that came before the panel's code did. */
const early: unknown[] = [];

function keep(event: MessageEvent): void {
  event.stopImmediatePropagation();
  early.push(event.data);
}

async function open(event: MessageEvent<string>): Promise<void> {
  self.addEventListener('message', keep);
  try {
    const load = LABS[`../features/${event.data}/worker.ts`];
    if (!load) throw new Error(`no panel has a lab called ${event.data}`);
    await load();
  } catch (error) {
    const failed: LabFailed = { type: 'failed', failure: describeFailure(error) };
    self.postMessage(failed);
    return;
  }
  self.removeEventListener('message', keep);
  for (const data of early) self.dispatchEvent(new MessageEvent('message', { data }));
}

self.addEventListener('message', (event: MessageEvent<string>) => void open(event), { once: true });

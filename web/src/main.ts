import './styles/index.css';
import { App } from './app';
import { keepOffline } from './offline';
import { FailurePanel } from './panels/failure';
import { InstrumentsPanel } from './panels/instruments';
import { MapPanel } from './panels/map/panel';
import { SentencePanel } from './panels/sentence';
import { TopPanel } from './panels/top';
import { addTools, embedded, showAlone, watchPanels } from './shell';
import { formatFragment, parseFragment, type State } from './state';

const alone = embedded();
if (alone) showAlone(alone);
const app = new App();
// Only now: as they come to life they hand over their canvases.
customElements.define('qkv-top', TopPanel);
customElements.define('qkv-failure', FailurePanel);
customElements.define('qkv-instruments', InstrumentsPanel);
customElements.define('qkv-sentence', SentencePanel);
customElements.define('qkv-panel-map', MapPanel);
addTools(app);
watchPanels(app);
app.start();
if (!alone) keepOffline();

/** For tests and the curious: the numbers behind the pixels. */
function snapshot() {
  const { state, engine, list, query, frame, report, studies } = app.view();
  const map = document.querySelector('qkv-panel-map');
  const shown = map instanceof MapPanel ? map.shown : null;
  const { tokens, total } = list;
  return { state, engine, tokens, total, query, shown, frame, report, studies };
}

declare global {
  interface Window {
    __qkv: {
      snapshot: typeof snapshot;
      set: (patch: Partial<State>) => void;
      tensors: App['client']['tensors'];
      settled: () => boolean;
      sees: App['sees'];
      paintsInWorker: boolean;
      parseFragment: typeof parseFragment;
      formatFragment: typeof formatFragment;
    };
  }
}

window.__qkv = {
  snapshot,
  set: (patch) => app.set(patch),
  tensors: () => app.client.tensors(),
  settled: () => app.settled,
  sees: (id) => app.sees(id),
  paintsInWorker: app.client.paintsInWorker,
  parseFragment,
  formatFragment,
};

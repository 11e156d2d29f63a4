import './styles/index.css';
import { App } from './app';
import { keepOffline } from './offline';
import { catchDrops } from './drops';
import { openRuns } from './open_runs';
import { FailurePanel } from './failure';
import { FirstMinutePanel } from './first_minute';
import { InstrumentsPanel } from './instruments';
import { LinkNotePanel } from './link_note';
import { MapPanel } from '../features/map/panel';
import { SentencePanel } from './sentence';
import { TopPanel } from './header';
import { embedded, isEmbedded, showAlone, showLesson } from './embed';
import { expectLesson, watchLessons } from './lesson_loader';
import { addTools } from './export_menu';
import { watchChapters } from './contents';
import { watchLaboratories } from './laboratories';
import { watchPanels } from './panel_watcher';
import headings from 'virtual:headings';
import { addTexts, LANGUAGES } from '../i18n/i18n';
import { formatFragment, parseFragment, type State } from '../state/state';

for (const language of LANGUAGES) addTexts(language, headings[language]);
const lesson = expectLesson();
const alone = lesson ? null : embedded();
if (alone) showAlone(alone);
else if (lesson && isEmbedded()) showLesson();
const app = new App();
// Only now: as they come to life they hand over their canvases.
customElements.define('qkv-top', TopPanel);
customElements.define('qkv-failure', FailurePanel);
customElements.define('qkv-link-note', LinkNotePanel);
customElements.define('qkv-instruments', InstrumentsPanel);
customElements.define('qkv-sentence', SentencePanel);
customElements.define('qkv-first-minute', FirstMinutePanel);
customElements.define('qkv-panel-map', MapPanel);
addTools(app);
catchDrops();
openRuns();
watchPanels(app);
watchLaboratories(
  (patch) => app.set(patch),
  () => app.view().state.opened,
);
watchChapters();
app.start();
watchLessons(app);
if (!isEmbedded()) keepOffline();

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

// The page: finds the sentences that are nearest to a query. Vectors are computed in a worker, and only those that are not kept.
import { nearest } from 'qkv/models';
import { init } from 'qkv/worker';
import { keepVectors, keptVectors } from './kept.js';

const ids = ['model', 'text', 'search', 'query', 'status', 'found'];
const [address, text, search, query, status, found] = ids.map((id) => document.getElementById(id));

let loaded = { at: '', model: undefined }; // the last model, in its worker
let latest = new AbortController();

/** An encoder of a hub: its name there, or the address of its page. */
function placeOf(given) {
  if (/^hub:/i.test(given)) return [given, {}];
  const { origin, pathname } = new URL(given);
  return [`hub:${pathname.replace(/^\/|\/$/g, '')}`, { hub: { host: origin } }];
}

/** The model at an address, loaded when its first vector is computed. Its files stay in the Cache API of the browser. */
async function modelAt(at, signal) {
  if (loaded.at === at) return loaded.model;
  const onProgress = ({ file, loaded, total }) =>
    (status.value = `${file}: ${Math.round((100 * loaded) / total)} %`);
  const [source, options] = placeOf(at);
  const engine = await init({ models: true });
  const all = { ...options, cache: { name: 'search-page' }, signal, onProgress };
  const model = await engine.loadModel(source, all);
  await loaded.model?.dispose();
  loaded = { at, model };
  return model;
}

/** The vectors of texts, [texts][width], and how many of them were computed. */
async function vectorsOf(texts, at, signal) {
  const vectors = await keptVectors(at, texts);
  const missing = [...new Set(texts.filter((_, i) => vectors[i] === undefined))];
  if (missing.length > 0) {
    const model = await modelAt(at, signal);
    const onProgress = ({ done, of }) => (status.value = `computing: ${done} of ${of}`);
    // Of a text that is too long, the beginning is read.
    const { data, shape } = await model.embed(missing, { truncate: true, signal, onProgress });
    const rows = missing.map((_, i) => data.slice(i * shape[1], (i + 1) * shape[1]));
    await keepVectors(at, missing, rows);
    texts.forEach((each, i) => (vectors[i] ??= rows[missing.indexOf(each)]));
  }
  return { vectors, computed: missing.length };
}

async function find() {
  latest.abort(); // the answer to an older question has no use any more
  latest = new AbortController();
  const { signal } = latest;
  const segments = new Intl.Segmenter('en', { granularity: 'sentence' }).segment(text.value);
  const sentences = Array.from(segments, ({ segment }) => segment.trim()).filter(Boolean);
  const at = address.value.trim();
  const question = query.value.trim();
  const { vectors, computed } = await vectorsOf([question, ...sentences], at, signal);
  signal.throwIfAborted();
  const [own, ...others] = vectors;
  const data = new Float32Array(others.flatMap((vector) => [...vector]));
  const near = nearest({ data, shape: [others.length, own.length] }, own, 5);
  found.replaceChildren(
    ...near.map(({ index, similarity }) => {
      const line = document.createElement('li');
      line.style.setProperty('--share', `${100 * Math.max(0, similarity)}%`);
      const cosine = Object.assign(document.createElement('b'), {
        textContent: similarity.toFixed(3),
      });
      line.append(cosine, sentences[index]);
      return line;
    }),
  );
  status.value = `${sentences.length} sentences; vectors computed: ${computed}, kept from before: ${vectors.length - computed}`;
}

search.addEventListener('submit', (event) => {
  event.preventDefault();
  find().catch((error) => {
    if (error.name !== 'AbortError') status.value = `failed: ${error.message}`;
  });
});

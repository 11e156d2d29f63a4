// Vectors that stay in the browser from one visit to the next, in IndexedDB.

const done = (request) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

const opening = indexedDB.open('qkv-search', 1);
opening.onupgradeneeded = () => opening.result.createObjectStore('vectors');
const database = done(opening);

/** A vector is that of a text by a model: another model gives another one. */
const keyOf = (model, text) => `${model}\n${text}`;

async function store(mode) {
  return (await database).transaction('vectors', mode).objectStore('vectors');
}

/** The vectors of texts that are here, others undefined. */
export async function keptVectors(model, texts) {
  const vectors = await store('readonly');
  return Promise.all(texts.map((text) => done(vectors.get(keyOf(model, text)))));
}

/** Keeps vectors. */
export async function keepVectors(model, texts, all) {
  const vectors = await store('readwrite');
  await Promise.all(texts.map((text, i) => done(vectors.put(all[i], keyOf(model, text)))));
}

// The web, as a map of what is there.

/** Runs with `files` by their addresses; every other address answers with what `elsewhere` says of it. { result, asked }: the addresses. */
export async function onWeb(files, elsewhere, run, { tellsLength = true } = {}) {
  const { fetch } = globalThis;
  const asked = [];
  globalThis.fetch = (address) => {
    asked.push(String(address));
    const path = String(address).replace(/[?#].*$/s, '');
    const bytes = files.get(path) ?? elsewhere(path);
    const headers = tellsLength ? { 'content-length': `${bytes.length}` } : {};
    return Promise.resolve(new Response(bytes, { headers }));
  };
  try {
    return { result: await run(), asked };
  } finally {
    globalThis.fetch = fetch;
  }
}

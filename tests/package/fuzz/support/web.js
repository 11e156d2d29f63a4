// The web, as a map of what is there.

/** Runs with `files` by their addresses; every other address answers with `elsewhere`. { result, asked }: the addresses. */
export async function onWeb(files, elsewhere, run, { tellsLength = true } = {}) {
  const { fetch } = globalThis;
  const asked = [];
  globalThis.fetch = (address) => {
    asked.push(String(address));
    const bytes = files.get(String(address).replace(/[?#].*$/s, '')) ?? elsewhere;
    const headers = tellsLength ? { 'content-length': `${bytes.length}` } : {};
    return Promise.resolve(new Response(bytes, { headers }));
  };
  try {
    return { result: await run(), asked };
  } finally {
    globalThis.fetch = fetch;
  }
}

/** Runs with the globals of a page beside those of Node, as jsdom and happy-dom put them there. */
export async function asIfOnPage(run, baseURI = 'http://localhost:3000/') {
  Object.assign(globalThis, {
    location: { href: 'http://localhost:3000/' },
    document: { baseURI },
  });
  try {
    return await run();
  } finally {
    delete globalThis.location;
    delete globalThis.document;
  }
}

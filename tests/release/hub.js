// A hub with one model, as those are that models are fetched from.
import { serve } from '../support/js/server.js';

const commit = '0123456789abcdef0123456789abcdef01234567';

/** The path of the list of the files of a model. */
export const listingOf = (model) => `/api/models/${model}/revision/main`;

/** Serves the files of a model by their names, which are bytes or JSON, to pages of any origin; other paths by `others`. */
export function serveHub(model, files, others = () => undefined) {
  const siblings = Object.keys(files).map((rfilename) => ({ rfilename }));
  const headers = { 'access-control-allow-origin': '*' };
  return serve((path) => {
    const isListing = path === listingOf(model);
    const name = path.replace(`/${model}/resolve/${commit}/`, '');
    const file = isListing ? { sha: commit, siblings } : files[name];
    if (file) return { headers, body: file instanceof Uint8Array ? file : JSON.stringify(file) };
    return others(path) ?? { status: 404, headers };
  });
}

import type { Opened } from '../../model/worker/open_model';
import {
  MAP_SITES,
  type CauseMap,
  type MapSite,
  type Maps,
  type Prompts,
} from '../shared/protocol';

/** News of how far the maps are, at most so often, in milliseconds. */
const OFTEN = 50;

/** The maps that a model has: one of attention alone has no feed-forward part. */
const sitesOf = ({ model }: Opened): readonly MapSite[] =>
  MAP_SITES.filter((site) => site !== 'feedForward' || model.config.dFeedForward > 0);

/** Computes the maps of two prompts one after another, and tells how far it is, until it is stopped. */
export async function computeMaps(
  of: Opened,
  { clean, corrupt, answer, instead }: Prompts,
  { signal, say }: { readonly signal: AbortSignal; readonly say: (maps: Maps) => void },
): Promise<void> {
  const { numLayers, numHeads } = of.info;
  const sites = sitesOf(of);
  const sizeOf = (site: MapSite) => numLayers * (site === 'z' ? numHeads : clean.ids.length);
  const all = sites.reduce((sum, site) => sum + sizeOf(site), 0);
  const maps: CauseMap[] = [];
  let [before, reported] = [0, -Infinity];
  const tell = (done: number, running: boolean) => say({ maps: [...maps], done, of: all, running });
  try {
    for (const site of sites) {
      const { grid } = await of.model.sweep({
        ...{ clean: clean.ids, corrupt: corrupt.ids, site, signal },
        ...{ answer: answer!.id, instead: instead!.id },
        onProgress({ done }) {
          if (performance.now() - reported < OFTEN) return;
          reported = performance.now();
          tell(before + done, true);
        },
      });
      const [rows, columns] = grid.shape;
      maps.push({ site, rows, columns, values: grid.data });
      before += sizeOf(site);
      tell(before, before < all);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    tell(before, false);
  }
}

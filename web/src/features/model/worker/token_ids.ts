import { MOST_TOKENS, type ModelAsk, type Reading } from '../shared/protocol';
import type { Opened } from './open_model';

/** The tokens of a text, repeated or cut, after the one that every text begins with. */
export function idsOf(
  { encode, begin, info }: Opened,
  { text, length }: Pick<ModelAsk, 'text' | 'length'>,
): Pick<Reading, 'ids' | 'total' | 'unknown'> {
  const { ids, unknown } = encode(text);
  const lead = begin === null || ids[0] === begin ? [] : [begin];
  const total = lead.length + ids.length;
  const most = Math.min(length ?? total, MOST_TOKENS, info.maxLength);
  const own = ids.length === 0 ? 0 : most - lead.length;
  const all = [...lead, ...Array.from({ length: own }, (_, i) => ids[i % ids.length]!)];
  return { ids: all.slice(0, most), total, unknown };
}

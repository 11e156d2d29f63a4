// Modules that are several maps, as c_attn of GPT-2 is q, k and v. PEFT has one A and one B for all of them. Here each map has its own: of files
// of PEFT all have the same A, and of B the rows that are theirs. Once they differ they are written as one pair of the rank of all together: A has
// theirs one below the other, and B those of each map in the columns of its A, and zeros. The metadata says which maps these are, so that they are
// read as they were; PEFT needs nothing of it.

import { isRecord, jsonIn } from '../../arguments/values.js';
import { quoted, refuse } from '../errors.js';
import type { AdaptedModule, Member } from './modules.js';

/** The name of the metadata: JSON, an object with the maps of modules by the ends of their paths. */
export const blocksName = 'qkv.blocks';

/** What a map has of a pair: of its rank so much, from `first` on. */
interface Part {
  readonly member: Member;
  readonly first: number;
  readonly rank: number;
}

export interface Blocks {
  partsOf(
    module: AdaptedModule,
    pair: { readonly path: string; readonly rank: number; readonly up: Float32Array },
  ): readonly Part[];
}

/** 'wq' of 'layers.0.attention.wq'. */
export const mapOf = (name: string): string => name.slice(name.lastIndexOf('.') + 1);

/** Everything but the blocks is zeros. */
function checkZeros(path: string, parts: readonly Part[], outputs: number, up: Float32Array): void {
  const whole = up.length / outputs;
  const own = new Map<number, Part>();
  for (const part of parts) for (const row of part.member.rows()) own.set(row, part);
  for (let row = 0; row < outputs; row += 1) {
    const { first = 0, rank = 0 } = own.get(row) ?? {};
    for (let r = 0; r < whole; r += 1) {
      if ((r < first || r >= first + rank) && up[row * whole + r] !== 0)
        refuse(`${quoted(path)} has other numbers than in its ${blocksName}`, 'zeros there');
    }
  }
}

/** What the metadata of a file says of modules of several maps. */
export function blocksIn(metadata: ReadonlyMap<string, string>): Blocks {
  const text = metadata.get(blocksName);
  const said = text === undefined ? {} : jsonIn(text);
  if (!isRecord(said))
    refuse(`the metadata has ${quoted(text ?? '')} as ${blocksName}`, 'an object');
  const known = new Map(Object.entries(said));
  return {
    partsOf({ suffix, members, outputs }, { path, rank, up }) {
      const maps = known.get(suffix);
      if (maps === undefined) return members.map((member) => ({ member, first: 0, rank }));
      const list: readonly unknown[] = Array.isArray(maps) ? maps : [];
      const all = list.map((map) => members.find(({ name }) => mapOf(name) === map));
      const own = all.filter((member) => member !== undefined);
      const each = rank / own.length;
      if (
        own.length < 1 ||
        own.length < list.length ||
        new Set(own).size < own.length ||
        !Number.isInteger(each)
      )
        refuse(
          `the metadata has ${quoted(JSON.stringify(maps))} as ${blocksName} of ${quoted(suffix)}`,
          `maps of it whose number divides the rank ${rank}`,
        );
      const parts = own.map((member, i) => ({ member, first: i * each, rank: each }));
      checkZeros(path, parts, outputs, up);
      return parts;
    },
  };
}

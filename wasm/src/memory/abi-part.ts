import { type Abi, readAbi, written, type WrittenAbi } from './abi.js';

/** A part of a schema, from its text, whose records have groups of the base too. */
export function readPart(text: string): Abi {
  const part = JSON.parse(text) as WrittenAbi;
  return readAbi({ ...part, groups: { ...written.groups, ...part.groups } });
}

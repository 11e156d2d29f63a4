// What a text that says where a file is means here: a path, or an address that a page may complete.

import { nodeModule } from './node.js';

interface Surroundings {
  readonly process?: { readonly type?: string; readonly versions?: { readonly node?: string } };
  readonly location?: { readonly href: string };
  readonly document?: { readonly baseURI: string };
}

/** One letter before the colon is a drive of Windows. */
const isWhole = (address: string): boolean => /^[a-z][a-z\d+.-]+:/i.test(address);

/**
 * Whether an address is a path. Node, Bun and Deno have files and mean a path even where a test runner gave them the `location`
 * of a page (jsdom, happy-dom) and where it is the script of a worker (Deno). Windows of Electron are pages.
 */
export function isPath(address: string): boolean {
  const { process, location } = globalThis as Surroundings;
  if (isWhole(address)) return false;
  if (location === undefined) return true;
  const isNode = process?.versions?.node !== undefined && process.type !== 'renderer';
  return isNode && nodeModule('node:fs/promises') !== undefined;
}

/** An address as whoever is elsewhere understands it: what is relative is so to the page, as its <base> says. */
export function wholeAddress(address: string): string {
  const { document, location } = globalThis as Surroundings;
  if (isPath(address)) return address;
  try {
    return new URL(address, document?.baseURI ?? location?.href).href;
  } catch {
    return address;
  }
}

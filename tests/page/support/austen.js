// The English model of the project: as the page loads it, and as the package does.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../support/js/files.js';
import { packageModule } from './engine.js';

export const bytes = readFileSync(join(root, 'models/austen/austen.safetensors'));
export const file = new Blob([bytes]);
/** What a worker loads. */
export const files = { kind: 'address', name: 'austen', url: URL.createObjectURL(file) };

/** Its characters, by their ids; `web` has the page's own reader of files. */
export const charactersOf = async (web) => web.tokensOf(await web.headerOf(file)).tokens;

/** The model, in float32, and the ids of a text after the line break that every text begins with. */
export async function austen(qkv, web, text) {
  const { load } = await packageModule('models');
  const characters = await charactersOf(web);
  return {
    model: await load(qkv, { weights: file }, { format: 'f32' }),
    ids: Array.from(`\n${text}`, (character) => characters.indexOf(character)),
  };
}

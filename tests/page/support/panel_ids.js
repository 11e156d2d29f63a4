// The panels of the page, in its order, as the registry lists them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../support/js/files.js';

const registry = readFileSync(join(root, 'web/src/features/index.ts'), 'utf8');
const [, listed] = /FEATURES = \{(.*?)\}/s.exec(registry);
export const panelIds = listed.match(/\w+/g);

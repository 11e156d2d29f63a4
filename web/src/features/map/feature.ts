import type { Feature } from '../feature';
import { mapFields } from './state';

export const map = { fields: mapFields } satisfies Feature;

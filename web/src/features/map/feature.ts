import type { Feature } from '../feature';
import { mapFields } from './state';

export const map = {
  fields: mapFields,
  lockable: {
    show: '[name=show]',
    look: '[name=look]',
  },
} satisfies Feature;

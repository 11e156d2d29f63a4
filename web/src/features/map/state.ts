import { LOOKS, ORDERS, SHOWS } from '../../domain/choices';
import { MAX_HEADS } from '../../domain/sources';
import { choice, integer, optionalNumber } from '../../state/field';

const HEADS = [0, MAX_HEADS - 1] as const;

export const mapFields = {
  head: integer('h', 0, HEADS),
  /** The head that is subtracted from the shown one. */
  other: optionalNumber(integer('minus', 0, HEADS)),
  show: choice('show', 'weights', SHOWS),
  look: choice('look', 'map', LOOKS),
  order: choice('sort', 'number', ORDERS),
};

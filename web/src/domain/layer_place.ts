/** What a trained model has of a layer, by the names that the block panel has for its own. */
export type LayerPlace =
  | 'input'
  | 'weights'
  | 'concat'
  | 'attention'
  | 'sum1'
  | 'hidden'
  | 'forward'
  | 'sum2';

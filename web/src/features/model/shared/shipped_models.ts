/** The models that this page brings, trained before by the recipes of models/. */
export const SHIPPED = ['names', 'novels', 'austen', 'tang'] as const;
export type ShippedName = (typeof SHIPPED)[number];

/** Texts of the kind that a model was trained on, none of them by the model. */
export const EXAMPLES: Readonly<Record<ShippedName, readonly string[]>> = {
  names: [
    'When Mary and John went to the shop, John gave a book to',
    'After Tom met Emma in the park, Emma handed the key to',
    '当玛丽和约翰去商店时，约翰把书送给了',
  ],
  novels: [
    'She had known Miss Fitzwarren for a year, and nobody else knew Miss Fitz',
    'Mr. Starbuck saw the Pequod near the island. In the evening Mr. Starbuck saw the Pequod near the',
    'It was the best of the whale, it was the worst of the whale, it was the',
  ],
  austen: [
    'It is a truth universally acknowledged, that a single man in possession of a good fortune',
    'She was tired, and the evening was long. She was tired, and the evening was',
    'Mr. Bingley danced with Miss Fitzhugh. Mr. Bingley danced with Miss',
  ],
  tang: [
    '床前明月光，疑是地上霜。举头望明月，低头',
    '春眠不觉晓，处处闻啼鸟。夜来风雨声，',
    '白日依山尽，黄河入海流。',
  ],
};

/** In their training a text of either begins after a line break. */
export const BEGIN = '\n';

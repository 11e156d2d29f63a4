// The ways in which families cut a text into words before pairs are merged, by the names that GGUF has for them. Patterns are applied
// one after the other: each cuts what it finds out of the parts that those before it left, and what lies between stays a part.

/** What a family does with a text, besides its pairs. */
export interface Cut {
  readonly patterns: readonly RegExp[];
  /** Whether a word that is a token is that one, before any merge. */
  readonly wholeWords: boolean;
  /** Whether a text begins with a token of its own where the file does not say. */
  readonly addsBegin: boolean;
  /** Whether letters and marks are composed first. */
  readonly composes: boolean;
}

/** The same, with patterns as texts. */
type Way = Partial<Omit<Cut, 'patterns'>> & { readonly patterns: readonly string[] };

const shortened = "'(?:[sdmt]|ll|ve|re)";
const shortenedAnyCase = "'(?:[sSdDmMtT]|[lL][lL]|[vV][eE]|[rR][eE])";
const spaces = '\\s+(?!\\S)|\\s+';
const signs = ' ?[^\\s\\p{L}\\p{N}]+';
const lines = '\\s*[\\r\\n]+';
/** A word with one sign before it. */
const word = '[^\\r\\n\\p{L}\\p{N}]?\\p{L}+';
const gpt2 = `${shortened}| ?\\p{L}+| ?\\p{N}+|${signs}|${spaces}`;
/** Llama 3, Qwen 2 and those after them, which differ in how many digits go together. */
const newer = (digits: string, short = `${shortenedAnyCase}|`): string =>
  `${short}${word}|${digits}|${signs}[\\r\\n]*|${lines}|${spaces}`;
/** Words that end where small letters are followed by capital ones, with one sign before and `after` behind. */
const byCase = (after: string, digits: string): string => {
  const [capital, small] = [
    '[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]',
    '[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]',
  ];
  const sign = '[^\\r\\n\\p{L}\\p{N}]?';
  const words = `${sign}${capital}*${small}+${after}|${sign}${capital}+${small}*${after}`;
  return `${words}|${digits}|${signs}[\\r\\n/]*|${lines}|${spaces}`;
};
const oneToThree = '\\p{N}{1,3}';
const threeDigits = '[0-9][0-9][0-9]';
const eastAsian = '[\\u4e00-\\u9fa5\\u3040-\\u309f\\u30a0-\\u30ff]+';
const withMarks =
  '[!-\\/:-@\\[-`{-~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+';
const deepseek3 = [oneToThree, eastAsian, `${withMarks}[\\r\\n]*|${lines}|${spaces}`];
/** Letters that DeepSeek lists: those with a case, but for scripts and blocks that its list lacks or that are newer. */
const notListed =
  '\\u0560-\\u0588\\u10c6-\\u10ff\\u1c80-\\u1c8a\\u2d00-\\u2d2d\\ua790-\\ua7ff\\uab30-\\uab68\\u{10570}-\\u{105bc}' +
  '\\u{10d50}-\\u{10d85}\\u{16e40}-\\u{16ed3}\\u{1d400}-\\u{1df2a}';
const cased = `(?:(?![${notListed}])[\\p{Lu}\\p{Ll}\\p{Lt}\\u0295])`;
const farEast = '[\\u4e00-\\u9fa5\\u0800-\\u4e00\\uac00-\\ud7ff]+';
const bloom = ' ?[^(\\s|.,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c)]+';
const halves = [512, 256, 128, 64, 32, 16, 8, 4].map((n) => `\\s{${n}}(?!\\S)`).join('|');

const llama3: Way = { patterns: [newer(oneToThree)], wholeWords: true, addsBegin: true };
const gpt4o = byCase(`(?:${shortenedAnyCase})?`, oneToThree);

/** Names that mean the same, and what they mean. */
const ways: readonly (readonly [names: string, way: Way])[] = [
  // What llama.cpp does with files that do not say.
  ['default', { patterns: ['[\\p{P}$+<=>\\^~|]+', gpt2, '\\p{N}+', threeDigits] }],
  [
    'gpt-2 phi-2 jina-es jina-de jina-v2-es jina-v2-de jina-v1-en jina-v2-code roberta-bpe gigachat a.x-4.0 mellum modern-bert ' +
      'exaone4 jais trillion granite-docling',
    { patterns: [gpt2] },
  ],
  // With the tokens of GPT-NeoX, whose tokenizer.json composes.
  ['mpt olmo', { patterns: [gpt2], composes: true }],
  [
    'starcoder refact command-r smollm codeshell exaone minerva-7b mellum2',
    { patterns: ['\\p{N}', gpt2] },
  ],
  ['falcon', { patterns: ['[\\p{P}$+<=>\\^~|`]+', gpt2, threeDigits] }],
  ['llama-bpe llama3 llama-v3 falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano', llama3],
  ['dbrx smaug-bpe glm4 chatglm-bpe', { patterns: llama3.patterns }],
  ['minicpm5', { patterns: [oneToThree, newer('\\p{N}+')], wholeWords: true }],
  // Composed in the tokenizer.json of Qwen, though llama.cpp does not.
  ['qwen2', { patterns: [newer('\\p{N}')], composes: true }],
  [
    'deepseek-r1-qwen kormo f2llmv2 megrez stablelm2 hunyuan solar-open grok-2',
    { patterns: [newer('\\p{N}')] },
  ],
  [
    'qwen35',
    {
      patterns: [
        newer('\\p{N}')
          .replaceAll('\\p{L}+', '[\\p{L}\\p{M}]+')
          .replace(signs, ' ?[^\\s\\p{L}\\p{M}\\p{N}]+'),
      ],
      composes: true,
    },
  ],
  ['ufakzeka', { patterns: [newer('\\p{N}', '')] }],
  ['laguna', { patterns: ['\\n+', newer('\\p{N}')] }],
  [
    'bailingmoe bailingmoe2 llada-moe',
    { patterns: [newer('\\p{N}').replace(lines, '\\s*[\\r\\n]')] },
  ],
  [
    'seed-coder',
    { patterns: [newer('\\p{N}').replace(`${signs}[\\r\\n]*`, ' ?[^\\s\\p{L}\\p{N}\\r\\n]+')] },
  ],
  [
    'exaone-moe',
    {
      patterns: [
        newer('\\p{N}')
          .replace('\\p{L}+', '(?:\\p{L}\\p{M}*(?: \\p{L}\\p{M}*)*)+')
          .replace('[\\r\\n]*', '[\\r\\n/]?')
          .replace(lines, '\\s*[\\r\\n]'),
      ],
    },
  ],
  ['jais-2', { patterns: [newer(oneToThree).replace(spaces, `${halves}|\\s{1,2}(?!\\S)|\\s`)] }],
  ['tekken', { patterns: [byCase('', '\\p{N}')], wholeWords: true, addsBegin: true }],
  ['gpt-4o llama4 kanana2 talkie minimax-m2', { patterns: [gpt4o] }],
  ['granite-embed-multi-97m', { patterns: [gpt4o], wholeWords: true }],
  [
    'tiny_aya cohere2moe',
    { patterns: ['\\p{Nd}{1,3}(?=(?:\\p{Nd}{3})*(?![\\p{L}\\p{M}\\p{N}_]))', gpt4o] },
  ],
  [
    'youtu',
    {
      patterns: [
        '[\\uac00-\\ud7a3\\u3131-\\u318e]+|[\\uff01\\u2026\\u201c\\u201d\\u2018\\u2019\\u2014\\uff1a\\uff1b\\uff0c\\u3001-\\u303f\\ufe30-\\ufe4f]+|' +
          `[\\u3105-\\u312f]+|${eastAsian}`,
        byCase(`(?:${shortenedAnyCase})?`, '\\p{N}'),
      ],
      wholeWords: true,
    },
  ],
  ['deepseek-v3 hunyuan-dense joyai-llm hy_v4', { patterns: deepseek3 }],
  ['spark2_5', { patterns: [oneToThree, eastAsian, `${withMarks}|[\\r\\n]|${spaces}`, '\\p{N}'] }],
  ['deepseek-coder', { patterns: ['[\\r\\n]', '\\s?\\p{L}+', '\\s?\\p{P}+', farEast, '\\p{N}'] }],
  [
    'deepseek-llm',
    {
      patterns: [
        '[\\r\\n]',
        `\\s?${cased}+`,
        '\\s?[!-\\/:-~\\uff01-\\uff0f\\uff1a-\\uff5e\\u2018-\\u201f\\u3000-\\u3002]+',
        '\\s+$',
        farEast,
        '\\p{N}',
      ],
    },
  ],
  ['bloom poro-chat gpt3-finnish', { patterns: [bloom] }],
  ['viking', { patterns: [bloom, '\\p{N}'] }],
  ['superbpe', { patterns: ['\\p{N}+', '(?=(?:\\p{Nd}{3})+(?!\\p{Nd}))'] }],
  [
    'chameleon',
    {
      patterns: [
        '<sentinel:[0-9]+>',
        'IMGIMG[A-I]{1,4}Z',
        '[\\t\\n]|    |  ',
        '\\p{N}',
        '[\\p{P}!-\\/:-@\\[-`{-~]',
        gpt2,
      ],
      addsBegin: true,
    },
  ],
];

/**
 * A pattern as an expression, with the spaces of Unicode, as those who made the tokenizers have them. JavaScript's \s has U+FEFF
 * besides, and lacks U+0085.
 */
const expression = (pattern: string): RegExp =>
  new RegExp(
    pattern.replaceAll('\\s', '\\p{White_Space}').replaceAll('\\S', '\\P{White_Space}'),
    'gu',
  );

/** The words of GPT-2. */
export const gpt2Words = expression(gpt2);

/** The cut of this name. */
export function cutOf(name: string): Cut | undefined {
  const [, way] = ways.find(([names]) => names.split(' ').includes(name)) ?? [];
  if (!way) return undefined;
  const { patterns, wholeWords = false, addsBegin = false, composes = false } = way;
  return { patterns: patterns.map(expression), wholeWords, addsBegin, composes };
}

/** Puts what a pattern finds in a text, and what lies between, at the end of `parts`. */
function cutInto(parts: string[], text: string, pattern: RegExp): void {
  let from = 0;
  for (const { index, 0: found } of text.matchAll(pattern)) {
    if (index > from) parts.push(text.slice(from, index));
    if (found !== '') parts.push(found);
    from = index + found.length;
  }
  if (from < text.length) parts.push(text.slice(from));
}

/** The words of a text, which together are all of it. */
export function wordsOf(text: string, { patterns }: Cut): string[] {
  let words = [text];
  for (const pattern of patterns) {
    const parts: string[] = [];
    for (const word of words) cutInto(parts, word, pattern);
    words = parts;
  }
  return words;
}

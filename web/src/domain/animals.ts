/** English animals by their singular; isAnimal() knows the plurals in -s and -es too. */
const ENGLISH = new Set(
  (
    'animal ant bat bear beaver bee beetle bird boar bull butterfly calf camel cat chicken cow crab crocodile crow ' +
    'deer dog dolphin donkey dove dragon duck eagle elephant fish fly fox frog giraffe goat goose gorilla hamster ' +
    'hare hawk hedgehog hen hippo horse insect kangaroo kitten koala lamb leopard lion lizard lobster mole monkey ' +
    'mosquito moth mouse octopus otter owl ox panda panther parrot penguin pet pig pigeon pony puppy rabbit raccoon ' +
    'ram rat raven robin rooster salmon seal shark sheep snail snake sparrow spider squirrel swan tiger toad trout ' +
    'turkey turtle walrus wasp whale wolf worm zebra'
  ).split(' '),
);

/** Plurals that are not formed by -s or -es. */
const IRREGULAR = new Set(
  'butterflies calves flies geese mice oxen ponies puppies wolves'.split(' '),
);

/** Chinese names of animals mostly end in that of their kind: 小猫, 大象, 长颈鹿. */
export const CHINESE_ENDINGS =
  '猫狗犬鸟鱼马驴牛羊猪虎狮豹狼狐象熊猴猿兔鼠鹿蛇龟蛙鸡鸭鹅鹰鸽鸦雀燕鹤虫蜂蚁蝶蛛虾蟹鲸豚鲨';
const CHINESE = new Set(['动物', '宠物', '狐狸', '猩猩', '骆驼', '袋鼠', '刺猬', '鹦鹉', '蚂蚁']);

/** The English animals of the constructed head by their singular, for the text that lists them. */
export const ENGLISH_ANIMALS: readonly string[] = [...ENGLISH];

const singular = (word: string, ending: string) =>
  word.endsWith(ending) && ENGLISH.has(word.slice(0, -ending.length));

/** Whether the constructed head takes this token for an animal. */
export function isAnimal(token: string): boolean {
  const word = token.toLowerCase();
  if (ENGLISH.has(word) || IRREGULAR.has(word)) return true;
  if (singular(word, 's') || singular(word, 'es')) return true;
  return CHINESE.has(token) || (token !== '' && CHINESE_ENDINGS.includes(token.slice(-1)));
}

const ASKING = new Set(
  'it its itself hungry sleepy thirsty tired 它 它的 饿 饿了 困 困了 渴 渴了 累 累了'.split(' '),
);

/** Whether the constructed head has this token ask for an animal. */
export const asksForAnimal = (token: string): boolean => ASKING.has(token.toLowerCase());

const PRONOUN = /^(it|它)$/iu;

function lastIndex(tokens: readonly string[], pattern: RegExp): number {
  for (let i = tokens.length - 1; i >= 0; i--) if (pattern.test(tokens[i] ?? '')) return i;
  return -1;
}

/**
 * The token whose row the page shows until the reader chooses one: the last "it", and without any the last token that is
 * more than a mark of punctuation. -1 without tokens.
 */
export function homeOf(tokens: readonly string[]): number {
  const pronoun = lastIndex(tokens, PRONOUN);
  if (pronoun >= 0) return pronoun;
  const word = lastIndex(tokens, /[\p{L}\p{N}]/u);
  return word >= 0 ? word : tokens.length - 1;
}

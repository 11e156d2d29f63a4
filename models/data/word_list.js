// Which words the page has vectors of: the commonest of GloVe, and those that its examples need, whether common or not.

/** Words that examples of the page use, or that a reader may try next to them. */
const NEEDED = {
  animals: `cat cats kitten kittens dog dogs puppy puppies horse horses cow cows pig pigs sheep lamb goat lion lions tiger tigers
    elephant elephants monkey monkeys mouse mice rat rats rabbit fox wolf wolves bear bears deer frog snake spider ant bee butterfly
    bird birds eagle owl duck goose geese chicken hen crow shark whale dolphin salmon tuna`,
  food: `bread butter cheese milk egg eggs rice noodles soup salad beef pork potato potatoes tomato tomatoes onion carrot apple apples
    pear orange oranges banana bananas lemon grape grapes cherry tea coffee juice wine beer sugar salt pepper cake chocolate`,
  family: `man men woman women boy boys girl girls father mother son daughter brother brothers sister sisters uncle aunt nephew niece
    grandfather grandmother grandson granddaughter husband wife king queen prince princess duke duchess emperor empress lord lady
    actor actress waiter waitress hero heroine groom bride he she him her his hers sir madam gentleman gentlemen`,
  work: `doctor nurse teacher professor student scientist physicist chemist mathematician engineer programmer lawyer judge farmer
    baker cook chef carpenter plumber electrician mechanic pilot driver soldier sailor painter poet writer author musician singer dancer
    secretary receptionist librarian housekeeper homemaker`,
  places: `france paris germany berlin italy rome spain madrid portugal lisbon greece athens russia moscow poland warsaw austria
    vienna hungary budapest sweden stockholm norway oslo finland helsinki denmark copenhagen ireland dublin england london scotland
    edinburgh netherlands amsterdam belgium brussels switzerland bern turkey ankara egypt cairo iran tehran iraq baghdad israel
    jerusalem india delhi pakistan islamabad china beijing shanghai japan tokyo korea seoul thailand bangkok vietnam hanoi indonesia
    jakarta australia canberra sydney canada ottawa toronto mexico cuba havana brazil argentina chile santiago peru lima kenya nairobi
    texas california europe asia africa america`,
  tongues: `french german italian spanish portuguese greek russian polish swedish norwegian danish dutch turkish english chinese
    japanese korean vietnamese hindi arabic latin`,
  colours: `red orange yellow green blue purple pink brown black white grey gray grass sky blood snow`,
  degrees: `good better best bad worse worst big bigger biggest small smaller smallest large larger largest fast faster fastest slow
    slower slowest strong stronger strongest weak weaker weakest tall taller tallest short shorter shortest old older oldest young
    younger youngest high higher highest low lower lowest hot hotter hottest cold colder coldest warm cool long longer longest`,
  verbs: `walk walks walked walking swim swims swam swimming run runs ran running go goes went gone going see saw seen seeing eat eats
    ate eaten eating sing sings sang sung singing write writes wrote written writing read reads reading think thought thinking fly flies
    flew flying drive drove driven driving sleep slept sleeping sit sits sat sitting speak spoke spoken speaking learn learned learning`,
  opposites: `up down left right day night light dark hot cold happy unhappy sad possible impossible fair unfair known unknown
    certain uncertain lucky unlucky love hate friend enemy war peace rich poor open closed life death`,
  body: `hand hands foot feet arm arms leg legs finger toe head eye eyes ear ears nose mouth tooth teeth heart brain blood child
    children`,
  science: `physics chemistry biology mathematics einstein newton darwin mozart beethoven music painting sculpture picasso shakespeare
    atom molecule cell planet star moon sun galaxy computer computers software microsoft windows google vector matrix attention
    transformer translate translation translator sentence word words language grammar meaning`,
  sentences: `the cat sat on the mat because it was tired bank river money shore boat loan deposit water spring season coil bark tree
    loud jump rust metal`,
};

/** Needed words that the commonest may not have. */
export const neededWords = [
  ...new Set(Object.values(NEEDED).flatMap((text) => text.trim().split(/\s+/))),
];

/** The words of the file, as many as `count`: the needed ones and the commonest others, in the order of how common they are. */
export function chosenWords(words, count) {
  const plain = words.filter((word) => /^[a-z]+$/.test(word));
  const rank = new Map(plain.map((word, i) => [word, i]));
  const missing = neededWords.filter((word) => !rank.has(word));
  if (missing.length > 0) throw new Error(`GloVe does not know ${missing.join(', ')}`);
  const needed = new Set(neededWords);
  const common = plain.filter((word) => !needed.has(word)).slice(0, count - needed.size);
  return [...needed, ...common].sort((a, b) => rank.get(a) - rank.get(b));
}

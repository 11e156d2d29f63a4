// What recipes learn from: archives held to their hashes, R's data, splits and forms, and the n-grams that a model is compared with.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { deflateSync, gzipSync } from 'node:zlib';
import * as austen from '../../models/data/austen.js';
import { charactersOf, characterTokenizer } from '../../models/data/characters.js';
import { checked, fetchArchive, isPresent, NotFetched } from '../../models/data/fetch.js';
import { discountsOf, kneserNey } from '../../models/data/kneser_ney.js';
import { givingSentence, namesTokenizer, otherSentence, partsOf } from '../../models/data/names.js';
import { piecesOf, pieceTokenizer } from '../../models/data/pieces.js';
import { editDistance, tokenizerOf, wordsOf } from '../../models/data/phones.js';
import { readR, readRDatabase } from '../../models/data/r_data.js';
import { endsOf, rhymer } from '../../models/data/rhyme.js';
import * as tang from '../../models/data/tang.js';
import { accuracies } from '../../models/recipes/phones.js';
import { randomOf } from '../../models/recipes/random.js';

const folder = mkdtempSync(join(tmpdir(), 'qkv-data-'));
after(() => rmSync(folder, { recursive: true }));

test('models/data: an archive with another hash is refused, and both are told', () => {
  const file = join(folder, 'archive.tgz');
  writeFileSync(file, 'abc');
  // The hash of "abc" is an example of FIPS 180-2.
  const abc = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
  assert.equal(checked(file, abc), file);
  writeFileSync(file, 'abd');
  assert.throws(() => checked(file, abc), {
    message: new RegExp(`^archive\\.tgz has the SHA-256 [0-9a-f]{64}, expected ${abc}$`),
  });
});

test('models/data: an archive that is not to be had is an error of its own, and leaves nothing', async () => {
  const archive = { from: 'debian', name: 'r-cran-janeaustenr', version: '0', sha256: '' };
  await assert.rejects(fetchArchive(archive), (error) => {
    assert.ok(error instanceof NotFetched);
    assert.match(error.message, /^r-cran-janeaustenr 0 cannot be fetched: /);
    return true;
  });
  assert.ok(!isPresent(archive));
});

/** R's serialisation of small things, written by hand. */
const whole = (...numbers) => {
  const bytes = Buffer.alloc(4 * numbers.length);
  numbers.forEach((number, i) => bytes.writeInt32BE(number, 4 * i));
  return bytes;
};
const text = (characters) =>
  Buffer.concat([whole(0x40009, Buffer.byteLength(characters)), Buffer.from(characters)]);
const texts = (...all) => Buffer.concat([whole(16, all.length), ...all.map(text)]);
const real = (number) => {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(number);
  return bytes;
};
const second = Buffer.concat([Buffer.from('X\n'), whole(2, 0x40201, 0x20300)]);
const third = Buffer.concat([
  ...[Buffer.from('X\n'), whole(3, 0x40201, 0x30500, 5)],
  Buffer.from('UTF-8'),
]);
/** list(a = 1:2, b = NULL, c = 0.5), with names as an attribute. */
const named = Buffer.concat([
  ...[whole(19 | 512, 3), whole(13, 2, 1, 2), whole(254), whole(14, 1), real(0.5)],
  ...[whole(2 | 1024, 1), text('names'), texts('a', 'b', 'c'), whole(254)],
]);

test('readR: vectors, named lists, missing texts and references to symbols', () => {
  assert.deepEqual(readR(Buffer.concat([second, texts('one', 'zwölf', '')])), ['one', 'zwölf', '']);
  assert.deepEqual(readR(Buffer.concat([third, named])), { a: [1, 2], b: null, c: [0.5] });
  const missing = Buffer.concat([second, whole(16, 1), whole(9, -1)]);
  assert.deepEqual(readR(missing), [null]);
  // Two named lists in a list: the second has "names" as a reference to the first symbol.
  const again = Buffer.concat([
    ...[whole(19 | 512, 1), whole(13, 1, 7), whole(2 | 1024, (1 << 8) | 255), texts('d')],
    whole(254),
  ]);
  const both = Buffer.concat([second, whole(19, 2), named, again]);
  assert.deepEqual(readR(both)[1], { d: [7] });
});

test('readR: what it cannot read is an error that says so', () => {
  assert.throws(() => readR(Buffer.from('A\n12345678')), { message: 'R data is not XDR' });
  const fourth = Buffer.concat([Buffer.from('X\n'), whole(4, 0, 0)]);
  assert.throws(() => readR(fourth), { message: 'R data has version 4, expected 2 or 3' });
  const closure = Buffer.concat([second, whole(3)]);
  assert.throws(() => readR(closure), { message: 'R data has an object of type 3' });
});

test('readRDatabase: objects are where the index says', () => {
  const object = (item) => {
    const deflated = deflateSync(Buffer.concat([second, item]));
    return Buffer.concat([whole(deflated.length), deflated]);
  };
  const [one, two] = [object(texts('it was')), object(texts('and was not'))];
  const place = (from, { length }) => whole(13, 2, from, length);
  const names = (...all) =>
    Buffer.concat([whole(2 | 1024, 1), text('names'), texts(...all), whole(254)]);
  const variables = Buffer.concat([
    ...[whole(19 | 512, 2), place(0, one), place(one.length, two)],
    // Inside a list whose own names come later, this symbol is the first.
    names('emma', 'persuasion'),
  ]);
  const reference = Buffer.concat([
    ...[whole(2 | 1024, (1 << 8) | 255), texts('variables'), whole(254)],
  ]);
  const index = Buffer.concat([second, whole(19 | 512, 1), variables, reference]);
  const path = join(folder, 'Rdata');
  writeFileSync(`${path}.rdx`, gzipSync(index));
  writeFileSync(`${path}.rdb`, Buffer.concat([one, two]));
  assert.deepEqual(readRDatabase(path), { emma: ['it was'], persuasion: ['and was not'] });
});

test('austen: paragraphs lose their line breaks, and what others say in brackets', () => {
  const lines = [
    'CHAPTER I',
    '',
    '',
    'It was',
    '  a day;',
    '',
    '[A note]',
    '',
    'a £5 note',
    '',
    '',
  ];
  assert.deepEqual(austen.paragraphsOf(lines), ['CHAPTER I', 'It was a day;']);
});

test('austen: the end of a novel is held out, in whole paragraphs', () => {
  const paragraphs = Array.from({ length: 10 }, (_, i) => `${i}`.repeat(9));
  const { training, heldOut } = austen.split(paragraphs, 0.25);
  assert.equal(training + heldOut, paragraphs.map((all) => `${all}\n`).join(''));
  assert.equal(heldOut, `${'7'.repeat(9)}\n${'8'.repeat(9)}\n${'9'.repeat(9)}\n`);
});

test('kneserNey: two orders, by hand', () => {
  // "abacabd": ab 2, ba 1, ac 1, ca 1, bd 1. Before a: b and c; before b and c: a; before d: b. Five different pairs in all. There are no
  // counts of three, so that every discount is 0.75.
  const { probability, loss } = kneserNey('abacabd', { order: 2, vocabulary: 5 });
  const near = (x, y) => assert.ok(Math.abs(x - y) < 1e-15, `${x}, expected ${y}`);
  const unseen = (4 * 0.75) / 5 / 5; // four characters are discounted, and five share what is left
  const rare = 0.25 / 5 + unseen;
  const one = { a: 1.25 / 5 + unseen, b: rare, c: rare, d: rare, e: unseen };
  for (const [character, p] of Object.entries(one)) near(probability(character), p);
  near(one.a + one.b + one.c + one.d + one.e, 1);
  // After a: b twice and c once.
  near(probability('ab'), 1.25 / 3 + (1.5 / 3) * one.b);
  near(probability('ac'), 0.25 / 3 + (1.5 / 3) * one.c);
  near(probability('ad'), (1.5 / 3) * one.d);
  near(probability('ba'), 0.25 / 2 + (1.5 / 2) * one.a);
  near(probability('da'), one.a); // nothing is known after d
  near(loss('abe'), -(Math.log(probability('ab')) + Math.log(probability('be'))) / 2);
});

test('kneserNey: discounts are those of Chen and Goodman where there are counts of one to four', () => {
  // n1 = 8, n2 = 4, n3 = 2, n4 = 1: Y = 8 / 16.
  const counts = [...Array(8).fill(1), 2, 2, 2, 2, 3, 3, 4, 9];
  assert.deepEqual(discountsOf(counts), [1 - 0.5, 2 - 3 * 0.5 * 0.5, 3 - 4 * 0.5 * 0.5]);
  assert.deepEqual(discountsOf([1, 1, 2]), [0.75, 0.75, 0.75]);
});

test('kneserNey: the probabilities of all characters add up to one after any context', () => {
  const text = 'she said that she had said so to her sister, and that he had heard';
  const characters = charactersOf(text);
  const { probability } = kneserNey(text, { order: 4, vocabulary: characters.length });
  for (const context of ['', 's', 'sa', 'sai', 'she', 'hhh', 'xyz']) {
    const sum = characters.reduce((total, next) => total + probability(context + next), 0);
    assert.ok(Math.abs(sum - 1) < 1e-12, `${context}: ${sum}`);
  }
});

test('characterTokenizer: there and back, beyond the basic plane too, and what is no token', () => {
  const { encode, decode, json } = characterTokenizer(charactersOf('𠀀b\na'));
  assert.deepEqual(json, { type: 'characters', tokens: ['\n', 'a', 'b', '𠀀'] });
  assert.deepEqual([...encode('b𠀀\n')], [2, 3, 0]);
  assert.equal(decode([2, 3, 0]), 'b𠀀\n');
  assert.throws(() => encode('abc'), { message: '"c" is no token' });
});

test('tang: the form is four lines of five or of seven', () => {
  const five = '白日依山尽，黄河入海流。欲穷千里目，更上一层楼。';
  const seven = '月落乌啼霜满天，江枫渔火对愁眠。姑苏城外寒山寺，夜半钟声到客船。';
  for (const good of [five, seven]) assert.ok(tang.hasForm(good), good);
  for (const bad of [
    ...[five.slice(0, -1), five.slice(1), `${five}\n`, five.replace('，', '。'), five + five],
    ...[five.replace('白', 'a'), five.slice(0, 12) + seven.slice(16), seven.replace('，', '，，')],
  ]) {
    assert.ok(!tang.hasForm(bad), bad);
  }
  assert.deepEqual(tang.linesOf('白日依山尽；黄河入海流。'), ['白日依山尽', '黄河入海流']);
  assert.deepEqual(tang.linesOf('白日依山尽，黄河入海。'), []);
  assert.deepEqual(tang.linesOf('白日依□尽，黄河入海流。'), []);
  const eight = (five + five.replaceAll('白', '红')).replaceAll('，', '？');
  const made = tang.quatrainsOf([five, five, eight, '一，二。']);
  assert.deepEqual(made, { quatrains: [five], halves: [five, five.replaceAll('白', '红')] });
});

test('tang: nothing that is held out is trained on, in whole couplets', () => {
  const line = (i) =>
    '天地人山水风云月日星'[i % 10].repeat(4) + '一二三四五六七八九十'[Math.floor(i / 10)];
  const poem = (i) => `${line(i)}，${line(i + 1)}。${line(i + 2)}，${line(i + 3)}。`;
  const quatrains = Array.from({ length: 20 }, (_, i) => poem(4 * i));
  // The first couplet of each is one of theirs.
  const halves = quatrains.map((text) => text.slice(0, 12) + '春夏秋冬春，夏秋冬春夏。');
  const { training, heldOut } = tang.split({ quatrains, halves }, 0.25);
  assert.equal(heldOut.length, 5);
  assert.equal(training.length, 30);
  for (const text of heldOut) {
    assert.ok(
      quatrains.includes(text) && !training.some((other) => other.includes(text.slice(0, 12))),
    );
  }
});

test('tang: poems with a rare character go', () => {
  const parts = { training: ['天地', '天人', '地人', '天水'], heldOut: ['天地', '水人', '天火'] };
  assert.deepEqual(tang.withoutRare(parts, 2), {
    training: ['天地', '天人', '地人'],
    heldOut: ['天地'],
  });
});

test('rhymer: by groups of finals, in any reading', () => {
  const readings = {
    天: ['ian'],
    眠: ['ian'],
    船: ['uan'],
    中: ['ong'],
    行: ['ing', 'ang'],
    霜: ['uang'],
    嗯: ['n'],
  };
  const rhyme = rhymer((character) => readings[character]);
  assert.ok(rhyme('眠', '船') && rhyme('行', '霜') && rhyme('霜', '行') && rhyme('行', '中'));
  assert.ok(!rhyme('天', '中') && !rhyme('嗯', '嗯'), 'what has no final rhymes with nothing');
  const seven = '月落乌啼霜满天，江枫渔火对愁眠。姑苏城外寒山寺，夜半钟声到客船。';
  assert.deepEqual(endsOf(seven), ['眠', '船']);
});

test('phones: words and their ways, without stress and without what is no word', () => {
  const words = wordsOf({
    ...{ READ: 'R EH1 D', 'READ(1)': 'R IY1 D', 'READ(2)': 'R IY0 D', "IT'S": 'IH1 T S' },
    ...{ 'A.': 'EY1', A42: 'EY1', ABCDEFGHIJKLMNOPQRSTU: 'EY1' },
  });
  assert.deepEqual(words, [
    { word: 'read', said: [['R', 'EH', 'D'], ['R', 'IY', 'D']] },
    { word: "it's", said: [['IH', 'T', 'S']] },
  ]); // prettier-ignore
  const { tokens, encode, json } = tokenizerOf(words);
  assert.deepEqual(tokens.slice(0, 4), ['<start>', '<end>', "'", 'a']);
  assert.deepEqual(tokens.slice(-3), ['R', 'S', 'T']);
  assert.deepEqual(
    [...encode(['R', 'IY'])].map((id) => tokens[id]),
    ['R', 'IY'],
  );
  assert.deepEqual([json.start, json.end], [0, 1]);
});

test('phones: distances, and the way that is nearest', () => {
  const list = (word) => [...word];
  assert.equal(editDistance(list('kitten'), list('sitting')), 3);
  assert.equal(editDistance([], list('abc')), 3);
  assert.equal(editDistance(list('abcd'), list('acd')), 1);
  assert.equal(editDistance(list('abc'), list('abc')), 0);
  const found = accuracies([
    { said: list('abc'), ways: [list('xyz'), list('abc')] },
    { said: list('abd'), ways: [list('abcd')] },
  ]);
  assert.deepEqual(found, { words: 0.5, phones: 0.857 }); // one error in seven phones
});

test('pieces: byte pairs by hand, and the longest piece at each place', () => {
  // " aab" 3 times and "aa" once: a a 4 times, a b and " " a 3 times each; then aa b and " " aa 3 times each.
  assert.deepEqual(piecesOf('aa aab aab aab', 4), [' ', 'a', 'aa', 'b']);
  assert.deepEqual(piecesOf('aa aab aab aab', 6), [' ', ' aa', ' aab', 'a', 'aa', 'b']);
  const { encode, decode, json } = pieceTokenizer([' aa', 'a', 'aa', 'b', ' b']);
  const read = (text) => Array.from(encode(text), (id) => json.tokens[id]);
  assert.deepEqual(read('aab aaa'), ['aa', 'b', ' aa', 'a']);
  assert.deepEqual(read('b b'), ['b', ' b']);
  assert.deepEqual(Array.from(pieceTokenizer([' Mary', 'a']).encode('Marya')), [0, 1]);
  assert.equal(decode(encode(' aab')), ' aab');
  assert.throws(() => encode('a c'), { message: '" " begins no token' });
});

test('names: who gets it is one of two people and not the one who gives, and what is held out stays so', () => {
  const random = randomOf(5);
  const { encode, tokens } = namesTokenizer();
  for (const name of ['english', 'chinese']) {
    const parts = partsOf(name);
    const spaced = name === 'english' ? ' ' : '';
    for (const [which, people, other] of [
      [{}, parts.names, parts.heldOutNames],
      [{ names: 'heldOutNames', templates: 'heldOut' }, parts.heldOutNames, parts.names],
    ]) {
      for (let i = 0; i < 50; ++i) {
        const sentence = givingSentence(random, name, which);
        const { gets, gives } = sentence;
        const named = sentence.tokens.filter((token) => people.includes(token.trim()));
        assert.deepEqual(named.filter((token) => token === gets).length, 2);
        assert.deepEqual(named.filter((token) => token === gives).length, 2);
        assert.equal(sentence.tokens[sentence.asked], gets);
        assert.ok(!sentence.tokens.some((token) => other.includes(token.trim())));
        // As a reader types it, it is the same tokens.
        const text = sentence.tokens.join('').trimStart();
        assert.deepEqual(Array.from(encode(text), (id) => tokens[id]), sentence.tokens);
      }
    }
    const alone = Array.from({ length: 200 }, () => otherSentence(random, name));
    assert.ok(alone.every(({ asked }) => asked === -1));
    const all = new Set(alone.flatMap((sentence) => sentence.tokens));
    for (const held of [...parts.heldOutNames, ...parts.heldOutPlaces]) {
      assert.ok(all.has(spaced + held), held);
    }
  }
}); // prettier-ignore

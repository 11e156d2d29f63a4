// Texts on which tokenizers differ: spaces of every kind, marks, joiners, scripts without spaces, digits, code, halves of surrogate
// pairs, long words, and texts of control tokens.

const single = [
  ...['', ' ', '  ', '   ', '\t', '\n', '\n\n', '\t\n', ' \n ', '\r\n\r\n', 'a\rb', 'x\n y', 'x\n\n  y  z'],
  ...['    indent', '\t\tindent', 'trailing   ', 'trailing\n', ' lead', '\u00a0', 'a\u00a0b', '\u3000'],
  ...['  \u3000', '\u2028\u2029', '\u0085', 'a\u0085b', ' \u0085 x', '\u200b\u200d\ufeff', 'a\ufeffb', ' \ufeff '],
  ...['Hello world', ' Hello world', 'Hello, World!', "I'LL I'll don't DON'T we've WE'VE he'd 's 't '\u017f it'\u017fx"],
  ...['1', '12', '123', '1234', '12345', '1234567890', ' 3', ' 33', '1,234,567.89', 'a1b2c3', '3.14e-5', '0x1F'],
  ...['\u00bd \u00b2 \u2167 \u0663\u0664\u0665 \u0967\u0968 \u4e00\u4e8c\u4e09', 'x\u00b2y\u00b3', '\u2460\u2461'],
  ...['\u00e9t\u00e9 e\u0301te\u0301 \u00c5 A\u030a n\u0303', '\u1e9b\u0323', '\ufb01 \ufb02', '\u0300', 'a\u0300', ' \u0300'],
  ...['\u00c4\u00d6\u00dc stra\u00dfe STRASSE', '\u0130stanbul \u0131I', '\u01c5 \u01c4', '\u02b0\u02b2 \u00aa\u00ba', '\u212a \u2126'],
  ...['\u4e2d\u6587\u5b57\u7b26', '\u65e5\u672c\u8a9e\u3072\u3089\u304c\u306a\u30ab\u30bf\u30ab\u30ca \uff76\uff80', '\u3007\u3005', '\u4f60\u597d\uff0c\u4e16\u754c\u3002'],
  ...['\ud55c\uad6d\uc5b4 \u1112\u1161\u11ab', '\u3131\u3134', '\u0e44\u0e17\u0e22 \u0e01\u0e47 \u0e19\u0e49\u0e33 \u0e01\u0e33', '\u0939\u093f\u0928\u094d\u0926\u0940'],
  ...['\u09ac\u09be\u0982\u09b2\u09be', '\u0627\u0644\u0639\u0631\u0628\u064a\u0629 \u0645\u064e\u0631\u062d\u064e\u0628\u064b\u0627', '\u05e9\u05b8\u05c1\u05dc\u05d5\u05b9\u05dd', '\u041f\u0440\u0438\u0432\u0435\u0442'],
  ...['\u0395\u03bb\u03bb\u03b7\u03bd\u03b9\u03ba\u03ac\u03c3 \u03a3\u03a3', '\u10e5\u10d0\u10e0\u10d7 \u1c90', '\u12a0\u121b\u122d\u129b', '\u1780\u17d2\u1798\u17c2\u179a', '\u1019\u103c\u1014\u103a'],
  ...['\ud83d\ude00\ud83d\ude01', '\ud83d\udc68\u200d\ud83d\udc69\u200d\ud83d\udc67', '\ud83c\udff3\ufe0f\u200d\ud83c\udf08', '\ud83c\udde9\ud83c\uddea\ud83c\uddeb', '\ud83d\udc4d\ud83c\udffd'],
  ...['a\u0000b', '\u0000', '\u0001\u0002', '\u007f\u0080', '\ud800', 'a\udc00b', ' \ud83d', 'x\ud83d y', '\ue000', '\u{10ffff}', '\u{e0041}', '\ufffd', '\ufffe'],
  ...['\u2581', '\u2581\u2581', 'a\u2581b', ' \u2581 ', '\u0120a', '\u00ad', 'a\u00adb', 'a\u200cb', '\u202eabc\u202c'],
  ...['function f(x) { return x + 1; } // done', '#include <stdio.h>\n\nint main() {\n\tprintf("hi\\n");\n}\n', 'for i in range(10):\n    print(i)\n'],
  ...['https://example.com/a?b=c&d=e#f', 'user@example.com', '$100 \u20ac50 \u00a33', 'a+b=c^2 ~ |x| < > `code`', '!!!???...', "''''", '""', '([{}])', '--- ___ ***'],
  ...['/usr/bin', 'a/b\n/c\r\n/d', 'CamelCaseWords XMLHttpRequest iPhone ABCdef', 'snake_case kebab-case', '\u2026', '\u201eZitat\u201c', '\u2014\u2013', '\u221e \u2211'],
  ...['\uff08\u5168\u89d2\uff09\uff21\uff22\uff11', '\uff01\uff1f', '\u060c \u06d4 \u061f', '\u104a\u104b', '\u00a7\u00b6', 'M\u1d62\u2093', '\u3105\u3106', '\uac00\ub098'],
  ...['<unk>', 'a<unk>b', '<s>', '</s>', '<pad>', '[CLS]', '[UNK] x', '<|endoftext|>', '<|im_start|>user\nhi<|im_end|>', '<0x41>', '##ing', '</w>'],
  ...['a'.repeat(101), 'ab'.repeat(600), ' '.repeat(70), '\n'.repeat(20), '9'.repeat(50), '\u4e2d'.repeat(120), 'e\u0301'.repeat(40), '.'.repeat(90)],
]; // prettier-ignore

/** Numbers of 0 to n - 1, the same in every run. */
function randomOf(seed) {
  let state = seed;
  return (n) => (state = (state * 48271) % 2147483647) % n;
}

/** As many texts; `specials` are texts of tokens, which stand in some of them. */
export function hardStrings(count, specials = []) {
  const random = randomOf(7);
  const parts = [...single.filter((text) => text.length < 40), ...'aeinrstEUR .,;-_'];
  const scripts = [[0x20, 0x7e], [0xa1, 0x17f], [0x300, 0x36f], [0x370, 0x5ff], [0x600, 0x6ff], [0x900, 0xdff], [0xe00, 0x109f], [0x1e00, 0x20cf], [0x2100, 0x2bff], [0x3000, 0x30ff], [0x4e00, 0x5000], [0xac00, 0xad00], [0xf900, 0xffef], [0x1f300, 0x1f6ff]]; // prettier-ignore
  const letter = () => {
    const [from, to] = scripts[random(scripts.length)];
    return String.fromCodePoint(from + random(to - from + 1));
  };
  const around = specials.flatMap((text) => [text, `a${text}`, ` ${text} b`, `${text}${text}`, `\n${text}1`, text.slice(0, -1)]); // prettier-ignore
  const texts = new Set([...single, ...around]);
  while (texts.size < count) {
    let text = '';
    for (let k = 2 + random(4); k > 0; k -= 1) {
      const run = Array.from({ length: 1 + random(6) }, letter).join('');
      text += random(3) === 0 ? run : parts[random(parts.length)];
      if (specials.length > 0 && random(12) === 0) text += specials[random(specials.length)];
      text += ['', ' ', '\n', ''][random(4)];
    }
    texts.add(text);
  }
  return [...texts].slice(0, count);
}

// What a mutation may make of an operator, a constant or a name: the same in C++ and in TypeScript.

const operators = {
  '+': ['-'],
  '-': ['+'],
  '*': ['/'],
  '/': ['*'],
  '%': ['/'],
  '<': ['<=', '>'],
  '<=': ['<', '>='],
  '>': ['>=', '<'],
  '>=': ['>', '<='],
  '==': ['!='],
  '!=': ['=='],
  '===': ['!=='],
  '!==': ['==='],
  '&&': ['||'],
  '||': ['&&'],
  '<<': ['>>'],
  '>>': ['<<'],
  '>>>': ['<<'],
  '&': ['|'],
  '|': ['&'],
  '^': ['&'],
  '+=': ['-='],
  '-=': ['+='],
  '*=': ['/='],
  '/=': ['*='],
  '|=': ['&='],
  '&=': ['|='],
  '<<=': ['>>='],
  '>>=': ['<<='],
  '++': ['--'],
  '--': ['++'],
};

/** Functions of both languages' libraries that are easily confused, without their namespace. */
const functions = { min: 'max', max: 'min', floor: 'ceil', ceil: 'floor', sin: 'cos', cos: 'sin' };

/** What may stand in the place of an operator. */
export const otherOperators = (text) => operators[text] ?? [];

/** What may stand in the place of a function's name. */
export const otherFunctions = (name) => (name in functions ? [functions[name]] : []);

/** An integer in C++ or TypeScript, with the digits' separators and the type's suffix. */
const INTEGER = /^(0[xX][\da-fA-F'_]+|\d[\d'_]*)([uUlLzZn]*)$/;

/** A number with a point or an exponent. */
const FLOAT = /^(\d[\d'_]*\.?[\d'_]*(?:[eE][+-]?\d+)?|\.\d[\d'_]*(?:[eE][+-]?\d+)?)([fFlL]?)$/;

/** A number as text that is a floating-point literal in both languages. */
const asFloat = (value) => (/[.e]/.test(`${value}`) ? `${value}` : `${value}.0`);

/** The neighbours of an integer; of any other number its double and what a lost digit makes of it. */
export function otherNumbers(text) {
  const integer = INTEGER.exec(text);
  if (integer) {
    const [, digits, suffix] = integer;
    const value = BigInt(digits.replace(/['_]/g, ''));
    const other = (number) =>
      `${/^0x/i.test(digits) ? `0x${number.toString(16)}` : number}${suffix}`;
    return value === 0n ? [other(1n)] : [other(value + 1n), other(value - 1n)];
  }
  const [, digits, suffix] = FLOAT.exec(text) ?? [];
  if (digits === undefined) return [];
  const value = Number(digits.replace(/['_]/g, ''));
  const others = value === 0 ? [1] : [2 * value, value * (1 + 2 ** -8)];
  return others.map((other) => `${asFloat(other)}${suffix}`);
}

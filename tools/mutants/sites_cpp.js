// Where C++ can be mutated: its tokens, without comments, strings, preprocessor lines and whatever the compiler
// alone reads. clang-format sets every binary operator between spaces and no bracket of a template, which
// tells the two apart without a parser; what still does not compile is no mutant (random.js draws another).
import { otherFunctions, otherNumbers, otherOperators } from './replacements.js';

const TOKEN = new RegExp(
  [
    /(?<skipped>\s+|\/\/[^\n]*|\/\*[\s\S]*?\*\/|^[ \t]*#(?:\\\n|[^\n])*)/,
    /(?<text>R"(?<fence>[^(\s]*)\([\s\S]*?\)\k<fence>"|(?:u8|[uUL])?"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])+')/,
    /(?<number>\.?\d(?:[eE][+-]|'\w|[\w.])*)/,
    /(?<word>[A-Za-z_]\w*)/,
    /(?<sign><=>|<<=|>>=|\.\.\.|->|::|\+\+|--|<<|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|[^\s\w])/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'gm',
);

/** The tokens of a file: { kind, text, start, end }. `>>` may close two templates and is two tokens or one by its spaces. */
function tokensOf(source) {
  const tokens = [];
  for (const match of source.matchAll(TOKEN)) {
    const { skipped, text, number, word } = match.groups;
    if (skipped !== undefined) continue;
    const kind =
      text !== undefined ? 'text' : number !== undefined ? 'number' : word ? 'word' : 'sign';
    tokens.push({ kind, text: match[0], start: match.index, end: match.index + match[0].length });
  }
  return tokens;
}

const CLOSING = { '(': ')', '[': ']', '{': '}' };

/** The index of the bracket that closes the one at `open`, or of the last token. */
function closing(tokens, open) {
  let depth = 0;
  for (let i = open; i < tokens.length; ++i) {
    if (tokens[i].text in CLOSING && tokens[i].kind === 'sign') depth += 1;
    if (Object.values(CLOSING).includes(tokens[i].text)) depth -= 1;
    if (depth === 0) return i;
  }
  return tokens.length - 1;
}

/** The index of the next `;` outside of brackets that were opened since. */
function semicolon(tokens, from) {
  for (let i = from; i < tokens.length; ++i) {
    if (tokens[i].text in CLOSING) i = closing(tokens, i);
    else if (tokens[i].text === ';') return i;
    else if (Object.values(CLOSING).includes(tokens[i].text)) return -1;
  }
  return -1;
}

/** The index of the `>` that closes the parameters of a template. */
function endOfParameters(tokens, open) {
  let depth = 0;
  for (let i = open; i < tokens.length; ++i) {
    if (tokens[i].text === '(') i = closing(tokens, i);
    if (tokens[i].text === '<') depth += 1;
    if (tokens[i].text === '>') depth -= 1;
    if (depth === 0) return i;
  }
  return tokens.length - 1;
}

/** The last token that is for the compiler alone and belongs to the one at `i`; i - 1 if it is no such thing. */
function endOfDeclaration(tokens, i) {
  const next = tokens[i + 1]?.text;
  switch (tokens[i].text) {
    case 'static_assert':
    case 'using':
    case 'concept':
    case 'friend':
      return Math.max(i, tokens[i].text === 'namespace' ? i : semicolon(tokens, i));
    case 'template':
      return next === '<' ? endOfParameters(tokens, i + 1) : i;
    case 'noexcept':
    case 'alignas':
    case 'requires':
    case '__attribute__':
      return next === '(' ? closing(tokens, i + 1) : i;
    default:
      return i - 1;
  }
}

/** For each token whether it stands for something at run time. */
function mutable(tokens) {
  const kept = tokens.map(() => true);
  let ignored = -1;
  for (let i = 0; i < tokens.length; ++i) {
    ignored = Math.max(ignored, endOfDeclaration(tokens, i));
    kept[i] = i > ignored;
  }
  return kept;
}

const spaced = (source, { start, end }) => /\s/.test(source[start - 1]) && /\s/.test(source[end]);

/** Whether a sign before an operand is its own: nothing before it could be the other operand. */
const prefix = (before) =>
  !before || before.text === 'return' || (before.kind === 'sign' && !/^[\])}]$/.test(before.text));

/** What may stand in the place of one token. */
function ofToken(source, tokens, i) {
  const token = tokens[i];
  const [before, after] = [tokens[i - 1], tokens[i + 1]];
  if (token.kind === 'number') return otherNumbers(token.text);
  if (token.text === 'true') return ['false'];
  if (token.text === 'false') return ['true'];
  if (token.kind === 'word')
    return before?.text === '::' && after?.text === '(' ? otherFunctions(token.text) : [];
  if (token.kind !== 'sign') return [];
  if (token.text === '++' || token.text === '--') return otherOperators(token.text);
  if (/^[-!]$/.test(token.text) && prefix(before) && !spaced(source, token)) return [''];
  return spaced(source, token) ? otherOperators(token.text) : [];
}

/** The tokens of the condition of `if`, `while` or `for` at `i`, as [first, last]; nothing if it has none. */
function conditionAt(tokens, i) {
  let open = i + 1;
  if (tokens[open]?.text === 'constexpr') open += 1;
  if (tokens[open]?.text !== '(') return undefined;
  const close = closing(tokens, open);
  const parts = [open];
  for (let k = open + 1; k < close; ++k) {
    if (tokens[k].text in CLOSING) k = closing(tokens, k);
    else if (tokens[k].text === ';') parts.push(k);
  }
  if (tokens[i].text !== 'for') return [parts.at(-1) + 1, close - 1];
  return parts.length === 3 ? [parts[1] + 1, parts[2] - 1] : undefined;
}

/** What may stand in the place of a condition: its contrary, never, and where it ends by itself, always. */
function ofCondition(word, condition) {
  const never = `false && (${condition})`;
  if (word !== 'if') return [never];
  return [`!(${condition})`, never, `true || (${condition})`];
}

/** What may be returned instead: an empty value of the type, and one more where it may be a number. */
function ofReturn(value) {
  if (/^(\{\}|0|false|nullptr)$/.test(value)) return [];
  return /^(\{|Status\b|!)|["?]/.test(value) ? ['{}'] : ['{}', `(${value}) + 1`];
}

/** Words that begin what is no expression. */
const STATEMENT =
  /^(return|if|else|for|while|do|switch|case|default|break|continue|goto|static_assert|using|template|public|private|protected|const|constexpr|static|inline|auto|struct|class|enum|union|typedef|extern|friend|namespace|operator|co_return|explicit|virtual)$/;

/** The end of a name such as `a.b->c[i].d<T>` that begins at `i`: the index after it. */
function afterName(source, tokens, i) {
  let end = i;
  if (tokens[end]?.text === '*') end += 1;
  if (tokens[end]?.kind !== 'word' || STATEMENT.test(tokens[end].text)) return -1;
  for (end += 1; end < tokens.length; ++end) {
    const { text } = tokens[end];
    if (text === '[') end = closing(tokens, end);
    else if (text === '<' && !spaced(source, tokens[end])) end = endOfParameters(tokens, end);
    else if (/^(\.|->|::)$/.test(text)) end += tokens[end + 1]?.text === 'template' ? 2 : 1;
    else return end;
  }
  return end;
}

/** The last token of the call or the assignment that is the whole statement at `i`; -1 if it is none. */
function endOfAction(source, tokens, i) {
  if (!/^[;{}]$/.test(tokens[i - 1]?.text ?? '')) return -1;
  const after = afterName(source, tokens, i);
  if (after < 0 || after >= tokens.length) return -1;
  const { text } = tokens[after];
  const end = semicolon(tokens, after);
  if (end < 0) return -1;
  if (/^([-+*/%&|^]|<<|>>)?=$/.test(text)) return end - 1;
  return text === '(' && closing(tokens, after) === end - 1 ? end - 1 : -1;
}

/** Every place of a C++ file where something else could stand: { kind, start, end, others }. */
export function cppSites(source) {
  const tokens = tokensOf(source);
  const kept = mutable(tokens);
  const sites = [];
  const add = (kind, [first, last], others) => {
    const [start, end] = [tokens[first].start, tokens[last].end];
    if (others.length > 0) sites.push({ kind, start, end, others });
  };
  const text = ([first, last]) => source.slice(tokens[first].start, tokens[last].end);
  tokens.forEach((token, i) => {
    if (!kept[i]) return;
    add(token.kind === 'number' ? 'constant' : 'operator', [i, i], ofToken(source, tokens, i));
    if (/^(if|while|for)$/.test(token.text)) {
      const span = conditionAt(tokens, i);
      if (span && span[0] <= span[1]) add('condition', span, ofCondition(token.text, text(span)));
    }
    if (token.text === 'return' && tokens[i + 1]?.text !== ';') {
      const span = [i + 1, semicolon(tokens, i) - 1];
      if (span[1] >= span[0]) add('return', span, ofReturn(text(span)));
    }
    const end = endOfAction(source, tokens, i);
    if (end >= i) add('statement', [i, end], ['']);
  });
  return sites;
}

// What a random fault makes of a piece of source, as rules of ast-grep.

const operators = {
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '&&': '||',
  '||': '&&',
};
const equalities = { Cpp: { '==': '!=', '!=': '==' }, TypeScript: { '===': '!==', '!==': '===' } };

const anyOf = (...kinds) => ({ any: kinds.map((kind) => ({ kind })) });

/** What the compiler computes, or what is no expression: nothing in there can be chosen at run time. */
const fixed = {
  Cpp: {
    any: [
      ...anyOf('template_argument_list', 'template_parameter_list', 'static_assert_declaration')
        .any,
      ...anyOf('array_declarator', 'enumerator', 'requires_clause', 'noexcept').any,
      ...anyOf('field_declaration', 'parameter_list').any,
      { kind: 'declaration', regex: '^(inline |static )*constexpr' },
      { kind: 'condition_clause', inside: { kind: 'if_statement', regex: '^if constexpr' } },
    ],
    stopBy: 'end',
  },
  TypeScript: { ...anyOf('literal_type', 'property_signature'), stopBy: 'end' },
};

/** `a + b` alone may be read as a type in C++, and only inside of a declaration as a sum. */
const sum = {
  Cpp: (operator) => ({ context: `bool x = $A ${operator} $B;`, selector: 'binary_expression' }),
  TypeScript: (operator) => `$A ${operator} $B`,
};

/** Those that are written alike, as [name, rule, fix]. */
const common = (language) => [
  ...Object.entries({ ...operators, ...equalities[language] }).map(([from, to]) => [
    `${from} to ${to}`,
    { pattern: sum[language](from) },
    `$A ${to} $B`,
  ]),
  ['statement left out', { kind: 'expression_statement', not: { regex: '^super' } }, ''],
];

const condition = anyOf('identifier', 'call_expression', 'binary_expression', 'unary_expression');

const own = {
  Cpp: [
    ['neighbour', { kind: 'number_literal', pattern: '$N' }, '$N + 1'],
    ['condition false', { ...condition, inside: { kind: 'condition_clause' } }, 'false'],
    ['empty result', { pattern: 'return $X;' }, 'return {};'],
  ],
  TypeScript: [
    [
      'neighbour',
      {
        kind: 'number',
        pattern: '$N',
        inside: anyOf(
          'binary_expression',
          'arguments',
          'variable_declarator',
          'return_statement',
          'array',
        ),
      },
      '$N + 1',
    ],
    [
      'condition false',
      {
        ...condition,
        inside: {
          kind: 'parenthesized_expression',
          inside: anyOf('if_statement', 'while_statement'),
        },
      },
      'false',
    ],
    ['default lost', { pattern: '$A ?? $B' }, '$A'],
    ['not lost', { pattern: '!$A' }, '$A'],
    ['true to false', { pattern: 'true' }, 'false'],
    ['false to true', { pattern: 'false' }, 'true'],
    ['result lost', { pattern: 'return $X;' }, 'return undefined;'],
  ],
};

/** All rules of both languages, as documents of YAML, which JSON is. */
export const operatorRules = ['Cpp', 'TypeScript']
  .flatMap((language) =>
    [...common(language), ...own[language]].map(([id, rule, fix]) =>
      JSON.stringify({
        id,
        language,
        rule: { all: [rule, { not: { inside: fixed[language] } }] },
        fix,
      }),
    ),
  )
  .join('\n---\n');

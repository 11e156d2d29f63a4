import js from '@eslint/js';
import globals from 'globals';
import ts from 'typescript-eslint';
import { layersRule } from './tools/imports.js';

const typed = ['wasm/src/**/*.ts', 'web/**/*.ts'];

export default ts.config(
  { ignores: ['build/', '**/dist/', '.toolchain/', '**/*.d.ts', '**/*.test-d.ts'] },
  js.configs.recommended,
  {
    rules: {
      eqeqeq: 'error',
      'no-var': 'error',
      'prefer-const': 'error',
      'no-console': 'off',
    },
  },
  { files: ['**/*.js'], languageOptions: { globals: { ...globals.node, ...globals.browser } } },
  {
    // A program that is to be copied has the package, Node, Vite and its own files, and nothing of the project.
    files: ['examples/**/*.js'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            { regex: '^(?!(qkv(/\\w+)?|node:.*|vite|\\./.*|\\.\\./\\.\\./dist/train\\.js)$)' },
          ],
        },
      ],
    },
  },
  {
    // Newer than the oldest engines that are promised, and told by no tool whose receiver is no literal.
    files: ['wasm/src/**/*.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector:
            'CallExpression > MemberExpression.callee > Identifier.property[name=/^(at|findLast|findLastIndex|toSorted|toReversed|toSpliced|isWellFormed|toWellFormed)$/]',
          message: 'Chrome 91 has no such method.',
        },
      ],
    },
  },
  {
    // Firefox 90 has no such properties: what is set there is an attribute for nobody.
    files: ['web/src/**/*.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector: 'MemberExpression > Identifier.property[name=/^aria[A-Z]/]',
          message: 'Firefox has no such property before 119: set or get the attribute.',
        },
      ],
    },
  },
  {
    files: typed,
    extends: [ts.configs.strictTypeChecked],
    plugins: { qkv: { rules: { layers: layersRule } } },
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      // The layers of the package and of the page import one way; tools/imports.js has the tables.
      'qkv/layers': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      // Numbers in messages are what the messages are for.
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      // `() => void` shorthands read better than braces around one call.
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      // Bad input is the point of run-time checks: callers are not all written in TypeScript.
      '@typescript-eslint/no-unnecessary-condition': 'off',
    },
  },
  {
    // Most of the page's numbers are in typed arrays, of which noUncheckedIndexedAccess thinks that any element may be missing.
    files: ['web/src/**/*.ts'],
    rules: { '@typescript-eslint/no-non-null-assertion': 'off' },
  },
);

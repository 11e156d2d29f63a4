// npm run format: rewrites what the linters would complain about.
import { join } from 'node:path';
import { root, tool } from './environment.js';
import { must } from './run.js';

const { stdout } = await must('git', ['ls-files', '-co', '--exclude-standard', '*.cpp', '*.hpp']);
await must(tool('CLANG_FORMAT'), ['-i', ...stdout.split('\n').filter(Boolean)]);
await must(join(root, 'node_modules/.bin/oxfmt'), ['.']);

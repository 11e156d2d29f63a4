// The files of the project by pattern.
import { must } from './run.js';

/** Files by pattern, new ones included: a test that git does not know yet is run as well. */
export async function files(...patterns) {
  const globs = patterns.map((pattern) => `:(glob)${pattern}`);
  const line = ['ls-files', '-co', '--exclude-standard', '--deduplicate', ...globs];
  const { stdout } = await must('git', line);
  const { stdout: gone } = await must('git', ['ls-files', '-d', ...globs]);
  const missing = new Set(gone.split('\n'));
  return stdout.split('\n').filter((file) => file && !missing.has(file));
}

// A reporter for node:test that tools/readings.js reads: a line for every test that begins or ends, and what it
// said meanwhile. The runner's own TAP names a test only when it has ended, so it cannot tell which one hangs.
import { inspect } from 'node:util';

const line = (what, { name, nesting, skip, todo, details }) =>
  `@test ${JSON.stringify({
    what,
    name,
    nesting,
    skipped: skip !== undefined || todo !== undefined,
    reason: typeof skip === 'string' ? skip : undefined,
    group: details?.type === 'suite',
  })}\n`;

export default async function* report(source) {
  for await (const { type, data } of source) {
    if (type === 'test:dequeue') yield line('begin', data);
    else if (type === 'test:pass') yield line('pass', data);
    else if (type === 'test:fail') {
      const { error } = data.details;
      yield line('fail', data);
      yield `${inspect(error.cause ?? error)}\n`;
    } else if (type === 'test:diagnostic' && data.file !== undefined) yield `# ${data.message}\n`;
    else if (type === 'test:stdout' || type === 'test:stderr') yield data.message;
  }
}

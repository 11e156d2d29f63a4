// What test runners print, read. A reading is { tests: [{ name, ok, skipped, said }], running }: what each test was
// called and how it ended, `said` being what is worth showing when it failed; `running` names what had begun
// and not ended.

/** The output of node:test with tools/test_reporter.js. Tests that only hold others are not counted. */
export function readNodeTest(output) {
  const ended = [];
  const begun = [];
  for (const block of output.split(/^(?=@test )/m)) {
    const [first, ...said] = block.split('\n');
    if (!first.startsWith('@test ')) continue;
    const { what, name, nesting, skipped, reason, group } = JSON.parse(
      first.slice('@test '.length),
    );
    begun.length = Math.min(begun.length, nesting);
    if (what === 'begin') {
      begun.push(name);
      continue;
    }
    // Children end before what holds them, one level further in.
    const children = [];
    while (ended.length > 0 && ended.at(-1).nesting > nesting) children.unshift(ended.pop());
    const ok = what === 'pass';
    const own = { nesting, name, ok, skipped, reason, said: ok ? '' : said.join('\n').trimEnd() };
    const found = children.map((child) => ({ ...child, name: `${name} > ${child.name}`, nesting }));
    // What fails because of what it holds is not another failure.
    const alone = (found.length === 0 && !group) || (!ok && found.every((child) => child.ok));
    ended.push(...found, ...(alone ? [own] : []));
  }
  const tests = ended.map(({ name, ok, skipped, reason, said }) => ({
    name,
    ok,
    skipped,
    reason,
    said,
  }));
  return { tests, running: begun.join(' > ') || undefined };
}

/** The report that tests/support/cpp/listener.cpp writes of Catch2; one that was cut short says what was running. */
export function readCatch2(report) {
  const tests = [];
  let running;
  for (const line of report.split('\n').filter(Boolean)) {
    const [, word, name] = /^(\w+) (.*)$/.exec(line);
    running = word === 'begins' ? name : undefined;
    if (!running)
      tests.push({ name, ok: word !== 'failed', skipped: word === 'skipped', said: '' });
  }
  // A test that did not end is no success.
  if (running) tests.push({ name: running, ok: false, skipped: false, said: '' });
  return { tests, running };
}

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

const entities = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };
const decode = (text) => text.replace(/&(\w+);/g, (whole, name) => entities[name] ?? whole);

/** The XML report of Catch2; one that was cut short says what was running. */
export function readCatch2(xml) {
  const tests = [];
  let running;
  const cases = xml.split(/(?=<TestCase )/).slice(1);
  for (const text of cases) {
    const name = decode(/name="([^"]*)"/.exec(text)[1]);
    const result = /<OverallResult success="(\w+)"(?: skips="(\d+)")?/.exec(text);
    if (!result) running = name;
    tests.push({
      name,
      ok: result?.[1] === 'true',
      skipped: Number(result?.[2] ?? 0) > 0,
      said: '',
    });
  }
  return { tests, running };
}

// npm run new-panel <name>: writes a panel of the page that works and passes its tests, to begin from.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { format } from 'oxfmt';

const here = fileURLToPath(new URL('.', import.meta.url));
const TEMPLATE = join(here, 'new_panel');
const FEATURES = 'web/src/features';
const REGISTRY = `${FEATURES}/index.ts`;
const CHAPTERS = 'web/src/chapters/index.ts';

const NAME = /^[a-z]{3,16}$/;
/** Of as many letters, what is no name of a constant. */
const KEYWORDS =
  /^(arguments|await|break|case|catch|class|const|continue|debugger|default|delete|else|enum|eval|export|extends|false|finally|for|function|implements|import|instanceof|interface|let|new|null|package|private|protected|public|return|static|super|switch|this|throw|true|try|typeof|undefined|var|void|while|with|yield)$/;

const filesIn = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

/** Why a panel cannot have this name; undefined: it can. */
function problemOf(root, name) {
  if (!NAME.test(name)) return 'use 3 to 16 small letters, such as `entropy`';
  if (KEYWORDS.test(name)) return 'it is a word of JavaScript';
  if (existsSync(join(root, FEATURES, name))) return `there is ${FEATURES}/${name}`;
  const sources = filesIn(join(root, 'web/src')).filter((file) => /\.(ts|json)$/.test(file));
  for (const file of [...sources, join(root, 'web/index.html')]) {
    const text = readFileSync(file, 'utf8');
    const taken = {
      'there are texts of this name': file.endsWith('.json') && text.includes(`"${name}.`),
      'a field of the state has this key in the link': new RegExp(
        `(\\w+\\(|key: )'${name}'(,|\\))`,
      ).test(file.includes('state') ? text : ''),
      'an element of the page has this id': text.includes(`id="${name}"`),
    };
    for (const [why, isTaken] of Object.entries(taken)) {
      if (isTaken) return `${why} (${file.slice(root.length + 1)})`;
    }
  }
  return undefined;
}

/** The registry with the import among the others, and the panel at the end of the list. */
function registered(source, name) {
  const line = `import { ${name} } from './${name}/feature';`;
  const isBefore = (other) =>
    /^import \{ (\w+) \} from '\.\/\w+\/feature';$/.exec(other)?.[1] < name;
  const lines = source.split('\n');
  const at =
    lines.findLastIndex(isBefore) + 1 || lines.findIndex((other) => other.startsWith('import'));
  lines.splice(at, 0, line);
  return lines.join('\n').replace('\n} satisfies Readonly', `\n  ${name},\n} satisfies Readonly`);
}

/** The chapters with the panel as the last of the last laboratory. */
const inLastChapter = (source, name) =>
  source.replace(/(laboratory: \[[^\]]*)(\](?![^]*laboratory: \[))/, `$1, '${name}'$2`);

/** Writes the panel into the sources at `root`; the files that it wrote, by their paths. Throws if the name is none. */
export async function newPanel(root, name) {
  const problem = problemOf(root, name);
  if (problem) throw new Error(`a panel cannot be called ${name}: ${problem}`);
  const title = name[0].toUpperCase() + name.slice(1);
  const style = JSON.parse(readFileSync(join(dirname(TEMPLATE), '../.oxfmtrc.json'), 'utf8'));
  const written = [];
  const write = async (file, text) => {
    const path = join(root, file);
    mkdirSync(dirname(path), { recursive: true });
    const { code } = await format(path, text, style);
    writeFileSync(path, code);
    written.push(file);
  };
  const filled = (file) =>
    readFileSync(file, 'utf8').replaceAll('panelname', name).replaceAll('Panelname', title);
  const folder = join(TEMPLATE, 'folder');
  for (const file of filesIn(folder)) {
    await write(`${FEATURES}/${name}${file.slice(folder.length)}`, filled(file));
  }
  await write(`tests/page/numbers/${name}.test.js`, filled(join(TEMPLATE, 'numbers.js')));
  const source = (file) => readFileSync(join(root, file), 'utf8');
  await write(REGISTRY, registered(source(REGISTRY), name));
  await write(CHAPTERS, inLastChapter(source(CHAPTERS), name));
  return written;
}

const NEXT = (name) => `
The panel ${name} is the last of the page and passes its tests:
  node --test tests/page/numbers/${name}.test.js
Make it yours, then:
  npm start                                    the page, built and served
  npm run screenshots -- --baselines           its pictures in tests/page/baselines: look at them
  tests/page/stories/${name}.txt   what its controls ask for: write it, as tests/README.md says
  npm test -- page                             the tests of the page
Its place in the page is its place in ${CHAPTERS}, and the same in ${REGISTRY}. web/README.md says more.`;

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [name = '', ...more] = process.argv.slice(2);
  try {
    if (name === '' || more.length > 0) throw new Error('usage: npm run new-panel <name>');
    for (const file of await newPanel(dirname(here.replace(/\/$/, '')), name)) console.log(file);
    console.log(NEXT(name));
  } catch ({ message }) {
    console.error(message);
    process.exitCode = 1;
  }
}

// The name of the package at npm, the address of its repository and of its page have one home: `name`, `repository` and
// `homepage` of package.json. Until somebody knows them, OWNER stands for the owner of the repository. This tool writes them
// into the documents, between marks, and a test tells when a document says something else.
//
//   node tools/release/addresses.js                   writes the documents anew
//   node tools/release/addresses.js --owner somebody  sets the addresses on GitHub first; --page, --name for others
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** Stands for the owner of the repository until the addresses are set. */
const PLACEHOLDER = 'OWNER';

/** The name by which all documents import the package. */
const IMPORTED = 'qkv';

const [begin, end] = ['<!-- addresses: node tools/release/addresses.js -->', '<!-- /addresses -->'];

/** What a package.json says: { name, version, repository, page, isSet }, without `git+` and `.git`. */
export function addressesIn({ name, version, repository, homepage }) {
  const address = repository.url.replace(/^git\+/, '').replace(/\.git$/, '');
  const isSet = ![address, homepage].some((one) => one.includes(PLACEHOLDER));
  return { name, version, repository: address, page: homepage, isSet };
}

/** A package.json with these addresses. */
export function withAddresses(packageJson, { name, repository, page }) {
  return {
    ...packageJson,
    name: name ?? packageJson.name,
    homepage: page,
    repository: { type: 'git', url: `git+${repository}.git` },
    bugs: { url: `${repository}/issues` },
  };
}

/** What npm installs, so that the imports of all documents hold whatever the package is called there. */
const specOf = (name) => (name === IMPORTED ? IMPORTED : `${IMPORTED}@npm:${name}`);

const shell = (line) => `\`\`\`sh\n${line}\n\`\`\``;

/** What each document says: before the addresses are set, and after. */
const texts = {
  'README.md': {
    before: ({ version }) => `qkv is not on npm yet, and its page is not on the web yet. In a clone of this repository \`npm start\` opens the page, and
\`npm run build && npm pack\` makes \`qkv-${version}.tgz\`, which \`npm install\` adds to any project.`,
    after: ({ name, page }) => `${shell(`npm install ${specOf(name)}`)}

**[Open the page](${page})**, where every number is computed live, or read [the documentation](${page}docs/).`,
  },
  'README.zh-CN.md': {
    before: ({ version }) => `它还没有发布到 npm，页面也还没有网址。克隆本仓库后，\`npm start\` 会打开页面，\`npm run build && npm pack\` 会生成 \`qkv-${version}.tgz\`，任何项目都可以用 \`npm install\` 安装它。`,
    after: ({ name, page }) => `${shell(`npm install ${specOf(name)}`)}

**[打开页面](${page})**，每个数字都实时计算；或阅读[文档](${page}docs/)。`,
  },
  'examples/README.md': {
    before: () => `In a project of your own, the programs for Node need \`npm install\` of the tarball that \`npm pack\` makes in the checkout, and
\`"type": "module"\` in its \`package.json\`.`,
    after: ({ name }) => `In a project of your own, the programs for Node need \`npm install ${specOf(name)}\`, and \`"type": "module"\` in its \`package.json\`.`,
  },
  'tools/docs/start.md': {
    before: () => `\`npm install\` the tarball that \`npm pack\` makes in the checkout.`,
    after: ({ name }) => `\`npm install ${specOf(name)}\``,
  },
  'SECURITY.md': {
    before: () => `Please report privately, through the repository's security advisories ("Report a vulnerability"), with the smallest call
that shows the problem.`,
    after: ({ repository }) => `Please report privately, through [the repository's security advisories](${repository}/security/advisories/new), with the
smallest call that shows the problem.`,
  },
}; // prettier-ignore

export const documents = Object.keys(texts);

/** A document with what it says of the addresses made anew. */
export function withTexts(path, markdown, addresses) {
  const [before, rest] = markdown.split(begin);
  const [, after] = rest?.split(end) ?? [];
  if (after === undefined) throw new Error(`${path}: expected one ${begin} … ${end}`);
  const text = texts[path][addresses.isSet ? 'after' : 'before'](addresses);
  return `${before}${begin}\n\n${text}\n\n${end}${after}`;
}

/** What keeps addresses from a release, in sentences. */
export function problemsOfAddresses(packageJson) {
  const { isSet, repository, page } = addressesIn(packageJson);
  if (!isSet)
    return [
      'package.json has OWNER in its addresses: run node tools/release/addresses.js --owner <name>',
    ];
  return [
    ...(/^https:\/\/github\.com\/[\w.-]+\/[\w.-]+$/.test(repository)
      ? []
      : [`repository.url of package.json is ${repository}, expected an address on github.com`]),
    ...(/^https:\/\/\S+\/$/.test(page)
      ? []
      : [`homepage of package.json is ${page}, expected https:// and a / at the end`]),
  ];
}

function main() {
  const options = Object.fromEntries(
    ['owner', 'repository', 'page', 'name'].map((name) => [name, { type: 'string' }]),
  );
  const { values } = parseArgs({ options });
  const file = join(root, 'package.json');
  let packageJson = JSON.parse(readFileSync(file, 'utf8'));
  const { owner, name } = values;
  const repository = values.repository ?? (owner && `https://github.com/${owner}/qkv`);
  const page = values.page ?? (owner && `https://${owner.toLowerCase()}.github.io/qkv/`);
  if ((repository === undefined) !== (page === undefined)) {
    throw new Error('expected --owner, or both of --repository and --page');
  }
  if (repository !== undefined) {
    packageJson = withAddresses(packageJson, { name, repository, page });
    const problems = problemsOfAddresses(packageJson);
    if (problems.length > 0) throw new Error(problems.join('\n'));
    writeFileSync(file, `${JSON.stringify(packageJson, null, 2)}\n`);
  }
  const addresses = addressesIn(packageJson);
  for (const path of documents) {
    const document = join(root, path);
    writeFileSync(document, withTexts(path, readFileSync(document, 'utf8'), addresses));
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    main();
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}

// The options of TypeDoc, which makes all pages but those of the C++ headers: the reference of the package from its
// comments, and a page of every file of contents.js. TypeDoc reads Markdown anyway, checks the links and anchors of both
// together and colours code for both themes, so the site takes no other generator.
import { join } from 'node:path';
import { root, version } from '../environment.js';
import { groups, pages } from './contents.js';
import { plugin, scrollTables, unlink } from './plugin.js';

const at = (path) => join(root, path);

export default {
  name: 'qkv',
  entryPoints: ['index', 'models', 'train', 'constraints', 'spectra', 'worker'].map((name) =>
    at(`wasm/src/entries/${name}.ts`),
  ),
  tsconfig: at('wasm/tsconfig.json'),
  out: at('build/docs'),
  // tools/docs.js empties the folder, and leaves what Doxygen may be writing beside.
  cleanOutputDir: false,
  readme: at('tools/docs/start.md'),
  projectDocuments: pages.map(({ file }) => at(file)),
  plugin: [plugin],
  router: 'site',
  theme: 'site',
  // Links are written as links.
  markdownItOptions: { html: true, linkify: false },
  markdownItLoader(parser) {
    unlink(parser);
    scrollTables(parser);
  },

  intentionallyNotExported: [
    ...[
      'Requested',
      'Layers',
      'ListOf',
      'NoOthers',
      'NoOthersIn',
      'Only',
      'Said',
      'Shown',
      'Reading',
      'With',
    ],
  ],
  includeVersion: true,
  disableSources: true,
  excludeExternals: true,
  sort: ['kind', 'source-order'],
  groupOrder: [...groups.map(({ title }) => title), '*'],

  customCss: at('tools/docs/site.css'),
  favicon: at('web/public/favicon.svg'),
  headings: { readme: false, document: false },
  navigation: { includeGroups: true },
  useFirstParagraphOfCommentAsSummary: true,
  hideGenerator: true,
  customFooterHtml: `qkv ${version}, MIT license. Made by TypeDoc and Doxygen.`,
  highlightLanguages: ['js', 'typescript', 'tsx', 'cpp', 'bash', 'html', 'json', 'cmake'],
  // All of their colours have a contrast of 4.5 and more.
  lightHighlightTheme: 'github-light-high-contrast',
  darkHighlightTheme: 'github-dark-high-contrast',

  treatWarningsAsErrors: true,
  treatValidationWarningsAsErrors: true,
  validation: {
    notExported: true,
    invalidLink: true,
    invalidPath: true,
    rewrittenLink: true,
    notDocumented: true,
    unusedMergeModuleWith: true,
  },
  requiredToBeDocumented: [
    ...[
      'Class',
      'Interface',
      'TypeAlias',
      'Function',
      'Method',
      'Property',
      'Accessor',
      'Variable',
    ],
    ...['Enum', 'EnumMember'],
  ],
};

// @build any
// The notes of a release: what a person wrote, and the changesets that it does not cover.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pending } from '../../tools/release/changesets.js';
import { NOTES, readNotes, sectionOf, withSection } from '../../tools/release/version.js';
import { root, text } from '../support/js/files.js';

const notes = readNotes(text(NOTES));

test('notes: they cover changesets that are there, and say what breaks', () => {
  const names = Object.keys(pending(root));
  assert.deepEqual(
    notes.covers.filter((name) => !names.includes(name)),
    [],
  );
  if (notes.body === '') return; // right after a release
  assert.equal(notes.body.split('<!-- sizes -->').length, 2);
  assert.match(notes.body, /^### What breaks, and how to move$/m);
});

test('notes: a section has them, and every changeset that they do not cover', () => {
  const written = '<!--\nhow\ncovers: one\n  two\n-->\n\nGood news.\n\n<!-- sizes -->\n\n### More\n\n- x\n';
  const read = readNotes(written);
  assert.deepEqual(read.covers, ['one', 'two']);
  const changesets = { one: 'First.', late: 'A late\none.\n\nWith more.', two: 'Second.' };
  assert.equal(
    sectionOf('1.2.0', read, changesets),
    '## 1.2.0\n\nGood news.\n\n<!-- sizes -->\n\n### More\n\n- x\n\n### Also\n\n- A late\n  one.\n\n  With more.',
  );
}); // prettier-ignore

test('notes: without any, a section is the list of changesets', () => {
  const none = readNotes('<!--\nhow\ncovers:\n-->\n');
  assert.deepEqual(none, { covers: [], body: '' });
  assert.equal(sectionOf('1.2.0', none, { one: 'First.' }), '## 1.2.0\n\n- First.');
});

test('notes: the newest section of a changelog is replaced, and no other', () => {
  const log = '# qkv\n\n## 2.0.0\n\n### Minor Changes\n\n- a\n\n## 1.0.0\n\n- b\n';
  assert.equal(withSection(log, '## 2.0.0\n\nnew'), '# qkv\n\n## 2.0.0\n\nnew\n\n## 1.0.0\n\n- b\n');
  assert.throws(() => withSection('# qkv\n', 'x'), /no section of a version/);
}); // prettier-ignore

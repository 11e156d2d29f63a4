// @build any
// The files of core/src lie in rooms, and each room includes only rooms that tools/core_rooms.js lets it include.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { includeFault, includesOf, roomOf, rooms } from '../../../tools/core_rooms.js';
import { circlesOf } from '../../../tools/imports.js';

const includes = includesOf();
const arrows = [...includes].flatMap(([from, all]) => all.map((to) => [from, to]));

test('core rooms: every file is in a room, and every room has files', () => {
  const files = [...includes.keys()].filter((file) => file !== 'include/qkv/qkv.hpp');
  assert.deepEqual(
    files.filter((file) => roomOf(file) === undefined),
    [],
  );
  assert.deepEqual([...new Set(files.map(roomOf))].sort(), Object.keys(rooms).sort());
});

test('core rooms: a file includes only files of its room and of those that the table names', (t) => {
  t.diagnostic(`${includes.size} files, ${arrows.length} includes`);
  assert.ok(arrows.length > includes.size, 'the includes were found');
  assert.deepEqual(arrows.map(([from, to]) => includeFault(from, to)).filter(Boolean), []);
});

test('core rooms: an include names a file that is there', () => {
  assert.deepEqual(
    arrows.filter(([, to]) => !includes.has(to)),
    [],
  );
});

test('core rooms: no files include each other in a circle', () => {
  assert.deepEqual(circlesOf(includes), []);
});

test('core rooms: a room names only rooms before it', () => {
  const names = Object.keys(rooms);
  for (const [at, name] of names.entries()) {
    const later = rooms[name].may.filter((other) => !names.slice(0, at).includes(other));
    assert.deepEqual(later, [], name);
  }
});

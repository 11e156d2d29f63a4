// @build any
// The files of core/src lie in rooms, and each room includes only rooms that tools/core_rooms.js lets it include.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
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

test('core rooms: a wrong include, a file in no room and a circle are found', (t) => {
  const base = mkdtempSync(join(tmpdir(), 'qkv-rooms-'));
  t.after(() => rmSync(base, { recursive: true, force: true }));
  const write = (file, text) => {
    mkdirSync(dirname(join(base, 'core', file)), { recursive: true });
    writeFileSync(join(base, 'core', file), text);
  };
  write('include/qkv/norm.hpp', '#include "qkv/status.hpp"\n');
  write('src/base/list.hpp', '#pragma once\n#  include "check/check.hpp"\n#include <vector>\n');
  write('src/check/check.hpp', '#include "base/list.hpp"\n');
  const found = includesOf(base);
  assert.deepEqual(found.get('include/qkv/norm.hpp'), ['include/qkv/status.hpp']);
  assert.deepEqual(found.get('src/base/list.hpp'), ['src/check/check.hpp']);
  assert.deepEqual(circlesOf(found), [['src/base/list.hpp', 'src/check/check.hpp']]);
  assert.match(
    includeFault('src/base/list.hpp', 'src/check/check.hpp'),
    /\(base\) includes .*\(check\)/,
  );
  assert.match(
    includeFault('src/rows/norm.cpp', 'include/qkv/linear.hpp'),
    /\(rows\) includes .*\(weights\)/,
  );
  assert.match(includeFault('src/attic/a.cpp', 'src/base/list.hpp'), /attic\/a\.cpp is in no room/);
  assert.match(includeFault('src/base/list.hpp', 'include/qkv/new.hpp'), /new\.hpp is in no room/);
  assert.equal(includeFault('src/check/check.hpp', 'src/base/list.hpp'), undefined);
});

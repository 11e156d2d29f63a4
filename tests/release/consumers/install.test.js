// The C++ library installed, moved, and found there by CMake and by pkg-config.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { toolchain } from '../../../tools/environment.js';
import { packageJson, root, text } from '../../support/js/files.js';
import { full, inFullRun, leaveToFullRun } from '../../support/js/full.js';
import { blocksUnder, guide } from './examples.js';
import { eigenProgram, isas, program, replaced, Stranger, strict } from './stranger.js';

const here = new Stranger();
after(() => here.leave());

const filesOf = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(folder.length + 1))
    .sort();

const headers = filesOf(join(root, 'core/include/qkv'));

const [install, findIt, withoutCMake, training] = blocksUnder(guide, 'Installed', 'sh');
const [lists] = blocksUnder(guide, 'Installed', 'cmake');

/** The prefix after it was moved; the guide calls it $HOME/qkv. */
const moved = here.path('elsewhere/qkv');
const env = { HOME: here.path('elsewhere') };

/** Of a full run what the guide says builds the library; of an everyday run it is the one of build/native, by the same rules. */
async function installed(first) {
  const [, , last] = install.split('\n');
  if (!full)
    return here.sh(replaced(last, 'build/qkv', join(root, 'build/native')), {
      env: { HOME: first },
    });
  const narrow = `-DQKV_BUILD_TESTS=OFF ${JSON.stringify(isas('sse4;scalar'))}`;
  return here.sh(replaced(install, '-DQKV_BUILD_TESTS=OFF', narrow), { env: { HOME: first } });
}

before(async () => {
  if (!full) leaveToFullRun('the commands that build the library');
  const first = here.path('first');
  here.write('first/note', 'a home');
  await installed(first);
  here.write('elsewhere/note', 'another home');
  renameSync(join(first, 'qkv'), moved);
  rmSync(here.path('build'), { recursive: true, force: true });
});

test('install: it has every header, the library, what finds it, the license, and nothing else', () => {
  assert.deepEqual(
    filesOf(moved),
    [
      ...headers.map((name) => `include/qkv/${name}`),
      ...['lib/libqkv.a', 'lib/libqkv_spectra.a', 'lib/libqkv_train.a'],
      ...['lib/pkgconfig/qkv.pc', 'lib/pkgconfig/qkv_spectra.pc', 'lib/pkgconfig/qkv_train.pc'],
      ...['share/licenses/qkv/LICENSE'],
      ...['', '-version'].map((part) => `lib/cmake/qkv/qkv-config${part}.cmake`),
      ...['', '-release'].map((part) => `lib/cmake/qkv/qkv-targets${part}.cmake`),
    ].sort(),
  );
});

test('install: nothing in it names the place where it was made or installed first', () => {
  for (const name of filesOf(moved).filter((file) => /\.(cmake|pc|hpp)$/.test(file))) {
    const content = readFileSync(join(moved, name), 'utf8');
    for (const place of [here.home, root]) assert.ok(!content.includes(place), name);
  }
});

test('install: the numbers of the guide are those worked out by hand', () => {
  assert.ok(text('wasm/docs/worked-example.md').includes(`\`\`\`text\n${program.prints}\`\`\``));
});

test('install: the README shows commands of the guide', () => {
  const known = new Set(text(guide).split('\n'));
  const shown = ['sh', 'cmake'].flatMap((language) =>
    blocksUnder('README.md', 'In C++', language).flatMap((block) => block.trim().split('\n')),
  );
  assert.ok(shown.length >= 5);
  assert.deepEqual(
    shown.filter((line) => !known.has(line)),
    [],
  );
});

/** A program with the library that trains. */
const trainer = `
  #include <cstdio>
  #include <qkv/train/optimizer.hpp>
  int main() { std::printf("%g\\n", qkv::train::clip_factor(3.999999, 2.0F)); }`;

/** One with that of spectra. */
const ranks = `
  #include <cstdio>
  #include <qkv/spectra.hpp>
  int main() {
    const double values[] = {3.0, 3.0};
    std::printf("%g\\n", qkv::effective_rank(values));
  }`;

describe('install: find_package', () => {
  test('finds it where the guide says, and the program prints its numbers', async () => {
    here.project('app', lists);
    const printed = await here.sh(
      replaced(findIt, 'cmake -B build', `cmake -B build -DCMAKE_CXX_FLAGS='${strict}'`),
      { cwd: 'app', env },
    );
    assert.ok(printed.endsWith(program.prints), printed);
  });

  test('has the library that trains as qkv::train, which brings the other', async () => {
    here.project('trains', lists.replace('qkv::qkv', 'qkv::train'));
    here.write('trains/main.cpp', trainer);
    const printed = await here.sh(findIt, { cwd: 'trains', env });
    assert.ok(printed.endsWith('0.5\n'), printed);
  });

  test('has the library of spectra as qkv::spectra, which needs no Eigen', async () => {
    here.project('spectra', lists.replace('qkv::qkv', 'qkv::spectra'));
    here.write('spectra/main.cpp', ranks);
    const printed = await here.sh(findIt, { cwd: 'spectra', env });
    assert.ok(printed.endsWith('2\n'), printed);
  });

  test('brings C++20, its headers and threads, and nothing else', async () => {
    const ask = `
      foreach(name INTERFACE_COMPILE_FEATURES INTERFACE_COMPILE_OPTIONS INTERFACE_COMPILE_DEFINITIONS
                   INTERFACE_INCLUDE_DIRECTORIES INTERFACE_LINK_LIBRARIES INTERFACE_LINK_OPTIONS)
        get_target_property(value qkv::qkv \${name})
        string(GENEX_STRIP "\${value}" value)
        message(STATUS "of qkv: \${name} \${value}")
      endforeach()
      if(NOT TARGET Threads::Threads OR TARGET Eigen3::Eigen OR TARGET xsimd)
        message(FATAL_ERROR "expected Threads::Threads and no more")
      endif()`;
    here.project('asks', lists + ask);
    const said = await here.configure('asks', [`-DCMAKE_PREFIX_PATH=${moved}`]);
    const properties = [...said.matchAll(/of qkv: INTERFACE_(.*)/g)].map(([, line]) => line);
    assert.deepEqual(properties, [
      'COMPILE_FEATURES cxx_std_20',
      'COMPILE_OPTIONS value-NOTFOUND',
      'COMPILE_DEFINITIONS value-NOTFOUND',
      `INCLUDE_DIRECTORIES ${moved}/include`,
      'LINK_LIBRARIES Threads::Threads',
      'LINK_OPTIONS value-NOTFOUND',
    ]);
  });

  test('takes the versions that promise what was asked for', async () => {
    const [major, minor, patch] = packageJson.version.split('.').map(Number);
    const good = [`${major}.${minor}`, `${major}.${minor}.${patch}`];
    const bad = [`${major}.${minor}.${patch + 1}`, `${major}.${minor + 1}`, `${major + 1}.0`];
    if (major === 0 && minor > 0) bad.push(`0.${minor - 1}`);
    const ask = `
      foreach(version ${[...good, ...bad].join(' ')})
        find_package(qkv \${version} QUIET)
        message(STATUS "asked: \${version} \${qkv_FOUND}")
      endforeach()
      find_package(qkv QUIET COMPONENTS gpu)
      message(STATUS "asked: gpu \${qkv_FOUND}")`;
    here.project('versions', `cmake_minimum_required(VERSION 3.16)\nproject(app CXX)\n${ask}`);
    const said = await here.configure('versions', [`-DCMAKE_PREFIX_PATH=${moved}`]);
    assert.deepEqual(
      [...said.matchAll(/asked: (.*)/g)].map(([, line]) => line),
      [...good.map((name) => `${name} 1`), ...[...bad, 'gpu'].map((name) => `${name} 0`)],
    );
  });
});

test('install: pkg-config finds it where the guide says, and the program prints its numbers', async () => {
  here.write('plain/main.cpp', program.code);
  const commands = replaced(withoutCMake, 'c++', `${toolchain.CXX} ${strict}`);
  assert.equal(await here.sh(commands, { cwd: 'plain', env }), program.prints);
  const version = await here.sh(
    replaced(commands, commands.split('\n').slice(1).join('\n'), 'pkg-config --modversion qkv'),
    { env },
  );
  assert.equal(version.trim(), packageJson.version);
});

test('install: without CMake the guide links the library that trains before the other', async () => {
  here.write('plain-train/main.cpp', trainer);
  const [where] = withoutCMake.split('\n');
  const link = replaced(training, 'c++', `${toolchain.CXX} ${strict}`);
  const lines = [where, link, './app'].join('\n');
  assert.equal(await here.sh(lines, { cwd: 'plain-train', env }), '0.5\n');
});

test('install: the static library may become part of a shared one', async () => {
  const lines = replaced(withoutCMake, 'c++', `${toolchain.CXX} -shared -fPIC`).split('\n');
  await here.sh(lines.slice(0, 2).join('\n'), { cwd: 'plain', env });
});

inFullRun('C++ with Eigen, and as a shared library', () => {
  describe('install: with Eigen', () => {
    /** Eigen as the toolchain has it: a prefix's include folder, or include/eigen3 of one. */
    const eigen = toolchain.EIGEN_INCLUDE_DIR;
    const prefixes = [moved, join(eigen, '..'), join(eigen, '../..')].join(';');

    test('the program of the guide reads and writes matrices', async () => {
      const [cmakeLists] = blocksUnder(guide, 'With Eigen', 'cmake');
      here.project('eigen', cmakeLists, eigenProgram);
      await here.build('eigen', [`-DCMAKE_PREFIX_PATH=${prefixes}`]);
      assert.equal(await here.must('build/app', [], { cwd: 'eigen' }), eigenProgram.prints);
    });

    const complaint = async (name, code, ...flags) => {
      here.write(`${name}.cpp`, `#include <qkv/eigen.hpp>\n${code}\n`);
      const line = ['-std=c++20', '-fsyntax-only', `-I${moved}/include`, ...flags, `${name}.cpp`];
      const { code: status, output } = await here.run(toolchain.CXX, line);
      assert.notEqual(status, 0);
      return output;
    };

    test('a compiler that has none, or an old one, says so', async () => {
      assert.match(
        await complaint('without', ''),
        /qkv\/eigen\.hpp needs Eigen >= 3\.4: find_package/,
      );
      here.write('old/Eigen/Core', '#define EIGEN_VERSION_AT_LEAST(a, b, c) (0)\n');
      assert.match(await complaint('old', '', `-I${here.path('old')}`), /and this one is older/);
    });

    test('what cannot be viewed does not compile, and the compiler says why', async () => {
      const wrong = [
        ['matrix + matrix', 'store the result of the expression first'],
        ['qkv::RowMajorMatrix<float>(3, 2)', 'keep it in a variable'],
        ['columns', 'use qkv::RowMajorMatrix, or the transpose()'],
        ['matrix.transpose()', 'use qkv::RowMajorMatrix, or the transpose()'],
      ].map(([expression, why]) => ({ expression, why }));
      const calls = wrong.map(({ expression }) => `(void)qkv::split_heads(${expression}, 1);`);
      const code = [
        'void views(qkv::RowMajorMatrix<float>& matrix, Eigen::MatrixXf& columns) {',
        ...['(void)matrix, (void)columns;', '(void)qkv::split_heads(matrix, 1);', ...calls, '}'],
      ].join('\n');
      const said = await complaint('views', code, '-isystem', eigen);
      const refused = said.split(/^(?=.*error: static assertion failed)/m).slice(1);
      for (const [i, { why }] of wrong.entries()) {
        const line = 5 + i; // the include, the head, two that are right
        const about = refused.filter((part) => part.includes(`views.cpp:${line}:`));
        assert.ok(
          about.some((part) => part.includes(why)),
          `${wrong[i].expression}: ${about}`,
        );
      }
      assert.ok(!said.includes('views.cpp:4:'), said);
    });
  });

  test('install: a shared library works: several configurations, odd folders, hidden symbols', async () => {
    const configure = [
      ...['-S', 'qkv', '-B', 'multi', '-G', 'Ninja Multi-Config', '-DQKV_BUILD_TESTS=OFF'],
      ...['-DQKV_ISAS=scalar', '-DBUILD_SHARED_LIBS=ON', '-DCMAKE_CXX_VISIBILITY_PRESET=hidden'],
      ...['-DCMAKE_VISIBILITY_INLINES_HIDDEN=ON', '-DCMAKE_INSTALL_LIBDIR=lib/odd/one'],
      '-DCMAKE_INSTALL_INCLUDEDIR=headers',
    ];
    await here.must('cmake', configure);
    await here.must('cmake', ['--build', 'multi', '--config', 'Debug']);
    const first = ['--prefix', 'shared-first'];
    await here.must('cmake', ['--install', 'multi', '--config', 'Debug', ...first]);
    const prefix = here.path('shared-moved');
    renameSync(here.path('shared-first'), prefix);
    const libdir = join(prefix, 'lib/odd/one');
    const [major, minor] = packageJson.version.split('.');
    if (process.platform === 'linux') {
      assert.ok(existsSync(join(libdir, `libqkv.so.${major}.${minor}`)));
    }

    here.project('shared', lists);
    await here.build('shared', [`-Dqkv_DIR=${libdir}/cmake/qkv`]);
    assert.equal(await here.must('build/app', [], { cwd: 'shared' }), program.prints);

    const flags = await here.must('pkg-config', ['--cflags', '--libs', 'qkv'], {
      env: { PKG_CONFIG_PATH: join(libdir, 'pkgconfig') },
    });
    const folders = [...flags.matchAll(/-[IL](\S+)/g)].map(([, folder]) => join(folder));
    assert.deepEqual(folders, [join(prefix, 'headers'), libdir]);
  });
});

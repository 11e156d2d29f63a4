// The C++ library as a part of another CMake project: it builds, and the project stays as it was.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { after, describe, test } from 'node:test';
import { toolchain } from '../../../tools/environment.js';
import { inFullRun } from '../../support/js/full.js';
import { blocksUnder, guide } from './examples.js';
import { isas, program, replaced, Stranger } from './stranger.js';

const here = new Stranger();
after(() => here.leave());

const [withFolder, withFetch] = blocksUnder(guide, 'As a part of your project', 'cmake');

/** Every variable and directory property that is not the same after `command` as it was before. */
const whatChanges = (command) => `
  macro(remember when)
    get_cmake_property(names VARIABLES)
    foreach(name IN LISTS names)
      set(\${when}_of_\${name} "\${\${name}}")
    endforeach()
    foreach(name COMPILE_OPTIONS COMPILE_DEFINITIONS INCLUDE_DIRECTORIES LINK_OPTIONS LINK_LIBRARIES)
      get_directory_property(\${when}_of_\${name} \${name})
      list(APPEND names \${name})
    endforeach()
    get_property(\${when}_of_TESTING DIRECTORY PROPERTY TESTS)
    set(\${when}_names "\${names};TESTING")
  endmacro()
  remember(before)
  ${command}
  remember(after)
  list(FILTER after_names EXCLUDE REGEX "^(before|after|names?|when)|_of_")
  foreach(name IN LISTS after_names)
    if(NOT "\${before_of_\${name}}" STREQUAL "\${after_of_\${name}}")
      message(STATUS "changed: \${name}")
    endif()
  endforeach()`;

/** The lines of CMake's list of compiler commands: { file, command }. */
const commandsOf = (name) =>
  JSON.parse(readFileSync(here.path(name, 'build/compile_commands.json'), 'utf8'));

inFullRun('the C++ library as a part of other projects', () => {
  describe('subproject: FetchContent', () => {
    // The other tests have the compiler of the toolchain, which is clang wherever that is to be had.
    test('builds the library and the program, with g++ where there is one', async (t) => {
      const gcc = await here.run('g++', ['--version']).catch(() => ({ output: 'no g++' }));
      t.diagnostic(gcc.output.split('\n')[0]);
      here.project('fetches', withFetch);
      const compiler = gcc.code === 0 ? ['-DCMAKE_CXX_COMPILER=g++'] : [];
      const list = '-DCMAKE_EXPORT_COMPILE_COMMANDS=ON';
      await here.build('fetches', [...compiler, isas('avx512;scalar'), list]);
      assert.equal(await here.must('build/app', [], { cwd: 'fetches' }), program.prints);
    });

    test('without a build type the library is optimised, and the program left alone', () => {
      const commands = commandsOf('fetches');
      const [own, ours] = [true, false].map((own) =>
        commands.filter(({ file }) => file.endsWith('/main.cpp') === own),
      );
      assert.equal(own.length, 1);
      assert.ok(ours.length > 15);
      for (const { command } of own) assert.doesNotMatch(command, / -(O|f|m|D|Wconversion)/);
      for (const { command } of ours) {
        assert.match(command, / -O3 /);
        assert.doesNotMatch(command, /Werror.*Werror/);
      }
    });

    test('builds no tests', () => {
      const foreign = commandsOf('fetches').filter(
        ({ file }) => !/main\.cpp$|core\/src/.test(file),
      );
      assert.deepEqual(foreign, []);
    });

    test('compiles the library that it links, and not the one for training', () => {
      const made = readdirSync(here.path('fetches/build'), { recursive: true });
      assert.ok(made.some((name) => name.endsWith('libqkv.a')));
      assert.deepEqual(
        made.filter((name) => /libqkv_train|\/train\/.*\.o$/.test(name)),
        [],
      );
    });

    test('installs nothing of its own', async () => {
      await here.must('cmake', ['--install', 'build', '--prefix', 'prefix'], { cwd: 'fetches' });
      assert.ok(!existsSync(here.path('fetches/prefix')));
    });
  });

  describe('subproject: add_subdirectory', () => {
    const changes = replaced(
      withFolder,
      'add_subdirectory(qkv)',
      whatChanges('add_subdirectory(qkv)'),
    );
    // Things that a project may have around a part that it does not know.
    const around = replaced(
      changes,
      'LANGUAGES CXX)',
      'VERSION 7.8.9 LANGUAGES CXX)\nset(CMAKE_CXX_STANDARD 17)\n',
    );
    const own = '\nadd_library(xsimd INTERFACE)\nadd_library(eigen INTERFACE)\n';
    let said;

    test('builds in a project of C++17, with sanitizers, for debugging', async () => {
      here.project('adds', around + own);
      said = await here.build('adds', [
        ...['-DCMAKE_BUILD_TYPE=Debug', '-DQKV_ISAS=scalar', '-DQKV_SANITIZE=ON'],
      ]);
      assert.equal(await here.must('build/app', [], { cwd: 'adds' }), program.prints);
    });

    test('changes no variable and no option of the project', () => {
      const changed = [...said.matchAll(/changed: (.*)/g)].map(([, name]) => name);
      assert.deepEqual(
        changed.filter((name) => !/^(QKV|qkv|FETCHCONTENT)_|Threads|^CMAKE_HAVE_/.test(name)),
        [],
      );
      assert.ok(changed.includes('qkv_SOURCE_DIR'), `${changed}`);
    });

    test('leaves the list of compiler commands to the project', () => {
      assert.ok(!existsSync(here.path('adds/build/compile_commands.json')));
    });

    test('keeps the sanitizers to itself', async () => {
      const all = await here.must('ninja', ['-C', 'build', '-t', 'commands'], { cwd: 'adds' });
      const compiled = all.split('\n').filter((line) => / -c /.test(line));
      const sanitized = (line) => line.includes('-fsanitize=address');
      assert.ok(compiled.some(sanitized));
      for (const line of compiled) assert.equal(sanitized(line), !/main\.cpp/.test(line), line);
    });
  });

  test('subproject: under Emscripten the program runs as WebAssembly, and no other variant is built', async () => {
    here.project('wasm', withFolder);
    await here.build('wasm', [
      `-DCMAKE_TOOLCHAIN_FILE=${toolchain.EMCMAKE_TOOLCHAIN}`,
      '-DCMAKE_EXE_LINKER_FLAGS=-sWASM_BIGINT=1', // see core/CMakeLists.txt
    ]);
    assert.equal(
      await here.must(process.execPath, ['build/app.js'], { cwd: 'wasm' }),
      program.prints,
    );
    const libraries = readdirSync(here.path('wasm/build/qkv/core')).filter((n) => n.endsWith('.a'));
    assert.deepEqual(libraries, ['libqkv_simd.a']);
  });
});

describe('subproject: without xsimd', () => {
  const configure = (name, options) => {
    here.project(name, withFolder);
    return here.run('cmake', ['-S', '.', '-B', 'build', ...options], { cwd: name });
  };
  const sentence = (folder) =>
    `qkv: the headers of xsimd >= 13 are not in "${folder}": install them, or let ` +
    'XSIMD_INCLUDE_DIR name the folder they are in.';

  for (const [what, options, folder] of [
    ['a folder that does not exist', ['-DXSIMD_INCLUDE_DIR=/nowhere'], '/nowhere'],
    [
      'no package, and no network',
      [
        ...['-DXSIMD_INCLUDE_DIR=', '-DCMAKE_DISABLE_FIND_PACKAGE_xsimd=ON'],
        '-DFETCHCONTENT_FULLY_DISCONNECTED=ON',
      ],
      '.*',
    ],
  ]) {
    test(`${what}: one sentence says what to do`, async () => {
      const { code, output } = await configure(what.replaceAll(/\W+/g, '-'), options);
      assert.notEqual(code, 0);
      assert.match(output.replaceAll(/\s+/g, ' '), new RegExp(sentence(folder)));
    });
  }

  test('a download that fails: the last error names the variable', async () => {
    here.project('download', withFolder);
    const options = ['-DXSIMD_INCLUDE_DIR=', '-DCMAKE_DISABLE_FIND_PACKAGE_xsimd=ON'];
    const nobody = { https_proxy: 'http://127.0.0.1:9' };
    const { code, output } = await here.run('cmake', ['-S', '.', '-B', 'build', ...options], {
      cwd: 'download',
      env: nobody,
    });
    assert.notEqual(code, 0);
    const [last] = output.split('CMake Error').slice(-1);
    assert.match(
      last.replaceAll(/\s+/g, ' '),
      /qkv: xsimd could not be fetched from .* Install it, or configure with -DXSIMD_INCLUDE_DIR=<its folder>\./,
    );
  });
});

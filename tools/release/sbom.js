// The software bill of materials of the npm package, in CycloneDX: what npm knows of it, which is a package without dependencies,
// and what is compiled into its files, with the versions of this machine's toolchain.
//
//   node tools/release/sbom.js [TARBALL]    prints it, with the hash of the tarball
import { createHash } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root, toolchain } from '../environment.js';

const text = (path) => readFileSync(path, 'utf8');
const found = (path, pattern) => pattern.exec(text(path))?.slice(1);

/** Where Emscripten's own libraries are, whose sources it compiles into every .wasm. */
const system = () => join(dirname(toolchain.EMXX), 'system/lib');

function xsimdVersion() {
  const header = join(toolchain.XSIMD_INCLUDE_DIR, 'xsimd/config/xsimd_config.hpp');
  return ['MAJOR', 'MINOR', 'PATCH']
    .map((part) => found(header, new RegExp(`XSIMD_VERSION_${part} (\\d+)`)))
    .join('.');
}

function eigenVersion() {
  const header = join(toolchain.EIGEN_INCLUDE_DIR, 'Eigen/src/Core/util/Macros.h');
  return ['WORLD', 'MAJOR', 'MINOR']
    .map((part) => found(header, new RegExp(`EIGEN_${part}_VERSION (\\d+)`)))
    .join('.');
}

function emscriptenVersion() {
  const said = execFileSync(toolchain.EMXX, ['--version'], { encoding: 'utf8' });
  return /\) (\d+\.\d+\.\d+)/.exec(said)[1];
}

/** 180100 is 18.1.0. */
function libcxxVersion() {
  const header = join(system(), 'libcxx/include/__config');
  const [digits] = found(header, /_LIBCPP_VERSION (\d+)/);
  return `${Number(digits.slice(0, -4))}.${Number(digits.slice(-4, -2))}.${Number(digits.slice(-2))}`;
}

const locked = (name) =>
  JSON.parse(text(join(root, 'package-lock.json'))).packages[`node_modules/${name}`];

/** What is compiled in, named as in LICENSES.md, with what it is in. */
const compiledIn = () => [
  {
    ...{ name: 'xsimd', version: xsimdVersion(), license: 'BSD-3-Clause' },
    ...{ purl: 'pkg:github/xtensor-stack/xsimd', in: 'every .wasm but that of spectra' },
  },
  {
    ...{ name: 'Eigen', version: eigenVersion(), license: 'MPL-2.0' },
    ...{ purl: 'pkg:gitlab/libeigen/eigen', in: 'qkv-spectra-simd.wasm' },
  },
  {
    ...{ name: 'Emscripten', version: emscriptenVersion(), license: 'MIT' },
    ...{ purl: 'pkg:github/emscripten-core/emscripten', in: 'every .wasm' },
  },
  {
    name: 'dlmalloc',
    version: found(join(system(), 'dlmalloc.c'), /Version (\d+\.\d+\.\d+)/)[0],
    ...{ license: 'CC0-1.0', purl: 'pkg:generic/dlmalloc', in: 'every .wasm' },
  },
  {
    ...{ name: 'LLVM', version: libcxxVersion(), license: 'Apache-2.0 WITH LLVM-exception' },
    ...{ purl: 'pkg:github/llvm/llvm-project', in: 'every .wasm' },
  },
  {
    ...{ name: 'musl', version: text(join(system(), 'libc/musl/VERSION')).trim() },
    ...{ license: 'MIT', purl: 'pkg:generic/musl', in: 'every .wasm' },
  },
  {
    ...{ name: 'regjsparser', version: locked('regjsparser').version, license: 'BSD-2-Clause' },
    ...{ purl: 'pkg:npm/regjsparser', in: 'constraints.js' },
    integrity: locked('regjsparser').integrity,
  },
];

const hashOf = (integrity) => ({
  alg: 'SHA-512',
  content: Buffer.from(integrity.replace(/^sha512-/, ''), 'base64').toString('hex'),
});

const isExpression = (license) => / (WITH|AND|OR) /.test(license);

/** A component of CycloneDX. */
function componentOf({ name, version, license, purl, integrity, in: where }) {
  const address = `${purl}@${version}`;
  return {
    ...{ type: 'library', 'bom-ref': address, name, version, purl: address, scope: 'required' },
    licenses: [isExpression(license) ? { expression: license } : { license: { id: license } }],
    ...(integrity && { hashes: [hashOf(integrity)] }),
    properties: [{ name: 'qkv:compiled-into', value: where }],
  };
}

/** The bill as an object; of a tarball, if there is one, with its hash. */
export function sbom(tarball) {
  const line = ['sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev', '--package-lock-only'];
  const bill = JSON.parse(execFileSync('npm', line, { cwd: root, encoding: 'utf8' }));
  const { name } = JSON.parse(text(join(root, 'package.json')));
  const components = [...bill.components, ...compiledIn().map(componentOf)];
  const own = bill.metadata.component['bom-ref'];
  const others = bill.dependencies.filter(({ ref }) => ref !== own);
  const integrity = (file) => createHash('sha512').update(readFileSync(file)).digest('base64');
  return {
    ...bill,
    // npm names it after the folder of the checkout.
    metadata: {
      ...bill.metadata,
      component: {
        ...bill.metadata.component,
        name,
        ...(tarball && { hashes: [hashOf(integrity(tarball))] }),
      },
    },
    components,
    dependencies: [{ ref: own, dependsOn: components.map((one) => one['bom-ref']) }, ...others],
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  console.log(JSON.stringify(sbom(process.argv[2]), null, 2));
}

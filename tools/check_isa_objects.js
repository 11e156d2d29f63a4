// Looks at the object file of each instruction-set page, after `npm run build`:
//
// - every symbol that another object could share carries the name of its instruction set. The linker
//   keeps one copy of each inline function; if that copy came from a page built with -mavx512f,
//   machines without AVX-512 would crash in a function that looks harmless.
// - the widest registers it uses are those of its instruction set: a page that compiled to less would
//   pass every numerical test and be slow, one that compiled to more would crash elsewhere.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root, toolchain } from './environment.js';
import { must } from './run.js';

const pages = {
  scalar: { isa: 'Scalar', uses: /%xmm/, never: /%[yz]mm/ },
  sse4: { isa: 'Sse4', uses: /%xmm/, never: /%[yz]mm|vfmadd/ },
  avx2: { isa: 'Avx2', uses: /vfmadd\S+\s.*%ymm/, never: /%zmm/ },
  avx512: { isa: 'Avx512', uses: /vfmadd\S+\s.*%zmm/ },
  neon64: { isa: 'Neon64', uses: /fmla\s/ },
};

const objectOf = (page) =>
  join(root, `build/native/core/CMakeFiles/qkv_${page}.dir/src/arch/${page}.cpp.o`);

/** Complaints about one page; none is good. */
async function check(page, { isa, uses, never }) {
  const object = objectOf(page);
  const { stdout } = await must(toolchain.LLVM_NM, ['--defined-only', '--extern-only', object]);
  const names = stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => line.split(' ').pop());
  const foreign = names.filter((name) => !name.includes(isa) && !name.includes(`${page}_kernels`));
  const problems = foreign.map((name) => `${page}: ${name} does not carry the name ${isa}`);
  const disassembler = toolchain.LLVM_NM.replace('llvm-nm', 'llvm-objdump');
  const { stdout: code } = await must(disassembler, ['-d', '--no-show-raw-insn', object]);
  if (!uses.test(code)) problems.push(`${page}: no instruction matches ${uses}`);
  if (never?.test(code)) problems.push(`${page}: an instruction matches ${never}`);
  return problems;
}

/** { checked: names of pages, problems: sentences }. */
export async function checkIsaObjects() {
  const checked = Object.keys(pages).filter((page) => existsSync(objectOf(page)));
  const problems = await Promise.all(checked.map((page) => check(page, pages[page])));
  return { checked, problems: problems.flat() };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { checked, problems } = await checkIsaObjects();
  console.log(problems.length > 0 ? problems.join('\n') : `sound: ${checked.join(', ')}`);
  process.exitCode = problems.length > 0 ? 1 : 0;
}

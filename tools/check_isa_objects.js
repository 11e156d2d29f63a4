// Looks at the object file of each ISA unit, after `npm run build`:
//
// - every symbol that another object could share carries the name of its instruction set. The linker
//   keeps one copy of each inline function; if that copy came from a unit built with -mavx512f,
//   machines without AVX-512 would crash in a function that looks harmless.
// - the widest registers it uses are those of its instruction set: a unit that compiled to less would
//   pass every numerical test and be slow, one that compiled to more would crash elsewhere.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root, toolchain } from './environment.js';
import { must } from './run.js';

/** The unit without vectors of its own, which every machine has: on AArch64 nothing in it may round once where it should twice. */
const scalar = {
  x64: { uses: /%xmm/, never: /%[yz]mm/ },
  arm64: { uses: /fmul(\.4s)?\s/, never: /\sfn?m(add|sub)\s|\sfml[as](\.4s)?\s/ },
}[process.arch];

// For a Mac the disassembler writes fmla.4s v0, v1, v2 instead of fmla v0.4s, v1.4s, v2.4s.
export const units = {
  scalar: { isa: 'Scalar', ...scalar },
  sse4: { isa: 'Sse4', uses: /%xmm/, never: /%[yz]mm|vfmadd/ },
  avx2: { isa: 'Avx2', uses: /vfmadd\S+\s.*%ymm/, never: /%zmm/ },
  avx512: { isa: 'Avx512', uses: /vfmadd\S+\s.*%zmm/ },
  avxvnni: { isa: 'AvxVnni', uses: /vpdpbusd\s.*%ymm/, never: /%zmm/, newer: true },
  avx512vnni: { isa: 'Avx512Vnni', uses: /vpdpbusd\s.*%zmm/, newer: true },
  neon64: { isa: 'Neon64', uses: /fmla(\.4s)?\s/ },
  neon64mm: { isa: 'Neon64Mm', uses: /smmla(\.4s)?\s/, newer: true },
  neon64dot: { isa: 'Neon64Dot', uses: /sdot(\.4s)?\s/, newer: true },
};

const objectOf = (unit) =>
  join(root, `build/native/core/CMakeFiles/qkv_${unit}.dir/src/isa/arch/${unit}.cpp.o`);
/** The unit of the training library. */
const trainObjectOf = (unit) =>
  join(root, `build/native/core/CMakeFiles/qkv_train_${unit}.dir/src/isa/arch/train/${unit}.cpp.o`);

/** Beside LLVM_NM, with its version. Some packages of LLVM have one of the two. */
const disassembler = toolchain.LLVM_NM?.replace('llvm-nm', 'llvm-objdump');
export const canCheckIsaObjects = () => disassembler !== undefined && existsSync(disassembler);

/** Complaints about one object of a unit; none is good. */
async function check(unit, object, { isa, uses, never }) {
  const { stdout } = await must(toolchain.LLVM_NM, ['--defined-only', '--extern-only', object]);
  const names = stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => line.split(' ').pop());
  const tables = [`${unit}_kernels`, `${unit}_train_kernels`];
  const foreign = names.filter(
    (name) => !name.includes(isa) && !tables.some((table) => name.includes(table)),
  );
  const problems = foreign.map((name) => `${unit}: ${name} does not contain the name ${isa}`);
  const { stdout: code } = await must(disassembler, ['-d', '--no-show-raw-insn', object]);
  if (uses && !uses.test(code)) problems.push(`${unit}: no instruction matches ${uses}`);
  if (never?.test(code)) problems.push(`${unit}: an instruction matches ${never}`);
  return problems;
}

/** { checked: names of units, problems: sentences }. */
export async function checkIsaObjects() {
  const checked = Object.keys(units).filter((unit) => existsSync(objectOf(unit)));
  const problems = await Promise.all(
    checked.flatMap((unit) =>
      [objectOf(unit), ...(units[unit].newer ? [] : [trainObjectOf(unit)])].map((object) =>
        check(unit, object, units[unit]),
      ),
    ),
  );
  return { checked, problems: problems.flat() };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { checked, problems } = await checkIsaObjects();
  console.log(problems.length > 0 ? problems.join('\n') : `sound: ${checked.join(', ')}`);
  process.exitCode = problems.length > 0 ? 1 : 0;
}

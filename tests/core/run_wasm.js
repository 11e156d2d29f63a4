// node tests/core/run_wasm.js <variant> <isa> [--build <folder>] [Catch2 arguments]: runs the Catch2 suite
// that was built to WebAssembly, in build/wasm unless told otherwise.
const [variant, isa, ...rest] = process.argv.slice(2);
const [build, args] = rest[0] === '--build' ? [rest[1], rest.slice(2)] : ['build/wasm', rest];
const url = new URL(`../../${build}/tests/qkv_tests_${variant}.mjs`, import.meta.url);
const { default: createModule } = await import(url.href);
const module = await createModule({ preRun: [(m) => (m.ENV.QKV_ISA = isa)] });
process.exitCode = module.callMain(args);

// node tests/support/run_wasm.js <variant> <isa> [Catch2 arguments]: runs the Catch2 suite that was built
// to WebAssembly.
const [variant, isa, ...args] = process.argv.slice(2);
const url = new URL(`../../build/wasm/tests/qkv_tests_${variant}.mjs`, import.meta.url);
const { default: createModule } = await import(url.href);
const module = await createModule({ preRun: [(m) => (m.ENV.QKV_ISA = isa)] });
process.exitCode = module.callMain(args);

// Embind's JavaScript for functions of numbers, which is all that the modules bind: a library of Emscripten whose
// functions replace those of the same names and signatures. Embind's own can also do classes, strings, values and
// overloads, and is several times as large.
/* global addToLibrary, getWasmTableEntry, HEAPU8, HEAPU32, Module, wireTypes */
/* eslint no-unused-vars: ["error", { "args": "none" }] */

addToLibrary({
  /** By the id of a C++ type: from what a function returns to a value of JavaScript. Arguments need nothing. */
  $wireTypes: {},

  _embind_register_void__deps: ['$wireTypes'],
  _embind_register_void: (type, name) => {
    wireTypes[type] = () => undefined;
  },
  _embind_register_bool__deps: ['$wireTypes'],
  _embind_register_bool: (type, name, whenTrue, whenFalse) => {
    wireTypes[type] = (value) => !!value;
  },
  _embind_register_integer__deps: ['$wireTypes'],
  _embind_register_integer: (type, name, size, least, most) => {
    wireTypes[type] = least === 0 ? (value) => value >>> 0 : (value) => value;
  },
  _embind_register_float__deps: ['$wireTypes'],
  _embind_register_float: (type, name, size) => {
    wireTypes[type] = (value) => value;
  },

  // Types are looked up by each call: they may be registered after the functions.
  _embind_register_function__deps: ['$wireTypes', '$getWasmTableEntry'],
  _embind_register_function: (name, count, types, signature, invoker, own, isAsync, isNonnull) => {
    let text = '';
    for (let at = name; HEAPU8[at]; at += 1) text += String.fromCharCode(HEAPU8[at]);
    const type = HEAPU32[types >>> 2];
    const call = getWasmTableEntry(invoker);
    Module[text] = (...given) => wireTypes[type](call(own, ...given));
  },

  // The core asks for its settings in the environment, which a page has none of.
  environ_sizes_get__deps: [],
  environ_sizes_get: (count, bytes) => {
    HEAPU32[count >>> 2] = HEAPU32[bytes >>> 2] = 0;
    return 0;
  },
  environ_get__deps: [],
  environ_get: (addresses, bytes) => 0,

  // What no function here takes or returns.
  _embind_register_bigint__deps: [],
  _embind_register_bigint: (type, name, size, least, most) => {},
  _embind_register_std_string__deps: [],
  _embind_register_std_string: (type, name) => {},
  _embind_register_std_wstring__deps: [],
  _embind_register_std_wstring: (type, size, name) => {},
  _embind_register_emval__deps: [],
  _embind_register_emval: (type) => {},
  _embind_register_memory_view__deps: [],
  _embind_register_memory_view: (type, index, name) => {},
});

// Made by tools/probes.js from wasm/probes/*.wat; do not edit.
//
// Each is the smallest module with the opcodes that a variant needs beyond the others: what
// WebAssembly.validate says of it is whether the engine can run that variant.

export const relaxedProbe =
  '0061736d0100000001080160037b7b7b017b030201000a0d010b00200020012002fd85020b';

export const simdProbe =
  '0061736d0100000001060160017d017b030201000a080106002000fd130b';

export const threadsProbe =
  '0061736d0100000001050160017f0002100103656e76066d656d6f727902030101030201000a1f011d00200020004100fc0a00002000200041004200fe010200fe0002001a0b';

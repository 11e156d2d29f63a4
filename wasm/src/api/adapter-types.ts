// Adapters of low rank (LoRA) in files, as the library PEFT has them.

/** The two files of adapters, in the layout of PEFT. */
export interface AdapterFiles {
  /** What they are of: the bytes of the file, or the file, parsed. */
  readonly 'adapter_config.json': Uint8Array | object;
  /** Their matrices, in float32, float16 or bfloat16. */
  readonly 'adapter_model.safetensors': Uint8Array;
}

/** The files as they are written: float32. */
export interface WrittenAdapters {
  /** JSON. */
  'adapter_config.json': ReturnType<Uint8Array['slice']>;
  /** Each map has `lora_A.weight` [rank, in] and `lora_B.weight` [out, rank]. */
  'adapter_model.safetensors': ReturnType<Uint8Array['slice']>;
}

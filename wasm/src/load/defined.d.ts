// What tools/build/constants.js defines for the bundles.

/** The version in package.json. */
declare const QKV_VERSION: string;

/** The layout of the arguments of the operators that every program has, by tools/abi.js. */
declare const QKV_ABI: import('../memory/abi.js').WrittenAbi;

/** What those of `qkv/models` have besides, as JSON. */
declare const QKV_MODELS_ABI: string;

/** What the operators of `qkv/train` have besides, as JSON. */
declare const QKV_TRAIN_ABI: string;

/** The layout of the arguments of the operators of `qkv/spectra`, as JSON. */
declare const QKV_SPECTRA_ABI: string;

/** The parameters of every method that qkv/worker has, by tools/abi.js. */
declare const QKV_METHODS: Readonly<Record<string, readonly string[]>>;

/** Whether this is the bundle of `qkv/inline`. */
declare const QKV_INLINE: boolean;

/** Both .wasm files, deflated, in base64. In the bundle of `qkv/inline` only. */
declare const QKV_EMBEDDED: Record<'relaxed' | 'simd', string>;

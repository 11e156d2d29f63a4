/** What a reader's files are to a model. */
export interface Sorted {
  readonly weights: readonly File[];
  readonly config: File | null;
  /** Of llama2.c. */
  readonly tokenizer: File | null;
  /** A tokenizer that this page does not read. */
  readonly unread: File | null;
}

const isText = ({ name }: File) =>
  /\.(json|jsonl|md|txt|py|ya?ml|jinja|html|csv)$/i.test(name) ||
  /^(\.|license|notice)/i.test(name);
const isTokenizer = ({ name }: File) =>
  /tokenizer.*\.bin$/i.test(name) || /^tok\d*\.bin$/i.test(name);
const isUnread = ({ name }: File) =>
  /^(tokenizer\.json|tokenizer\.model|spiece\.model|.*\.tiktoken)$/i.test(name);
/** Beside the weights of other programs, which say the same once more. */
const isOther = ({ name }: File) =>
  /\.(h5|msgpack|onnx|onnx_data|ot|pb|tflite|pth?|ckpt)$/i.test(name);

type Kind = 'gguf' | 'safetensors' | 'other';

/** By what it begins with: a name may have been changed. */
async function kindOf(file: File): Promise<Kind> {
  const bytes = new Uint8Array(await file.slice(0, 9).arrayBuffer());
  const letters = String.fromCharCode(...bytes);
  if (letters.startsWith('GGUF')) return 'gguf';
  return letters[8] === '{' || /\.safetensors$/i.test(file.name) ? 'safetensors' : 'other';
}

/** The files of an index, which lies beside the parts of large models; null: it names none of these. */
async function partsIn(index: File, files: readonly File[]): Promise<File[] | null> {
  try {
    const { weight_map: map } = JSON.parse(await index.text()) as { weight_map?: object };
    const names = new Set<unknown>(Object.values(map ?? {}));
    const parts = files.filter(({ name }) => names.has(name));
    return parts.length > 0 ? parts : null;
  } catch {
    return null;
  }
}

/** Which of these are the weights: of a model that is there in several formats those that say most of themselves. */
async function weightsOf(files: readonly File[]): Promise<readonly File[]> {
  const possible = files.filter((file) => !isText(file) && !isTokenizer(file) && !isUnread(file));
  const kinds = await Promise.all(possible.map(kindOf));
  const of = (kind: Kind) => possible.filter((_, i) => kinds[i] === kind);
  const index = files.find(({ name }) => /safetensors\.index\.json$/i.test(name));
  const safetensors = of('safetensors');
  if (safetensors.length > 0) return (index && (await partsIn(index, safetensors))) ?? safetensors;
  const gguf = of('gguf');
  if (gguf.length > 0) return gguf;
  const plain = possible.filter((file) => !isOther(file));
  return plain.length > 0 ? plain : possible; // the package says what is wrong with it
}

function configOf(files: readonly File[]): File | null {
  const isConfig = ({ name }: File) =>
    /config.*\.json$/i.test(name) && !/tokenizer|generation|processor|adapter|sentence/i.test(name);
  return files.find(({ name }) => name === 'config.json') ?? files.find(isConfig) ?? null;
}

/** Sorts files that were chosen or dropped together, a whole folder of the Hugging Face hub among them. */
export async function sortFiles(files: readonly File[]): Promise<Sorted> {
  return {
    weights: await weightsOf(files),
    config: configOf(files),
    tokenizer: files.find(isTokenizer) ?? null,
    unread: files.find(isUnread) ?? null,
  };
}

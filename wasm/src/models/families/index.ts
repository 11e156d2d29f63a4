// All families, a line for each.

export { bert } from './bert.js';
export { bloom } from './bloom.js';
export { distilbert } from './distilbert.js';
export { ernie4_5 } from './ernie4_5.js';
export { gemma } from './gemma.js';
export { gemma2 } from './gemma2.js';
export { gptBigcode } from './gpt-bigcode.js';
export { gptNeo } from './gpt-neo.js';
export { gptNeox } from './gpt-neox.js';
export { gpt2 } from './gpt2.js';
export { llama } from './llama.js';
export { mistral } from './mistral.js';
export { opt } from './opt.js';
export { qwen2 } from './qwen2.js';
export { qwen3 } from './qwen3.js';
export { roberta } from './roberta.js';
export { starcoder2 } from './starcoder2.js';

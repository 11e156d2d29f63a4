// All families, a line for each.

export { bert } from './bert.js';
export { gemma } from './gemma.js';
export { gemma2 } from './gemma2.js';
export { gpt2 } from './gpt2.js';
export { gptNeox } from './gpt-neox.js';
export { llama } from './llama.js';
export { mistral } from './mistral.js';
export { qwen2 } from './qwen2.js';
export { qwen3 } from './qwen3.js';

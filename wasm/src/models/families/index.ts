// All families, a line for each.

export { bert } from './bert.js';
export { biogpt } from './biogpt.js';
export { bloom } from './bloom.js';
export { data2vecText } from './data2vec-text.js';
export { distilbert } from './distilbert.js';
export { electra } from './electra.js';
export { ernie } from './ernie.js';
export { ernie4_5 } from './ernie4_5.js';
export { esm } from './esm.js';
export { gemma } from './gemma.js';
export { gemma2 } from './gemma2.js';
export { glm } from './glm.js';
export { gptBigcode } from './gpt-bigcode.js';
export { gptNeo } from './gpt-neo.js';
export { gptNeox } from './gpt-neox.js';
export { gpt2 } from './gpt2.js';
export { helium } from './helium.js';
export { llama } from './llama.js';
export { mistral } from './mistral.js';
export { openaiGpt } from './openai-gpt.js';
export { opt } from './opt.js';
export { qwen2 } from './qwen2.js';
export { qwen3 } from './qwen3.js';
export { roberta } from './roberta.js';
export { starcoder2 } from './starcoder2.js';
export { vaultgemma } from './vaultgemma.js';

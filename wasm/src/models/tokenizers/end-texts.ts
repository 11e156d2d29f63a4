// Tokens that end what a model says, as GGUF has them.

/** How metadata call such tokens. */
export const namesOfEnds: readonly string[] = ['eos', 'eot', 'eom'];

/** Their texts: the list of llama.cpp. Any of them may be an ordinary token of a family, as "</s>" is of Qwen 2. */
export const endTexts: ReadonlySet<unknown> = new Set([
  ...['<|eot_id|>', '<|im_end|>', '<|end|>', '<|return|>', '<|call|>', '<|flush|>', '<|calls|>'],
  ...['<end_of_turn>', '<|endoftext|>', '</s>', '<|eom_id|>', '<EOT>', '_<EOT>', '[EOT]', '[EOS]'],
  ...['<|end_of_text|>', '<end_of_utterance>', '<eos>', '<turn|>', '<｜end▁of▁sentence｜>', '[e~['],
]);

// Activations without a gate, by the words of transformers.

type PlainActivation = 'relu' | 'gelu' | 'gelu_tanh' | 'silu';

export const plain: Readonly<Record<string, PlainActivation>> = {
  ...{ relu: 'relu', gelu: 'gelu', gelu_new: 'gelu_tanh', gelu_fast: 'gelu_tanh' },
  ...{ gelu_pytorch_tanh: 'gelu_tanh', silu: 'silu', swish: 'silu' },
};

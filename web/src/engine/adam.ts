/** Adam (Kingma & Ba 2015) for a small array, with the usual decays unless the squares are to be forgotten sooner. */
export class Adam {
  readonly #means: Float32Array;
  readonly #squares: Float32Array;
  readonly #decay: number;
  #step = 0;

  constructor(length: number, decay = 0.999) {
    this.#means = new Float32Array(length);
    this.#squares = new Float32Array(length);
    this.#decay = decay;
  }

  move(numbers: Float32Array, gradient: Float32Array | Float64Array, rate: number): void {
    const [decay, step] = [this.#decay, ++this.#step];
    gradient.forEach((g, i) => {
      const mean = (this.#means[i] = 0.9 * this.#means[i]! + 0.1 * g);
      const square = (this.#squares[i] = decay * this.#squares[i]! + (1 - decay) * g * g);
      const size = Math.sqrt(square / (1 - decay ** step)) + 1e-8;
      numbers[i]! -= (rate * mean) / (1 - 0.9 ** step) / size;
    });
  }
}

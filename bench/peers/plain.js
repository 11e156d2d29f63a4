// What JavaScript does without a library: the yardsticks of operators that are bound by memory or by
// Math.sin.
export function plain() {
  const makers = {
    sinusoidal({ rows, width }) {
      const table = new Float32Array(rows * width);
      return [
        {
          way: 'Math.sin loop',
          run() {
            for (let p = 0; p < rows; p += 1) {
              for (let i = 0; i < width; i += 2) {
                const angle = p * 10000 ** (-i / width);
                table[p * width + i] = Math.sin(angle);
                table[p * width + i + 1] = Math.cos(angle);
              }
            }
          },
          output: () => table,
        },
        {
          way: 'Math.sin loop, frequencies once',
          run() {
            const frequencies = Float64Array.from(
              { length: width / 2 },
              (_, i) => 10000 ** ((-2 * i) / width),
            );
            for (let p = 0; p < rows; p += 1) {
              for (let i = 0; i < width; i += 2) {
                const angle = p * frequencies[i / 2];
                table[p * width + i] = Math.sin(angle);
                table[p * width + i + 1] = Math.cos(angle);
              }
            }
          },
          output: () => table,
        },
      ];
    },
  };
  const copy = (_, { x }) => {
    const to = new Float32Array(x.data.length);
    return [
      { way: 'copy', run: () => to.set(x.data) },
      { way: 'copy into a new array', run: () => x.data.slice() },
    ];
  };
  return {
    each: true,
    load: async () => {},
    prepare: (entry, inputs) => (entry.copy ? copy : makers[entry.op])?.(entry, inputs) ?? [],
  };
}

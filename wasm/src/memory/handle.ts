import { QkvError } from '../api/errors.js';
import type { Destroyer, Instance } from './instance.js';
import type { Address } from './raw.js';

/** Symbol.dispose, also where the JavaScript engine does not have it yet. */
export const disposeSymbol: typeof Symbol.dispose =
  Symbol.dispose ?? (Symbol.for('Symbol.dispose') as typeof Symbol.dispose);

/**
 * Something in WebAssembly memory that must be given back: counted while it lives, freed once, and
 * caught by a FinalizationRegistry if its owner forgets it.
 */
export class Handle {
  readonly instance: Instance;
  readonly #destroy: Destroyer;
  #address: Address;

  /** `owner` is the object of the caller. `destroy` is a name, so that nothing here holds the module. */
  constructor(owner: object, instance: Instance, address: Address, destroy: Destroyer) {
    this.instance = instance;
    this.#address = address;
    this.#destroy = destroy;
    instance.handles.add(this);
    forgotten?.register(owner, this, this);
  }

  /** Undefined once disposed, or once the instance has ended. */
  get address(): Address | undefined {
    return this.#address !== 0 && this.instance.alive ? this.#address : undefined;
  }

  /**
   * The address, for a call of `fn`. Read last: until then a getter of the caller may have disposed it.
   * @throws {@link QkvError} that `what` is disposed
   */
  live(fn: string, what: string): Address {
    const { address } = this;
    if (address !== undefined) return address;
    throw new QkvError('disposed', `${fn}: ${what} is disposed, expected a live one`);
  }

  dispose(): void {
    forgotten?.unregister(this);
    const address = this.address;
    this.#address = 0;
    if (address !== undefined) {
      this.instance.handles.delete(this);
      this.instance.destroy(this.#destroy, address);
    }
  }
}

/**
 * The net, not the plan: frees what was dropped without dispose(), when the collector notices. Hosts that hide the collector
 * (Cloudflare's Workers, by their date) have none.
 */
const { FinalizationRegistry: Registry } = globalThis as Partial<typeof globalThis>;
const forgotten = Registry && new Registry<Handle>((handle) => handle.dispose());

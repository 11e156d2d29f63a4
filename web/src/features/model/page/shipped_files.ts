import austen from '../../../../../models/austen/austen.safetensors?url';
import names from '../../../../../models/names/names.safetensors?url';
import novels from '../../../../../models/novels/novels.safetensors?url';
import tang from '../../../../../models/tang/tang.safetensors?url';
import type { ModelFiles } from '../shared/protocol';
import type { ShippedName } from '../shared/shipped_models';

const ADDRESSES: Readonly<Record<ShippedName, string>> = { names, novels, austen, tang };

/** The files of the page: beside it, and fetched by its worker. The single page has another module in this one's place. */
export function shippedFiles(name: ShippedName): ModelFiles | null {
  return { kind: 'address', name, url: new URL(ADDRESSES[name], location.href).href };
}

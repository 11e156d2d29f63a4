import type { Failure } from '../domain/failure';
import { t } from '../i18n/i18n';

const KNOWN = {
  load_failed: 'reason.load_failed',
  unsupported: 'failure.unsupported',
  out_of_memory: 'reason.out_of_memory',
} as const;

/** Why something did not work and what can be done, for a reader; what nobody foresaw in the words of the program. */
export function reasonOf({ code, message }: Failure): string {
  const key = KNOWN[code as keyof typeof KNOWN];
  return key ? t(key) : t('reason.other', { message });
}

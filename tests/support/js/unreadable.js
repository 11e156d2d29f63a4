/** What nothing can be read of: a proxy of `target` that was revoked. */
export function unreadable(target = {}) {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
}

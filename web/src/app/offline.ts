/**
 * Has a service worker keep the page for when there is no network. Not in the single file, which is kept
 * already, nor while developing, when nothing should be; nor in a frame on somebody else's page, where
 * browsers would keep another copy for each of those.
 */
export function keepOffline(): void {
  if (import.meta.env.MODE !== 'production' || !('serviceWorker' in navigator)) return;
  if (window.top !== window) return;
  const register = () => {
    // Storage can be forbidden, and a server may lack the file: then the page needs its network.
    navigator.serviceWorker.register('service-worker.js').catch(() => undefined);
  };
  // Its downloads must not be in the way of the first view's.
  if (document.readyState === 'complete') register();
  else window.addEventListener('load', register, { once: true });
}

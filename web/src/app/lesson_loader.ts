import type { Desk } from '../features/lessons/page/lesson_controller';
import { readAddress } from '../features/lessons/page/lesson_address';
import type { App } from './app';

/** Marks the page before anything of it is seen, when a lesson is to come. */
export function expectLesson(): boolean {
  const expected = readAddress(location.search, location.hash) !== null;
  if (expected) document.documentElement.dataset['lesson'] = 'coming';
  return expected;
}

/** Opens the lesson that the address names, now and whenever it changes; its code is fetched with the first one. */
export function watchLessons(app: App): void {
  let desk: Desk | null = null;
  const wanted = () => readAddress(location.search, location.hash);
  const follow = async (focus: boolean) => {
    const address = wanted();
    if (!address && !desk) return;
    // Any other anchor of the page, such as that of the link that skips its head.
    if (!address && !/^(#v=.*)?$/.test(location.hash)) return;
    if (!desk) {
      const { Desk } = await import('../features/lessons/page/lesson_controller');
      desk ??= new Desk(app);
    }
    await desk.open(wanted(), { focus }); // the reader may have gone elsewhere while the code was on its way
  };
  const tryToFollow = (focus: boolean) => {
    follow(focus).catch((error: unknown) => {
      // Without a network, for instance, no lesson comes: the page that waits for it is shown instead.
      const { dataset } = document.documentElement;
      if (dataset['lesson'] === 'coming') delete dataset['lesson'];
      console.error(error);
    });
  };
  window.addEventListener('hashchange', () => tryToFollow(true));
  tryToFollow(false);
}

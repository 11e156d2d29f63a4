// Every control of every panel but those that take long, which operated_long.test.js has.
import { testsOfScenes } from '../support/operated_scenes.js';

testsOfScenes({ long: false });

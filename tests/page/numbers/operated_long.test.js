// @run full, or after changes in web/src/features/words web/src/features/block web/src/features/bounds web/src/features/learn web/src/features/extrapolation web/src/features/recurrence web/src/features/model web/src/features/microscope web/src/ui
// Every control of the panels that train, or have a model.
import { testsOfScenes } from '../support/operated_scenes.js';

testsOfScenes({ long: true });

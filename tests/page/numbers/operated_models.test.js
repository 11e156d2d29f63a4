// @run full, or after changes in web/src/features/model web/src/features/microscope web/src/ui tests/page/stories
// Every control of the panels with a trained model.
import { testsOfScenes } from '../support/operated_scenes.js';

testsOfScenes({ ofModels: true });

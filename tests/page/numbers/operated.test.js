// Every control of every panel but those with a trained model, which operated_models.test.js has.
import { testsOfScenes } from '../support/operated_scenes.js';

testsOfScenes({ ofModels: false });

import { init, type TrainQkv } from 'qkv/train';

/** The engine that can be trained with, for the workers of panels. The single file has another module in this one's place. */
export const trainEngine = (): Promise<TrainQkv> => init();

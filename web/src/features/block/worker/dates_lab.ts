import type { TrainQkv } from 'qkv/train';
import { describeFailure } from '../../../domain/describe_failure';
import type { LabFailed } from '../../../domain/failure';
import { Slices } from '../../../engine/slices';
import { SLICE } from '../shared/constants';
import type { FromDatesLab, ToDatesLab } from '../shared/protocol';
import { trainDates, type DateModel } from './date_model';

const reply = (message: FromDatesLab | LabFailed) => self.postMessage(message);
const failed = (error: unknown) => reply({ type: 'failed', failure: describeFailure(error) });

/** Trains one model at a time, and has the latest read. */
export function datesLab(engine: Promise<TrainQkv>): (message: ToDatesLab) => void {
  let job: Slices<number, DateModel> | undefined;
  let model: DateModel | undefined;
  const hear = (qkv: TrainQkv, message: ToDatesLab) => {
    if (message.type === 'read') {
      if (model) reply({ type: 'reading', reading: model.read(message.tokens) });
      return;
    }
    job?.end();
    model?.dispose();
    model = undefined;
    job = new Slices(trainDates(qkv, message.language), SLICE, {
      onSlice: (step) => reply({ type: 'training', step }),
      onDone: (done) => {
        model = done;
        reply({ type: 'trained', right: done.right });
      },
      onError: failed,
    });
    job.run();
  };
  return (message) => {
    engine.then((qkv) => hear(qkv, message)).catch(failed);
  };
}

// The small pictures of the chapters that have no panel for one. They are fetched together when the first comes near.
import './style.css';
import { BeforePicture } from './page/before';
import { BlockPicture } from './page/blocks';
import { CostPicture } from './page/cost';
import { HeadsPicture } from './page/heads';
import { MasksPicture } from './page/masks';
import { OrderPicture } from './page/order';
import { ScoresPicture } from './page/scores';
import { WordsPicture } from './page/words';

for (const [chapter, Picture] of Object.entries({
  before: BeforePicture,
  blocks: BlockPicture,
  cost: CostPicture,
  heads: HeadsPicture,
  masks: MasksPicture,
  order: OrderPicture,
  scores: ScoresPicture,
  words: WordsPicture,
})) {
  customElements.define(`qkv-picture-${chapter}`, Picture);
}

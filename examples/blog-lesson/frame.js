// Prints the frame that shows lesson.json in a post, and the link that opens it in a tab. The link is the whole lesson:
//
//   node frame.js [ADDRESS OF THE PAGE]
import { readFileSync } from 'node:fs';
import { deflateRawSync } from 'node:zlib';

const [, , page = '../../dist/web/'] = process.argv;
const lesson = JSON.parse(readFileSync(new URL('lesson.json', import.meta.url), 'utf8'));
const code = `z${deflateRawSync(JSON.stringify(lesson)).toString('base64url')}`;
const fragment = `#v=1&amp;lang=en&amp;L=${code}`;
const title = lesson.title.replaceAll('&', '&amp;').replaceAll('"', '&quot;');

// The frame is fetched when the reader comes near it. A frame of another origin may not copy links without being allowed to.
console.log(`<iframe
  src="${page}?embed=lesson${fragment}"
  title="${title}"
  width="100%"
  height="900"
  loading="lazy"
  allow="clipboard-write"
></iframe>
<a href="${page}${fragment}">Open the lesson in a tab</a>`);

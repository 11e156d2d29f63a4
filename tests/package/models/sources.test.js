// @build any
// Where bytes come from: memory, a Blob, a file, servers of every kind.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { open as openHandle, readdir } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { asIfOnPage } from '../../support/js/as-if-on-page.js';
import { expectRejects } from '../../support/js/check.js';
import { collect as collectGarbage } from '../../support/js/collect.js';
import { inTime, until } from '../../support/js/patience.js';
import { models } from './support/bundle.js';
import { collect } from './support/collect.js';
import { families } from './support/families.js';
import { ggufFile, safetensors } from './support/files.js';
import { ggufModels } from './support/gguf-models.js';
import { ownMetadata, ownModel } from './support/own.js';
import { serveFile } from './support/server.js';
import { expectModel } from './support/truth.js';

const { openModel } = models;
const { truth, tensors, config } = families.gpt2();
const bytes = safetensors(tensors);
const open = (weights, options) => openModel({ config, weights }, options);

const folder = mkdtempSync(join(tmpdir(), 'qkv-sources-'));
after(() => rmSync(folder, { recursive: true }));
const path = join(folder, 'model #1.safetensors');
writeFileSync(path, bytes);

describe('openModel: sources', () => {
  const padded = new Uint8Array(bytes.length + 5);
  padded.set(bytes, 3);
  const places = {
    'an ArrayBuffer': bytes.buffer,
    'a Uint8Array': bytes,
    'a Uint8Array inside a buffer': padded.subarray(3, 3 + bytes.length),
    'a Buffer': Buffer.from(bytes),
    'a Blob': new Blob([bytes.subarray(0, 100), bytes.subarray(100)]),
    'a File': new File([bytes], 'model.safetensors'),
    'a path': path,
    'a file: URL': pathToFileURL(path),
    'a file: URL as text': pathToFileURL(path).href,
  };
  for (const [name, place] of Object.entries(places)) {
    test(name, async () => {
      await expectModel(await open(place), truth);
      await expectModel(await open([place]), truth);
    });
  }

  describe('of several pieces', () => {
    const opener = new models.Opener();
    const large = Uint8Array.from(
      { length: 5 * 2 ** 19 + 7 },
      (_, i) => (i * 31 + (i >> 8) + (i >> 16) * 13) & 255,
    );
    const file = join(folder, 'large');
    writeFileSync(file, large);

    /** Without a reader that brings a buffer along, as engines of before 2023 have streams. */
    class OldBlob extends Blob {
      slice(...range) {
        return new OldBlob([super.slice(...range)]);
      }
      stream() {
        const reader = super.stream().getReader();
        const pull = async (controller) => {
          const { done, value } = await reader.read();
          if (done) controller.close();
          else controller.enqueue(value);
        };
        return new ReadableStream({ pull });
      }
    }

    const kinds = {
      'a path': file,
      'a Blob': new Blob([large]),
      'a Blob of an old engine': new OldBlob([large]),
    };
    for (const [name, place] of Object.entries(kinds)) {
      test(`${name}: on, back, over a gap, after a rest, and given up in the middle`, async () => {
        const source = await opener.open('weights', place);
        /** The bytes [begin, end), each piece as it is when it comes; no more than `most` pieces. */
        const read = async (begin, end, most = Infinity) => {
          let at = begin;
          for await (const piece of source.read(begin, end)) {
            await setTimeout(2); // in which what is read ahead comes
            assert.ok(piece.length > 0 && piece.length <= 2 ** 20);
            assert.ok(Buffer.compare(piece, large.subarray(at, at + piece.length)) === 0, `${at}`);
            at += piece.length;
            most -= 1;
            if (most === 0) return;
          }
          assert.equal(at, end === Infinity ? large.length : end);
        };
        await read(0, Infinity, 1);
        await read(100, 2 ** 20 + 5);
        await read(2 ** 20 + 5, 2 ** 21);
        await read(2 ** 21 + 64, large.length);
        await read(10, 20);
        source.rest();
        await read(20, Infinity);
        await read(2 ** 20 - 1, large.length, 1);
        await read(0, large.length);
        await expectRejects(read(5, large.length + 1), 'load', 'invalid_argument', 'ends at byte');
        source.close();
      });
    }
  });

  test('a path, also where a test runner or Deno has put the location of a page', async () => {
    await asIfOnPage(async () => expectModel(await open(path), truth));
    globalThis.location = undefined;
    try {
      await expectModel(await open(path), truth);
    } finally {
      delete globalThis.location;
    }
  });

  test('what was handed on has no bytes any more', async () => {
    for (const make of [() => bytes.slice(), () => bytes.slice().buffer]) {
      const place = make();
      structuredClone(place, { transfer: [place.buffer ?? place] });
      await expectRejects(open(place), 'load', 'invalid_argument', 'weights cannot be read');
    }
  });

  test('a blob: URL', async (t) => {
    const url = URL.createObjectURL(new Blob([bytes]));
    t.after(() => URL.revokeObjectURL(url));
    await expectModel(await open(url), truth);
  });

  test('a data: URL', async () => {
    await expectModel(await open(`data:;base64,${Buffer.from(bytes).toString('base64')}`), truth);
  });

  test('files are closed, whatever happens', async () => {
    const openFiles = async () => (await readdir('/proc/self/fd')).length;
    const before = await openFiles().catch(() => undefined);
    if (before === undefined) return;
    const opened = await open(path);
    assert.equal(await openFiles(), before + 1);
    opened.close();
    opened.close();
    await collect(await open(path));
    await open(path, { maxLength: 100 }).catch(() => undefined);
    const other = await open(path);
    await other
      .stream(() => {
        throw new Error('no');
      })
      .catch(() => undefined);
    // The handle is given back by a promise.
    await inTime(
      (async () => {
        while ((await openFiles()) !== before) await (await openHandle(path)).close();
      })(),
    );
  });

  test('a file that is not there', () =>
    expectRejects(open(join(folder, 'none')), 'load', 'load_failed', 'none', 'ENOENT'));
});

describe('openModel: servers', () => {
  for (const ranges of [true, false]) {
    for (const length of [true, false]) {
      for (const piece of [7, 1 << 16]) {
        const kind = `${ranges ? 'with' : 'without'} Range, ${length ? 'with' : 'without'} a length, pieces of ${piece}`;
        test(`a server ${kind}`, async (t) => {
          const file = piece === 7 ? ggufFile(...small()) : bytes;
          const { url, requests } = await serveFile(t, file, { ranges, length, piece });
          const opened = await open(url);
          await expectModel(opened, piece === 7 ? smallTruth : truth);
          // The start of the file is looked at before its format is known.
          assert.ok(requests.length <= 2, `${requests.length} requests`);
        });
      }
    }
  }
  const { truth: smallTruth, tensors: smallTensors, metadata } = ggufModels.gemma();
  const small = () => [metadata, smallTensors];

  test('what nothing is needed of is skipped where the server can', async (t) => {
    const mask = { shape: [1, 1, 1024, 1024], values: new Float32Array(2 ** 20) };
    const masks = { ...tensors, 'h.1.attn.bias': mask };
    const big = safetensors(masks);
    for (const ranges of [true, false]) {
      const { url, requests } = await serveFile(t, big, { ranges, piece: 1 << 16 });
      await expectModel(await open(url), truth);
      const begins = requests.map(({ range }) => Number(/^bytes=(\d+)-$/.exec(range)[1]));
      assert.equal(begins.length, ranges ? 2 : 1, `${begins}`);
      if (ranges) assert.ok(begins[1] > 2 ** 22, 'the first of them was skipped');
    }
  });

  test('scales behind what they are of take no second sending', async (t) => {
    const own = ownModel({ format: 'int8', vocabulary: 20_001 });
    const file = safetensors(own.tensors, ownMetadata({ vocabulary: 20_001 }));
    const { url, requests } = await serveFile(t, file, { ranges: false });
    await expectModel(await openModel({ weights: url }), own.truth);
    assert.equal(requests.length, 1);
  });

  test('answers that are no file', async (t) => {
    const missing = await serveFile(t, bytes, { ranges: false });
    const server = createServer((request, response) => {
      response.writeHead(404, { 'content-type': 'text/html' }).end('<!doctype html>');
    });
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.after(() => server.close());
    const url = `http://127.0.0.1:${server.address().port}/`;
    await expectRejects(open(url), 'load', 'load_failed', '404', 'text/html');
    await missing.close();
    await expectRejects(open(missing.url), 'load', 'load_failed', missing.url, 'ECONNREFUSED');
    const page = await serveFile(t, new TextEncoder().encode(`<!doctype html>${' '.repeat(99)}`));
    await expectRejects(open(page.url), 'load', 'invalid_argument', '<!doctyp', 'safetensors');
  });

  describe('a connection that breaks, of a server that sends from any place', () => {
    /** Pauses are over at once, and remembered; servers have timers of their own. */
    const known = [250, 500, 1000, 2000, 4000];
    const hurried = (t) => {
      const { setTimeout: later } = globalThis;
      const pauses = [];
      // In the middle of what chance does to them.
      t.mock.method(Math, 'random', () => 0.5);
      t.mock.method(globalThis, 'setTimeout', (call, ms, ...rest) => {
        const isPause = known.includes(ms);
        if (isPause) pauses.push(ms);
        return later(call, isPause ? 0 : ms, ...rest);
      });
      return pauses;
    };

    test('goes on where it broke: every byte is sent once', async (t) => {
      const pauses = hurried(t);
      const { url, requests } = await serveFile(t, bytes, { piece: 1 << 12, breaks: 1 << 15 });
      await expectModel(await open(url), truth);
      const begins = requests.map(({ range }) => Number(/^bytes=(\d+)-$/.exec(range)[1]));
      assert.ok(begins.length > 4, `${begins}`);
      begins.slice(1).forEach((begin, i) => assert.equal(begin, begins[i] + (1 << 15)));
      // Bytes have come each time, so that each pause is the first.
      assert.deepEqual(new Set(pauses), new Set([250]));
    });

    test('also where the file ends too early and nobody says that it broke', async (t) => {
      hurried(t);
      const { fetch } = globalThis;
      t.after(() => {
        globalThis.fetch = fetch;
      });
      const begins = [];
      globalThis.fetch = async (url, { headers: { Range } }) => {
        const from = Number(/^bytes=(\d+)-$/.exec(Range)[1]);
        begins.push(from);
        const told = { 'content-range': `bytes ${from}-${bytes.length - 1}/${bytes.length}` };
        return new Response(bytes.slice(from, from + 20_000), { status: 206, headers: told });
      };
      await expectModel(await open('http://short.test/model'), truth);
      assert.ok(begins.length > 4 && begins.every((begin, i) => begin === 20_000 * i), `${begins}`);
    });

    test('waits longer each time, and goes on after answers that pass', async (t) => {
      const pauses = hurried(t);
      const passing = { 1: 503, 2: 429, 3: 500 };
      const { url } = await serveFile(t, bytes, {
        breaks: (n) => (n === 0 ? 1 << 15 : Infinity),
        answer: (n) => passing[n],
      });
      await expectModel(await open(url), truth);
      assert.deepEqual(pauses, [250, 500, 1000, 2000]);
    });

    test('gives up after five requests for which no byte came', async (t) => {
      const pauses = hurried(t);
      const { url, requests } = await serveFile(t, bytes, {
        breaks: (n) => (n === 0 ? 1 << 15 : 0),
      });
      const opened = await open(url);
      await expectRejects(collect(opened), 'load', 'load_failed', 'broke off', `at byte ${1 << 15}`, '5 more requests for the rest failed'); // prettier-ignore
      assert.equal(requests.length, 6);
      assert.deepEqual(pauses, known);
    });

    test('and a server that has gone, or says that there is nothing any more', async (t) => {
      hurried(t);
      const gone = await serveFile(t, bytes, { breaks: (n) => (n === 0 ? 1 << 15 : Infinity), answer: (n) => n > 0 && 404 }); // prettier-ignore
      await expectRejects(collect(await open(gone.url)), 'load', 'load_failed', 'answered 404');
      assert.equal(gone.requests.length, 2);
      const closed = await serveFile(t, bytes, { breaks: 1 << 15 });
      const opened = await open(closed.url);
      await closed.close();
      await expectRejects(collect(opened), 'load', 'load_failed', '5 more requests', 'ECONNREFUSED'); // prettier-ignore
    });

    test('is another file after it by its ETag', async (t) => {
      hurried(t);
      const tagged = (tags) => ({ breaks: (n) => (n === 0 ? 1 << 15 : Infinity), headers: (n) => ({ etag: tags[n] }) }); // prettier-ignore
      const other = await serveFile(t, bytes, tagged(['"a"', '"b"']));
      await expectRejects(collect(await open(other.url)), 'load', 'load_failed', 'the ETag "a" and now "b"', 'the same file'); // prettier-ignore
      const same = await serveFile(t, bytes, tagged(['"a"', 'W/"a"']));
      await expectModel(await open(same.url), truth);
    });

    test('ends at once with its signal, also in a pause', async (t) => {
      const stop = new AbortController();
      const reason = new Error('enough');
      t.mock.method(Math, 'random', () => 0.5);
      const { setTimeout: later } = globalThis;
      t.mock.method(globalThis, 'setTimeout', (call, ms, ...rest) => {
        if (ms === 250) queueMicrotask(() => stop.abort(reason));
        return later(call, ms === 250 ? 1e9 : ms, ...rest);
      });
      const { url, requests } = await serveFile(t, bytes, { breaks: 1 << 15 });
      const opened = await open(url);
      const signal = { signal: stop.signal };
      await inTime(assert.rejects(collect(opened, signal), (error) => error === reason));
      assert.equal(requests.length, 1);
    });
  });

  test('a file that is shorter than its header says, where nobody told', async (t) => {
    const { url } = await serveFile(t, bytes.slice(0, -8), { ranges: false, length: false });
    const opened = await open(url);
    await expectRejects(
      collect(opened),
      'load',
      'invalid_argument',
      `ends at byte ${bytes.length - 8}`,
    );
  });

  test('another file the second time', async (t) => {
    const mask = { shape: [1, 1, 1024, 1024], values: new Float32Array(2 ** 20) };
    const big = safetensors({ ...tensors, 'h.0.attn.bias': mask });
    const server = await serveFile(t, big, { piece: 1 << 14 });
    const longer = await serveFile(t, new Uint8Array([...big, 0]));
    const { fetch } = globalThis;
    t.after(() => {
      globalThis.fetch = fetch;
    });
    let asked = 0;
    globalThis.fetch = (url, init) => fetch((asked += 1) > 1 ? longer.url : url, init);
    const opened = await open(server.url);
    await expectRejects(collect(opened), 'load', 'load_failed', 'the same file');
  });

  test('Range that is sent from elsewhere', async (t) => {
    const { url } = await serveFile(t, bytes, {
      headers: { 'content-range': `bytes 5-9/${bytes.length}` },
    });
    await expectRejects(open(url), 'load', 'load_failed', 'the bytes from 5 on');
  });
});

describe('openModel: shards', () => {
  const entries = Object.entries(tensors);
  const shards = Array.from({ length: 8 }, (_, s) =>
    safetensors(Object.fromEntries(entries.filter((_, i) => i % 8 === s))),
  );

  /** fetch() as a browser has it: a response holds its connection until it is read to its end or given up. */
  function browserFetch(t, { ranges, connections }) {
    const { fetch } = globalThis;
    t.after(() => {
      globalThis.fetch = fetch;
    });
    const seen = { most: 0, asked: 0 };
    const waiting = [];
    let open = 0;
    globalThis.fetch = async (url, { headers, signal }) => {
      const file = shards[Number(/(\d+)$/.exec(url)[1])];
      if (open === connections) await new Promise((resolve) => waiting.push(resolve));
      open += 1;
      seen.asked += 1;
      seen.most = Math.max(seen.most, open);
      let isOpen = true;
      const end = () => {
        if (isOpen) open -= 1;
        isOpen = false;
        waiting.shift()?.();
      };
      let at = ranges ? Number(/^bytes=(\d+)-$/.exec(headers.Range)[1]) : 0;
      const told = ranges && { 'content-range': `bytes ${at}-${file.length - 1}/${file.length}` };
      const body = new ReadableStream(
        {
          start(controller) {
            signal.addEventListener('abort', () => {
              if (isOpen) controller.error(signal.reason);
              end();
            });
          },
          pull(controller) {
            if (at < file.length) controller.enqueue(file.slice(at, (at += 1 << 10)));
            else {
              controller.close();
              end();
            }
          },
        },
        { highWaterMark: 0 },
      );
      const head = { 'content-length': String(file.length - at), ...told };
      return new Response(body, { status: ranges ? 206 : 200, headers: head });
    };
    return seen;
  }

  for (const ranges of [true, false]) {
    test(`of a server ${ranges ? 'with' : 'without'} Range: one response is open at a time`, async (t) => {
      const seen = browserFetch(t, { ranges, connections: 6 });
      const opened = await inTime(open(shards.map((_, i) => `http://shards.test/${i}`)));
      await inTime(expectModel(opened, truth));
      assert.deepEqual(seen, { most: 1, asked: 16 });
    });
  }

  test('of a disk: no room for pieces is kept of those that are not read', async () => {
    const mask = { shape: [1, 1, 512, 1024], values: new Float32Array(2 ** 19) };
    const paths = shards.map((_, s) => {
      const shard = join(folder, `shard-${s}`);
      const own = Object.fromEntries(entries.filter((_, i) => i % 8 === s));
      writeFileSync(shard, safetensors({ ...own, [`h.${s + 2}.attn.bias`]: mask }));
      return shard;
    });
    const bytesOf = () => {
      collectGarbage();
      return process.memoryUsage().arrayBuffers;
    };
    const before = bytesOf();
    const opened = await open(paths);
    // What is collected is given back a little later.
    const kept = () => bytesOf() - before;
    await until(
      () => kept() < 2 ** 20,
      () => `${kept()} bytes for ${paths.length} files`,
    );
    await expectModel(opened, truth);
  });
});

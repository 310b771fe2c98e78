import type { IncomingMessage, ServerResponse } from 'node:http';

import sharp from 'sharp';
import { describe, expect, it } from 'vitest';

import type { AttachedFile, OpenedFile } from '../../../src/core/message.ts';
import { createAttachments } from '../../../src/discord/attachments.ts';
import { aliceId, bobId } from '../../support/incoming.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';
import { startFileServer, type FileServer } from './file-server.ts';
import { noisyPicture, sampleBytes } from './samples.ts';

const kilobyte = 1024;
const megabyte = 1024 * kilobyte;

function fileAt(url: string, name: string, changes: Partial<AttachedFile> = {}): AttachedFile {
  return { name, url: `${url}/${name}`, size: 10, ...changes };
}

interface Opening {
  readonly server: FileServer;
  readonly logger: RecordingLogger;
  readonly open: (
    names: readonly string[],
    changes?: Partial<AttachedFile>,
    signal?: AbortSignal,
    userId?: string,
  ) => Promise<readonly OpenedFile[]>;
  readonly read: ReturnType<typeof createAttachments>['read'];
  /** Lets so many milliseconds pass for the limits of a minute. */
  readonly pass: (ms: number) => void;
}

/** Attachments over a server that answers as told. */
async function openingFrom(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  timeoutMs = 60_000,
): Promise<Opening> {
  const server = await startFileServer(answer);
  const logger = new RecordingLogger();
  let now = 0;
  const port = createAttachments({ cdnUrl: server.url, logger, timeoutMs, now: () => now });
  return {
    server,
    logger,
    read: port.read,
    pass: (ms) => (now += ms),
    open: (names, changes = {}, signal = new AbortController().signal, userId = aliceId) =>
      port.open(
        names.map((name) => fileAt(server.url, name, changes)),
        userId,
        signal,
      ),
  };
}

/** Attachments over a server that has these bytes under any name. */
function openingOf(bytes: Buffer): Promise<Opening> {
  return openingFrom((_, response) => response.end(bytes));
}

async function reasonFor(bytes: Buffer, changes: Partial<AttachedFile> = {}): Promise<string> {
  const { open } = await openingOf(bytes);
  const [file] = await open(['file.bin'], { size: bytes.length, ...changes });
  return file?.kind === 'unopened' ? file.reason : `opened as ${file?.kind}`;
}

describe('a file that is given to a command [K10]', () => {
  it('is downloaded unchanged from Discord’s own hosts, up to a limit and the announced size', async () => {
    const { read, server } = await openingOf(Buffer.from('PK and more'));
    const file = fileAt(server.url, 'a.zip', { size: 11 });
    expect(String(await read(file, aliceId, 11))).toBe('PK and more');
    expect(await read(file, aliceId, 10)).toBe('too-large');
    expect(await read({ ...file, size: 5 }, aliceId, 10)).toBe('unavailable');
    expect(await read({ ...file, url: 'http://127.0.0.1:1/a.zip' }, aliceId, 11)).toBe('unavailable');
  });
});

describe('an attached file', () => {
  it('is opened as what its bytes say, whatever its name says, in the order of the message [Q1]', async () => {
    const contents: Readonly<Record<string, Buffer>> = {
      'notes.png': Buffer.from('\ufeffplain words'),
      'cat.txt': sampleBytes.png,
      'paper.exe': sampleBytes.pdf,
    };
    const { open, server } = await openingFrom((request, response) =>
      setTimeout(
        () => response.end(contents[(request.url ?? '').slice(1)]),
        request.url === '/cat.txt' ? 30 : 0,
      ),
    );
    expect(await open(Object.keys(contents), { size: 1000 })).toEqual([
      { kind: 'text', name: 'notes.png', text: 'plain words' },
      { kind: 'image', name: 'cat.txt', mediaType: 'image/png', data: sampleBytes.png.toString('base64') },
      { kind: 'document', name: 'paper.exe', data: sampleBytes.pdf.toString('base64') },
    ]);
    expect(server.requests).toHaveLength(3);
    for (const { headers } of server.requests) {
      expect(headers.authorization).toBeUndefined();
      expect(headers.cookie).toBeUndefined();
    }
  });

  it.each([
    ['a program', sampleBytes.exe, {}, 'not a picture, a PDF or a text file'],
    ['an empty file', Buffer.alloc(0), {}, 'empty'],
    ['a text of 101 KB', Buffer.alloc(101 * kilobyte, 'x'), {}, 'over 100 KB'],
    ['a picture of 21 MB', sampleBytes.png, { size: 21 * megabyte }, 'over 20 MB'],
    [
      'half a picture that is too large',
      sampleBytes.png.subarray(0, 40),
      { pixels: 9000 },
      'a large picture that is damaged or cannot be read',
    ],
    ['a PDF of 6 MB', sampleBytes.pdf, { size: 6 * megabyte }, 'over 5 MB'],
    ['more bytes than announced', Buffer.alloc(50, 'x'), { size: 49 }, 'longer than announced'],
  ])('is named but not opened: %s', async (_, bytes, changes, reason) => {
    expect(await reasonFor(bytes, changes)).toBe(reason);
  });

  it('is made smaller where it is a picture that is too large for the model', async () => {
    const photo = await noisyPicture(2400, 800);
    const { open } = await openingOf(photo);
    const [file] = await open(['photo.png'], { size: photo.length });
    expect(file).toMatchObject({ kind: 'image', name: 'photo.png', mediaType: 'image/webp' });
    const data = Buffer.from(file?.kind === 'image' ? file.data : '', 'base64');
    expect(data.length).toBeLessThan(2 * megabyte);
    expect(await sharp(data).metadata()).toMatchObject({ width: 1568, height: 523 });
  });

  it('is not read on past its announced length, whatever the answer’s length says', async () => {
    const { open, server, logger } = await openingFrom((_, response) => {
      response.writeHead(200);
      const more = setInterval(() => response.write('x'.repeat(1000)), 1);
      response.once('close', () => clearInterval(more));
    });
    const [file] = await open(['endless.txt'], { size: 5000 });
    expect(file).toMatchObject({ kind: 'unopened', reason: 'longer than announced' });
    await expect.poll(() => server.brokenOff).toEqual(['/endless.txt']);
    expect(logger.warnings).toEqual(['an attached file could not be fetched']);
  });

  it('is not fetched from anywhere else, and not by way of a redirect', async () => {
    const elsewhere = await startFileServer((_, response) => response.end('secret'));
    const { open, logger } = await openingFrom((_, response) =>
      response.writeHead(302, { location: `${elsewhere.url}/secret.txt` }).end(),
    );
    expect(await open(['notes.txt'], { url: `${elsewhere.url}/notes.txt` })).toMatchObject([
      { kind: 'unopened', reason: 'not kept by Discord' },
    ]);
    expect(await open(['notes.txt'])).toMatchObject([
      { kind: 'unopened', reason: 'it could not be fetched' },
    ]);
    expect(elsewhere.requests).toEqual([]);
    expect(logger.lines.map(({ data }) => data)).toEqual([{ index: 0 }, { index: 0, failure: 'redirect' }]);
  });

  it.each([
    ['refuses', 'status', 60_000, (response: ServerResponse) => response.writeHead(404).end('gone')],
    ['never answers', 'timeout', 150, () => {}],
    [
      'stops in the middle',
      'timeout',
      150,
      (response: ServerResponse) => response.write('first words, many of them'),
    ],
    [
      'hangs up in the middle',
      'broken',
      60_000,
      (response: ServerResponse) => response.write('first words, many of them', () => response.destroy()),
    ],
  ])('is named, and the log told, where the server %s', async (_, failure, timeoutMs, answer) => {
    const { open, logger } = await openingFrom((_request, response) => answer(response), timeoutMs);
    expect(await open(['notes.txt'], { size: 1000 })).toEqual([
      { kind: 'unopened', name: 'notes.txt', reason: 'it could not be fetched' },
    ]);
    expect(logger.lines).toEqual([
      { level: 'warn', event: 'an attached file could not be fetched', data: { index: 0, failure } },
    ]);
  });

  it('does not hold up others if it never arrives', async () => {
    const { open } = await openingFrom((request, response) => {
      if (request.url === '/never.txt') return;
      response.write('first words, many of them, ');
      setTimeout(() => response.end('and the rest'), 50);
    }, 1_500);
    expect(await open(['quick.txt', 'never.txt'], { size: 1000 })).toMatchObject([
      { kind: 'text', text: 'first words, many of them, and the rest' },
      { kind: 'unopened', reason: 'it could not be fetched' },
    ]);
  });
});

describe('the files of a turn [Q1]', () => {
  it('are ten at most', async () => {
    const { open, server } = await openingOf(Buffer.from('hello'));
    const files = await open(Array.from({ length: 11 }, (_, index) => `${index}.txt`));
    expect(files.map(({ kind }) => kind)).toEqual([...Array<string>(10).fill('text'), 'unopened']);
    expect(files[10]).toMatchObject({ reason: 'only 10 files are opened at once' });
    expect(server.requests).toHaveLength(10);
  });

  it('are 5 MB of documents and pictures at most, the first ones first [L1][L4]', async () => {
    const { open } = await openingOf(sampleBytes.pdf);
    const files = await open(['a.pdf', 'b.pdf', 'c.pdf'], { size: 2 * megabyte });
    expect(files).toMatchObject([
      { kind: 'document' },
      { kind: 'document' },
      { kind: 'unopened', reason: 'over 5 MB together', isOverLimit: true },
    ]);
  });

  it('are 15 MB of documents and pictures of one person within a minute, in however many turns [L1]', async () => {
    const { open, pass } = await openingOf(sampleBytes.pdf);
    const kinds = async (userId: string) => {
      const signal = new AbortController().signal;
      return (await open(['a.pdf'], { size: 5 * megabyte }, signal, userId)).map((file) =>
        file.kind === 'unopened' ? file.reason : file.kind,
      );
    };
    for (let turn = 1; turn <= 3; turn += 1) {
      expect(await kinds(aliceId)).toEqual(['document']);
      pass(10_000);
    }
    expect(await kinds(aliceId)).toEqual(['over 15 MB within a minute']);
    expect(await kinds(bobId)).toEqual(['document']);
    pass(30_000);
    expect(await kinds(aliceId)).toEqual(['document']);
  });
});

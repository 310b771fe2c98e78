import { createHash } from 'node:crypto';

import { imageSize } from 'image-size';

import type { Attachment } from './entities.ts';
import { messagesOf } from './messages.ts';
import type { World } from './world.ts';

/** So many files a message takes, and so many bytes each of them has at most. */
export const maxFiles = 10;
export const maxFileBytes = 10 * 1024 * 1024;

/** What Discord takes a file for by the end of its name; like Discord, it mistakes TypeScript for a video. */
const contentTypes: Readonly<Record<string, string>> = {
  csv: 'text/csv; charset=utf-8',
  gif: 'image/gif',
  html: 'text/html; charset=utf-8',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json; charset=utf-8',
  md: 'text/markdown; charset=utf-8',
  mp3: 'audio/mpeg',
  mp4: 'video/mp4',
  ogg: 'audio/ogg',
  pdf: 'application/pdf',
  png: 'image/png',
  py: 'text/x-python; charset=utf-8',
  ts: 'video/mp2t',
  txt: 'text/plain; charset=utf-8',
  webp: 'image/webp',
  zip: 'application/zip',
};

/** The type that a file without one gets by its name, or none. */
export function contentTypeOf(name: string): string | undefined {
  return contentTypes[/\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? ''];
}

/** The kinds of images whose size Discord tells. */
const sizedImages: ReadonlySet<string | undefined> = new Set(['gif', 'jpg', 'png', 'webp']);

/** The size in pixels of a PNG, GIF, JPEG or WebP; `undefined` for anything else. */
export function imageDimensions(
  bytes: Buffer,
): { readonly width: number; readonly height: number } | undefined {
  try {
    // A copy, because the library reads past the end of a buffer that shares its memory with others.
    const { type, width, height } = imageSize(new Uint8Array(bytes));
    return sizedImages.has(type) && width > 0 && height > 0 ? { width, height } : undefined;
  } catch {
    return undefined;
  }
}

/** An attachment of a message or a command in this channel, or `undefined`. */
export function findAttachment(
  world: World,
  channelId: string,
  attachmentId: string,
): Attachment | undefined {
  const given = [...world.interactions.values()].flatMap(({ channelId: at, request }) =>
    at === channelId && 'attachments' in request ? [request] : [],
  );
  return [
    ...messagesOf(world, channelId),
    ...[...world.ephemerals.values()].filter((message) => message.channelId === channelId),
    ...given,
  ]
    .flatMap(({ attachments = [] }) => attachments)
    .find(({ id }) => id === attachmentId);
}

/** How long the address of a file is good, in milliseconds. */
const lifetime = 24 * 3_600_000;

/** The address of a file as messages carry it: good for a day, and only with its whole query. */
export function signedUrl(cdnUrl: string, path: string, now: Date): string {
  const expires = hexSeconds(now.getTime() + lifetime);
  return `${cdnUrl}${path}?ex=${expires}&is=${hexSeconds(now.getTime())}&hm=${signature(path, expires)}&`;
}

/** Whether the query of an address belongs to its path and is still good. */
export function isSigned(path: string, query: URLSearchParams, now: Date): boolean {
  const expires = query.get('ex') ?? '';
  return query.get('hm') === signature(path, expires) && Number.parseInt(expires, 16) * 1000 > now.getTime();
}

function signature(path: string, expires: string): string {
  return createHash('sha256').update(`${path} ${expires}`).digest('hex');
}

function hexSeconds(milliseconds: number): string {
  return Math.floor(milliseconds / 1000).toString(16);
}

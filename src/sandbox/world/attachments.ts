import type { Attachment } from './entities.ts';
import { messagesOf } from './messages.ts';
import { SandboxError, type World } from './world.ts';

/** So many bytes a file has at most. */
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

/** The size in pixels of a PNG, which stands in its first bytes; the sandbox tells no other picture's. */
export function pngSize(bytes: Buffer): { readonly width: number; readonly height: number } | undefined {
  const isPng = bytes.length >= 24 && bytes.toString('latin1', 1, 4) === 'PNG';
  return isPng ? { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) } : undefined;
}

/** An attachment of a message or a command in this channel, or `undefined`. */
export function findAttachment(
  world: World,
  channelId: string,
  attachmentId: string,
): Attachment | undefined {
  const uploads = [...world.interactions.values()].flatMap(({ channelId: at, request }) =>
    at === channelId && 'attachments' in request ? [request] : [],
  );
  return [
    ...messagesOf(world, channelId),
    ...[...world.ephemerals.values()].filter((message) => message.channelId === channelId),
    ...uploads,
  ]
    .flatMap(({ attachments = [] }) => attachments)
    .find(({ id }) => id === attachmentId);
}

/** A file that a person drops. */
export interface Upload {
  readonly name: string;
  /** What its name stands for if not said. */
  readonly contentType?: string;
  readonly text?: string;
  readonly base64?: string;
  /** Makes it a recording of so many seconds, and its message a voice message. */
  readonly seconds?: number;
}

/** A file as it lies with Discord from now on. @throws {SandboxError} for one that is too large. */
export function uploaded(world: World, { name, contentType, text, base64, seconds }: Upload): Attachment {
  const bytes = base64 === undefined ? Buffer.from(text ?? '') : Buffer.from(base64, 'base64');
  if (bytes.length > maxFileBytes)
    throw new SandboxError(`${name} has ${bytes.length} bytes, more than the ${maxFileBytes} of Discord`);
  return { id: world.nextId(), name, contentType: contentType ?? contentTypeOf(name), bytes, seconds };
}

/** Where a file of a channel is served. */
export function attachmentUrl(channelId: string, { id, name }: Attachment): string {
  return `/attachments/${channelId}/${id}/${encodeURIComponent(name)}`;
}

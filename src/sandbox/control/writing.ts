import { contentTypeOf, maxFileBytes } from '../world/attachments.ts';
import type { Attachment, Channel, User } from '../world/entities.ts';
import { linkMentions } from '../world/mentions.ts';
import type { World } from '../world/world.ts';
import { requirePermission } from './rights.ts';
import { SandboxError } from './sandbox-error.ts';

/** Discord's limit for people with Nitro, in UTF-16 units. */
const maxPersonMessageLength = 4_000;

/** What a person types, and the files that they drop. */
export interface Writing {
  readonly text: string;
  readonly mentionBot: boolean;
  readonly attachments: readonly DroppedFile[];
}

interface DroppedFile {
  readonly name: string;
  readonly contentType?: string | undefined;
  readonly text?: string | undefined;
  readonly base64?: string | undefined;
  readonly pretended?: { readonly url?: string | undefined; readonly bytes?: number | undefined } | undefined;
}

/** A person's message as it is posted. @throws {SandboxError} where Discord would not take it. */
export function written(
  world: World,
  channel: Channel,
  author: User,
  input: Writing,
): { readonly text: string; readonly attachments: readonly Attachment[] } {
  const mention = input.mentionBot ? `<@${world.botId}> ` : '';
  const text = linkMentions(mention + input.text, world.users.values()).trim();
  if (input.attachments.length > 0) requirePermission(world, channel, author, 'AttachFiles');
  if (text === '' && input.attachments.length === 0)
    throw new SandboxError('A message needs a text or an attachment');
  requireLength(text);
  return { text, attachments: input.attachments.map((file) => uploaded(world, file)) };
}

/** @throws {SandboxError} for a text that is too long for a person. */
export function requireLength(text: string): void {
  if (text.length <= maxPersonMessageLength) return;
  throw new SandboxError(
    `A message has at most ${maxPersonMessageLength} characters, this one has ${text.length}`,
  );
}

function uploaded(world: World, file: DroppedFile): Attachment {
  const bytes = file.base64 === undefined ? Buffer.from(file.text ?? '') : Buffer.from(file.base64, 'base64');
  if (bytes.length > maxFileBytes) {
    throw new SandboxError(
      `${file.name} has ${bytes.length} bytes, more than the ${maxFileBytes} of Discord`,
    );
  }
  return {
    id: world.nextId(),
    name: file.name,
    contentType: file.contentType ?? contentTypeOf(file.name),
    bytes,
    ...(file.pretended === undefined ? {} : { pretended: file.pretended }),
  };
}

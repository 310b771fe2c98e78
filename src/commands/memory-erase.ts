import type { CommandContext, CommandReply } from '../core/commands.ts';
import type { Holdings } from '../memory/holdings.ts';
import { counted } from './answer-lines.ts';
import type { PendingImports } from './memory-import.ts';
import type { MemoryCommandPorts } from './memory-ports.ts';
import type { PendingPurges } from './memory-purge.ts';
import type { Pending } from './pending.ts';

/** What was to be erased, as its person was told. */
export type PendingErasings = Pending<Holdings>;

/** Names what an erasing would take, with the button that does it [K11]; nothing is erased yet. */
export async function askToErase(
  { speaker }: CommandContext,
  { holdings }: Pick<MemoryCommandPorts, 'holdings'>,
  pending: PendingErasings,
): Promise<CommandReply> {
  const held = await holdings(speaker.id);
  const line = `memory erase-confirmed ${pending.add(speaker.id, held)}`;
  return {
    text: [
      `This erases everything that I hold about you: ${listed(held)}, and your settings. It cannot be undone; \`!memory export\` sends you a copy first.`,
      'What is on Discord stays there; only you can delete your messages. I will never again use anything said before now.',
      `-# Nothing is erased yet. Without buttons: \`!${line}\`, within 10 minutes.`,
    ].join('\n'),
    buttons: [{ label: 'Erase everything', line, isDanger: true }, { label: 'Keep it' }],
  };
}

function listed({ items, messages, notes, servers }: Holdings): string {
  const parts = [
    counted(items, 'item'),
    `${counted(messages, 'message')} (including my answers)`,
    counted(notes, 'note'),
  ];
  return `${parts.join(', ')}, from our direct messages and ${counted(servers, 'server')}`;
}

/** Erases everything that is held about the asker, if they were shown what that is. */
export async function eraseEverything(
  { speaker, place, at }: CommandContext,
  token: string,
  { erase }: Pick<MemoryCommandPorts, 'erase'>,
  pending: {
    readonly erasings: PendingErasings;
    readonly purges: Pick<PendingPurges, 'drop'>;
    readonly imports: Pick<PendingImports, 'drop'>;
  },
): Promise<CommandReply> {
  const held = pending.erasings.take(speaker.id, token);
  if (held === undefined)
    return {
      text: "That has expired, or isn't yours. Please say `!memory erase` again. Nothing was erased.",
    };
  for (const waiting of [pending.erasings, pending.purges, pending.imports]) waiting.drop(speaker.id);
  const { isDone } = await erase(speaker.id, at);
  const isDm = place.audience === 'dm';
  const lines = [
    isDone
      ? `Erased: everything that I held about you, ${listed(held)}, and your settings. It cannot be undone.`
      : 'I could not erase all of it yet, because of a disk error. I will finish when I start again; please tell the person who runs me.',
    'Only the time of this stays, so that I never use older messages again.',
    ...(speaker.isOwner
      ? ['Your notes in the `workspace` folder are your own files: I left them alone.']
      : []),
    isDm
      ? 'My own messages are still here on Discord. Shall I delete them?'
      : '`!memory erase-dm` in our DM deletes my own messages there.',
  ];
  return {
    text: lines.join('\n'),
    buttons: isDm
      ? [{ label: 'Delete my messages here', line: 'memory erase-dm', isDanger: true }, { label: 'No' }]
      : [],
  };
}

/** Deletes the bot's own messages in the asker's DM. */
export async function eraseOwnMessages(
  { id, place }: CommandContext,
  { deleteOwnMessages }: Pick<MemoryCommandPorts, 'deleteOwnMessages'>,
): Promise<CommandReply> {
  if (place.audience !== 'dm') return { text: 'I do that in our DM only: say `!memory erase-dm` there.' };
  const { deleted, isAll } = await deleteOwnMessages(place.channelId, id);
  return {
    text: `Deleted ${counted(deleted, 'message')} of mine here.${isAll ? '' : ' There are more: say `!memory erase-dm` for the next ones.'}`,
  };
}

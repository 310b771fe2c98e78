import type { CommandReply, ShownConversation } from '../core/commands.ts';
import type { Place } from '../core/place.ts';
import { dataLine } from '../core/section.ts';
import { clip, toSingleLine } from '../core/text.ts';
import { discordLink } from '../core/snowflake.ts';
import { parseNote } from '../memory/log/kept-summary.ts';
import { counted, linesOf, quoted, withoutFences } from './answer-lines.ts';
import type { MemoryCall } from './memory-ports.ts';

/** Of each summary in the list. */
const listedMaxChars = 200;

/** Lists the asker's conversations with their summaries, or tells all that was noted of one [K3]. */
export async function showConversations(call: MemoryCall, id: string | undefined): Promise<CommandReply> {
  const conversations = await conversationsOf(call, id);
  const data = { kind: 'conversations', conversations } as const;
  const [first] = conversations;
  if (id !== undefined) return { text: first === undefined ? noConversation(id) : wholeText(first), data };
  if (first === undefined) return { text: 'We have had no conversation yet.', data };
  return {
    text: linesOf(
      `${counted(conversations.length, 'conversation')}:`,
      conversations.map(listed),
      '-# `!memory conversations <id>` shows all of one, `!memory reset rolling <id>` clears its summary.',
    ),
    data,
  };
}

function listed({ title, channelId, summary }: ShownConversation): string {
  const summaryText = summary === undefined ? 'no summary' : withoutFences(toSingleLine(summary));
  return `- **${dataLine(title)}** · id ${channelId}: ${clip(summaryText, listedMaxChars)}`;
}

function wholeText({ title, link, summary, files, channelId }: ShownConversation): string {
  return linesOf(
    `**${dataLine(title)}** · <${link}>`,
    `Summary: ${withoutFences(summary ?? 'none')}`,
    files.map(({ path, text }) => `\`${path}\`: ${withoutFences(text.trim())}`),
    `-# \`!memory reset rolling ${channelId}\` clears the summary.`,
  );
}

/** Clears the summary of this conversation, or of another one of the asker's [R4]. */
export async function resetRolling(
  { speaker, work, memory }: MemoryCall,
  id?: string,
): Promise<CommandReply> {
  if (
    id !== undefined &&
    !(await memory.sessionLog.sessionsOfPerson(speaker.id)).some(({ channelId }) => channelId === id)
  )
    return { text: noConversation(id) };
  await memory.rolling.reset({ ...work, channelId: id ?? work.channelId });
  return { text: `Rolling summary of ${id === undefined ? 'this' : 'that'} conversation cleared.` };
}

function noConversation(id: string): string {
  return `We have had no conversation with the id ${quoted(id)}; \`!memory conversations\` lists them.`;
}

/** By title; one alone has its files. */
async function conversationsOf(call: MemoryCall, only?: string): Promise<readonly ShownConversation[]> {
  const { speaker, memory } = call;
  const gone = await memory.goneChannels();
  const sessions = await memory.sessionLog.sessionsOfPerson(speaker.id);
  const found = sessions
    .map(({ channelId }) => channelId)
    .filter((id) => !gone.has(id) && (only === undefined || only === id))
    .map(describe);
  return (await Promise.all(found)).toSorted((a, b) => (a.title < b.title ? -1 : 1));

  async function describe(channelId: string): Promise<ShownConversation> {
    const session = { channelId, userId: speaker.id };
    const { place } = await memory.states.read(session);
    return {
      channelId,
      title: titleOf(place, call),
      link: discordLink({ guildId: place?.guildId, channelId }),
      summary: await memory.rolling.show(session, call.view, speaker.id),
      files: only === undefined ? [] : await filesOf(call, channelId),
    };
  }
}

function titleOf(place: Place | undefined, { discord }: MemoryCall): string {
  if (place === undefined) return 'A conversation';
  if (place.guildId === undefined) return 'Our direct messages';
  const channel = place.channelName === undefined ? 'A channel' : `#${place.channelName}`;
  const thread = place.parentName === undefined ? '' : ` in #${place.parentName}`;
  return `${channel}${thread}, ${discord.titleOf(place.guildId)}`;
}

/** The notes on a conversation [W1], and what its summary was before [R3]. */
async function filesOf(
  { speaker, view, at, memory }: MemoryCall,
  channelId: string,
): Promise<ShownConversation['files']> {
  const context = { speaker, place: { ...view, channelId }, now: new Date(at) };
  const files = await memory.notebook.list(context, ['overview.md', 'detail']);
  const read = files.map(async ({ file: { path } }) => {
    const opened = await memory.notebook.open(path, context);
    if (opened.outcome === 'refused' || opened.content === undefined) return [];
    const { content: text } = opened;
    return [{ path, text: parseNote(text)?.text ?? text }];
  });
  return (await Promise.all(read)).flat();
}

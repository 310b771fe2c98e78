import type { CommandButton } from '../core/chat.ts';
import type { CommandReply } from '../core/commands.ts';
import { hasSecret } from '../core/secrets.ts';
import { dataLine } from '../core/section.ts';
import { toSingleLine } from '../core/text.ts';
import { isNotable, noteMaxChars, noteText } from '../memory/channel/document.ts';
import { counted, linesOf, linkTo, quoted, shownDay, withoutFences } from './answer-lines.ts';
import { refusalToStore } from './memory-control.ts';
import type { MemoryCall } from './memory-ports.ts';

/** Notes that have a button of their own. */
const mostButtons = 20;

const noChannel = 'Channel notes belong to the channels of a server: say it in the channel that it is for.';
const isOff =
  'Channel memory is off here: I note nothing that people say to each other, and use no notes. Who manages this server can switch it on with `!settings channel-memory on`.';

/** Keeps a sentence as a note of the channel [B1]: said there, for all who read along to see. */
export async function noteInChannel(call: MemoryCall, written: string): Promise<CommandReply> {
  const { id: messageId, at, speaker, place, ephemeral, ports } = call;
  const { guildId, channelId } = place;
  if (guildId === undefined) return { text: noChannel };
  if ((await ports.channelNotes.since(place)) === undefined) return { text: isOff };
  const refusal = await refusalToStore(call);
  if (refusal !== undefined) return refusal;
  if ((await ports.people.mode(speaker.id)) === 'off')
    return { text: 'Your mode is `off`, so I note nothing that you say. `!memory mode auto` changes that.' };
  if (hasSecret(written)) return { text: 'That looks like a secret, so I did not note it.' };
  const text = noteText(written);
  if (!isNotable(text))
    return {
      text: `Nothing was noted: a note is one sentence of your own, of at most ${noteMaxChars} characters.`,
    };
  const note = await ports.channelNotes.keep(
    { guildId, channelId },
    { authorId: speaker.id, author: toSingleLine(speaker.name), text, messageId, at },
    async () => (await refusalToStore(call)) === undefined,
  );
  if (note === undefined) return { text: 'Nothing was noted: your message is gone.' };
  const noted = `📝 Noted for this channel, with your name: ${quoted(note.text)} · id ${note.id}`;
  const byCommand = `\`!memory forget ${note.id}\``;
  if (!ephemeral)
    return { text: `${noted}\n-# It goes when you delete or edit your message, or with ${byCommand}.` };
  return {
    text: `${noted}\n-# It goes with ${byCommand}. Who reads along is told.`,
    announcement: `📝 ${dataLine(speaker.name)} noted for this channel: ${quoted(note.text)}`,
  };
}

/** Lists a channel's notes, or removes one: by its author, or who may delete messages there [B3]. */
export async function channelMemory(
  { place, speaker, ports }: MemoryCall,
  { action, id = '' }: { readonly action?: 'remove' | undefined; readonly id?: string | undefined },
): Promise<CommandReply> {
  const { guildId, channelId } = place;
  if (guildId === undefined) return { text: noChannel };
  const notes = await ports.channelNotes.list(place);
  const mayModerate = await ports.personMay('moderate', channelId, speaker.id);
  const removable = notes.filter(({ authorId }) => mayModerate || authorId === speaker.id);
  if (action !== undefined || id !== '') {
    const note = notes.find((each) => each.id === id);
    if (note === undefined)
      return { text: `There is no note ${quoted(id)} here; \`!memory channel\` lists them with their ids.` };
    if (!removable.includes(note))
      return { text: 'Only its author, or somebody who may delete messages here, can remove a note.' };
    await ports.channelNotes.remove(note.authorId, note.channelId, note.id);
    return { text: `Removed for good: the note ${note.id} of ${dataLine(note.author)}.` };
  }
  const isOn = (await ports.channelNotes.since(place)) !== undefined;
  return {
    text: linesOf(
      isOn
        ? `Channel memory is on here: I note what is decided, agreed or asked, with who said it, at most 3 sentences a talk. ${counted(notes.length, 'note')}:`
        : `${isOff}${notes.length === 0 ? '' : ` ${counted(notes.length, 'note')} from before:`}`,
      notes.map((note) =>
        withoutFences(
          `- ${shownDay(new Date(note.at))}, ${dataLine(note.author)}: ${quoted(note.text)} · ${linkTo({ ...note, guildId })} · id ${note.id}`,
        ),
      ),
    ),
    buttons: removable.slice(0, mostButtons).map((note): CommandButton => ({
      label: `Remove: ${toSingleLine(note.text)}`,
      line: `memory channel remove ${note.id}`,
      takes: 'itself',
    })),
  };
}

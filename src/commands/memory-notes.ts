import { createHash } from 'node:crypto';

import {
  type CommandReply,
  type ShownConversation,
  buttonLineMaxChars,
  formTextMaxChars,
  type CommandForm,
} from '../core/commands.ts';
import type { Place } from '../core/place.ts';
import { dataLine } from '../core/section.ts';
import { discordLink } from '../core/snowflake.ts';
import { clip, toSingleLine, shownText, withoutInvisible } from '../core/text.ts';
import { parseNote } from '../memory/log/kept-summary.ts';
import { fileMaxBytes, type FileEdit } from '../memory/notebook/files.ts';
import { formatWritten } from '../memory/notebook/format.ts';
import { isOfSession, refused } from '../memory/notebook/tree.ts';
import { undoButton } from '../memory/undo.ts';
import { counted, linesOf, quoted, withoutFences, present, shownLine } from './answer-lines.ts';
import { refusalToStore } from './memory-control.ts';
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
      conversations.map(listedConversation),
      '-# `!memory conversations <id>` shows all of one, `!memory reset rolling <id>` clears its summary.',
    ),
    data,
  };
}

function listedConversation({ title, channelId, summary }: ShownConversation): string {
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

const parts = ['USER.md', 'MEMORY.md', 'facts', 'episodes', 'topics', 'daily'] as const;
/** Of a file in an answer. */
const shownMaxChars = 6000;
/** Lists the asker's notebook, or shows one file, which need not exist, with a form to edit it [N9]. */
export async function showNotebook(call: MemoryCall, path: string | undefined): Promise<CommandReply> {
  if (path === undefined) return listNotebook(call);
  const file = await readFile(call, path);
  if (file.outcome === 'refused') return { text: file.reason };
  const form = formOf(path, file.text, file.text);
  const { length } = file.text;
  return {
    text: linesOf(
      `\`${path}\`:`,
      file.text.trim() === '' ? 'Nothing yet.' : shownText(clip(file.text.trim(), shownMaxChars)),
      length > shownMaxChars && `-# That is the beginning; it has ${length} characters.`,
      length > formTextMaxChars && '-# It is too long for a form here: `!memory page` edits it.',
    ),
    buttons: present(
      length <= formTextMaxChars &&
        form.line.length <= buttonLineMaxChars && {
          label: 'Edit',
          line: `memory notebook ${path}`,
          takes: 'nothing' as const,
          opensForm: true as const,
        },
    ),
    form,
  };
}

async function listNotebook(call: MemoryCall): Promise<CommandReply> {
  const listed = await call.memory.notebook.list(contextOf(call), parts);
  const found = listed.map(({ file: { path }, bytes, summary }) => ({ path, bytes, summary }));
  // These two are in every prompt of the DM, and can be begun by hand.
  const missing = parts.slice(0, 2).filter((path) => !found.some((file) => file.path === path));
  const files = [...missing.map((path) => ({ path, bytes: 0, summary: '' })), ...found];
  return {
    text: linesOf(
      'Your notebook, which I keep for our DM:',
      files.map(
        ({ path, bytes, summary }) =>
          `- \`${path}\` (${counted(bytes, 'byte')})${summary === '' ? '' : `: ${shownLine(summary)}`}`,
      ),
      '-# `!memory notebook <file>` shows one, with a button to edit it.',
    ),
    data: { kind: 'notebook', files },
  };
}

/** Puts a text in place of a file's, unless that changed since the form with this tag was made [N9]. */
export async function writeNotebook(
  call: MemoryCall,
  tag: string,
  path: string,
  text = '',
): Promise<CommandReply> {
  const file = await readFile(call, path);
  if (file.outcome === 'refused') return { text: file.reason };
  const edit: FileEdit = (stored, of) =>
    tagOf(stored?.text ?? '') === tag
      ? formatWritten(of, withoutInvisible(text), { today: call.today })
      : refused(`${path} was changed since you opened it, so nothing was written.`);
  const reason = (await refusalToStore(call))?.text;
  const turn = { ...contextOf(call), messages: [], work: call.work, hasThirdPartyText: false };
  const written =
    reason === undefined ? await call.memory.notebook.change(path, turn, edit, true) : refused(reason);
  if (written.outcome === 'refused') {
    const again = 'What you wrote is below; saving it replaces what the file says now.';
    return {
      text: linesOf(written.reason, 'You wrote:', shownText(text)),
      form: { ...formOf(path, file.text, text), reason: `${written.reason} ${again}` },
    };
  }
  return {
    text: linesOf(
      `Saved \`${path}\`: ${counted(written.bytes, 'byte')}.`,
      written.isMasked && 'What looks like a secret was left out.',
    ),
    buttons: undoButton(written.undoId),
  };
}

function contextOf({ speaker, view, at }: MemoryCall) {
  return { speaker, place: view, now: new Date(at) };
}

/** What a file of the notebook says, empty where there is none. */
async function readFile(call: MemoryCall, path: string) {
  const opened = await call.memory.notebook.open(path, contextOf(call));
  if (opened.outcome === 'refused') return opened;
  const { file, content } = opened;
  return isOfSession(file)
    ? refused('That is a note on a conversation: `!memory conversations` shows those.')
    : { outcome: 'read' as const, text: content ?? '' };
}

/** A form that holds `value` for a file that says `stored`. */
function formOf(path: string, stored: string, value: string): CommandForm {
  const line = `memory notebook-write ${tagOf(stored)} ${path}`;
  return { title: 'Edit', label: path, value, maxChars: fileMaxBytes, line };
}

/** Short enough for a button. */
function tagOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8);
}

import { createHash } from 'node:crypto';

import {
  buttonLineMaxChars,
  formTextMaxChars,
  type CommandForm,
  type CommandReply,
} from '../core/commands.ts';
import { clip, shownText, withoutInvisible } from '../core/text.ts';
import { fileMaxBytes, type FileEdit } from '../memory/notebook/files.ts';
import { formatWritten } from '../memory/notebook/format.ts';
import { isOfSession, refused } from '../memory/notebook/tree.ts';
import { undoButton } from '../memory/undo.ts';
import { counted, linesOf, present, shownLine } from './answer-lines.ts';
import { refusalToStore } from './memory-control.ts';
import type { MemoryCall } from './memory-ports.ts';

const parts = ['USER.md', 'MEMORY.md', 'facts', 'episodes', 'topics', 'daily'] as const;
/** Of a file in an answer. */
const shownMaxChars = 6000;
/** Files that have a button. */
const mostButtons = 20;

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
    buttons: files
      .map(({ path }) => ({ label: path, line: `memory notebook ${path}`, takes: 'nothing' as const }))
      .filter(({ line }) => line.length <= buttonLineMaxChars)
      .slice(0, mostButtons),
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

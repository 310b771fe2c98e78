import { localDate } from '../../core/time.ts';
import type { ModelRequest } from '../../core/model.ts';
import { dataText, renderSection } from '../../core/section.ts';
import type { SectionName } from '../../core/section.ts';
import type { TurnContext } from '../../core/turn-context.ts';
import { turnLine } from '../rolling/summary-request.ts';
import type { LoggedMessage } from '../session-log/log-record.ts';
import type { OpenedNotebook } from './background-work.ts';
import { channelTask, notebookTask } from './reflection-prompt.ts';

/** Enough for one round's tool calls, a rewritten profile included. */
const maxTokens = 4096;

/**
 * Asks for a look back on some turns [A3]. In a DM the model is given the profile, all facts and the index; elsewhere the session's overview alone.
 * What it is given in whole counts as read. Rejects with `StoreError`.
 */
export async function reflectionRequest(
  model: string,
  notebook: Pick<OpenedNotebook, 'read' | 'factPaths' | 'index'>,
  context: TurnContext,
  messages: readonly LoggedMessage[],
  timeZone: string,
): Promise<Omit<ModelRequest, 'tools'>> {
  const isDm = context.place.audience === 'dm';
  const day = localDate(context.now, timeZone);
  const sections = [
    ...(isDm ? await notebookSections(notebook, context) : []),
    fileSection('overview', 'overview.md, your notes on this conversation:', [
      await notebook.read('overview.md', context),
    ]),
    renderSection({
      name: 'turns',
      title: 'The turns since you last looked back, oldest first:',
      lines: messages.map(turnLine),
    }),
  ];
  const where = isDm
    ? `The conversation was on ${day}. Its daily file is daily/${day}.md, its episodes file episodes/${day.slice(0, 7)}.md.`
    : 'Only overview.md can be written here.';
  return {
    purpose: 'reflection',
    model,
    system: [{ type: 'text', text: isDm ? notebookTask : channelTask }],
    messages: [{ role: 'user', content: [{ type: 'text', text: sections.join('') + where }] }],
    maxTokens,
  };
}

async function notebookSections(
  notebook: Pick<OpenedNotebook, 'read' | 'factPaths' | 'index'>,
  context: TurnContext,
): Promise<readonly string[]> {
  const [profile, paths, index] = await Promise.all([
    notebook.read('USER.md', context),
    notebook.factPaths(context),
    notebook.index(context),
  ]);
  const facts = await Promise.all(
    paths.map(async (path) => {
      const text = await notebook.read(path, context);
      return text === undefined ? undefined : `### ${path}\n${text}`;
    }),
  );
  return [
    fileSection('user_profile', 'USER.md, the profile of the person:', [profile]),
    fileSection('facts', 'All facts files, whole, each under its path:', facts),
    ...index.map(renderSection),
  ];
}

/** Texts one below the other as quoted data. */
function fileSection(name: SectionName, title: string, texts: readonly (string | undefined)[]): string {
  const lines = texts.flatMap((text) =>
    text === undefined || text.trim() === '' ? [] : dataText(text.trim()).split('\n'),
  );
  return renderSection({ name, title, lines });
}

import type { CommandContext, CommandForm, CommandReply } from '../core/commands.ts';
import { mayUseItem, wordingOf } from '../memory/durable/document.ts';
import type { ProposedItem } from '../memory/durable/proposals.ts';
import { itemMaxChars, type RefusalReason } from '../memory/durable/remember-item.ts';
import { counted, idAndVisibility, listedItem, quoted, readingPlace } from './answer-lines.ts';
import { refusalToStore } from './memory-control.ts';
import { refusal, remembered } from './memory-items.ts';
import type { MemoryCommandPorts } from './memory-ports.ts';

/** Proposals that have buttons of their own, three each, beside those that turn pages. */
const mostWithButtons = 6;

/** Lists what waits for the asker's yes [K9], or tells of one proposal how it is answered in other words. */
export async function showProposals(
  context: CommandContext,
  id: string | undefined,
  { proposals }: Pick<MemoryCommandPorts, 'proposals'>,
): Promise<CommandReply> {
  const view = readingPlace(context);
  const all = await proposals.list(context.speaker.id);
  const shown = all.filter(({ item }) => mayUseItem(item, context.speaker.id, view));
  if (id !== undefined) {
    const found = shown.find((each) => each.id === id);
    return found === undefined ? { text: noneLeft(id) } : { text: howToReword(found), form: formOf(found) };
  }
  const hidden = all.length - shown.length;
  const more =
    hidden === 0 ? [] : [`${counted(hidden, 'more proposal')} in our DM: \`!memory proposals\` there.`];
  if (shown.length === 0) return { text: ['No proposals are waiting for you here.', ...more].join('\n') };
  return {
    text: [
      `${counted(shown.length, 'proposal')} for you to decide on, for seven days each:`,
      ...shown.map((each, index) => `${index + 1}. ${lineOf(each, view)}`),
      ...more,
      ...(shown.length > mostWithButtons
        ? [`The buttons are for the first ${mostWithButtons}; once these are answered, the next have theirs.`]
        : []),
      '-# Without buttons: `!memory accept <id>`, `!memory accept <id> <other words>` or `!memory decline <id>`.',
    ].join('\n'),
    buttons: shown.slice(0, mostWithButtons).flatMap((each, index) => [
      { label: `✅ ${index + 1}`, line: `memory accept ${each.id}`, takes: 'itself' as const },
      {
        label: `✏️ ${index + 1}`,
        line: `memory proposals ${each.id}`,
        takes: 'itself' as const,
        opensForm: true as const,
      },
      { label: `❌ ${index + 1}`, line: `memory decline ${each.id}`, takes: 'itself' as const },
    ]),
  };
}

function lineOf({ id, item }: ProposedItem, view: CommandContext['place']): string {
  // The item has no id yet: that of the proposal stands in its place.
  return listedItem({ ...item, id }, view);
}

function noneLeft(id: string): string {
  return `There is no proposal ${quoted(id)} here any more. \`!memory proposals\` lists those that wait.`;
}

function howToReword({ id, item }: ProposedItem): string {
  return `Say it as I should remember it: \`!memory accept ${id} <your words>\`. I would have remembered: ${quoted(wordingOf(item))}`;
}

/** The same in a window, for a button. */
function formOf({ id, item }: ProposedItem): CommandForm {
  return {
    title: 'May I remember this?',
    label: 'What I remember',
    value: item.text,
    maxChars: itemMaxChars,
    line: `memory accept ${id}`,
  };
}

/** Stores what was proposed, or what the asker says in its place. */
export async function acceptProposal(
  context: CommandContext,
  { id, text }: { readonly id: string; readonly text?: string | undefined },
  ports: MemoryCommandPorts,
): Promise<CommandReply> {
  const { id: messageId, speaker, place } = context;
  const refused = await refusalToStore(context, ports);
  if (refused !== undefined) return refused;
  const reworded = text === undefined ? undefined : { text, place, messageId };
  const outcome = await ports.proposals.accept(speaker.id, id, reworded);
  if (outcome === undefined) return { text: noneLeft(id) };
  if (outcome.outcome === 'refused') return { text: refusalOf(outcome.reason, text, ports) };
  const { item } = outcome;
  const isNamed = mayUseItem(item, speaker.id, readingPlace(context));
  const done = isNamed && outcome.outcome === 'refreshed' ? 'I remembered that already' : 'Remembered';
  const words = `${quoted(wordingOf(item))} · ${idAndVisibility(item)}`;
  return remembered(context, isNamed ? `${done}: ${words}` : 'Remembered.', outcome);
}

function refusalOf(
  reason: RefusalReason,
  text: string | undefined,
  { settings }: Pick<MemoryCommandPorts, 'settings'>,
): string {
  if (reason === 'forgotten')
    return 'I cannot remember that any more: its message was deleted or forgotten since. `!memory remember` takes it in your own words.';
  return `${refusal(reason, text ?? '', settings.itemMaxChars)} The question still waits: \`!memory proposals\`.`;
}

/** Lets a proposal go, for good. */
export async function declineProposal(
  { speaker }: CommandContext,
  id: string,
  { proposals }: Pick<MemoryCommandPorts, 'proposals'>,
): Promise<CommandReply> {
  return {
    text: (await proposals.decline(speaker.id, id))
      ? 'Not remembered. The question is gone, and I do not notice this again.'
      : noneLeft(id),
  };
}

import type { CommandButton } from '../core/reply.ts';
import type { CommandReply, ShownCard } from '../core/commands.ts';
import { mayUseItem, wordingOf } from '../memory/durable/document.ts';
import { counted, idAndVisibility, linesOf, listedItem, quoted, shownItem } from './answer-lines.ts';
import { refusalToStore } from './memory-control.ts';
import { editForm, refusal, remembered } from './memory-items.ts';
import type { MemoryCall } from './memory-ports.ts';

/** Proposals that have buttons of their own, three each, beside those that turn pages. */
const mostWithButtons = 6;

/** Lists what waits for the asker's yes [K9], or tells of one proposal how it is answered in other words. */
export async function showProposals(call: MemoryCall, id: string | undefined): Promise<CommandReply> {
  const { speaker, view, memory } = call;
  const all = await memory.proposals.list(speaker.id);
  const shown = all.filter((item) => mayUseItem(item, speaker.id, view));
  if (id !== undefined) {
    const item = shown.find((each) => each.id === id);
    if (item === undefined) return { text: noneLeft(id) };
    const text = `Say it as I should remember it: \`!memory accept ${id} <your words>\`. I would have remembered: ${quoted(wordingOf(item))}`;
    return { text, form: editForm(item, `memory accept ${id}`) };
  }
  const hidden = all.length - shown.length;
  const more = hidden > 0 && `${counted(hidden, 'more proposal')} in our DM: \`!memory proposals\` there.`;
  const data = {
    kind: 'proposals',
    cards: shown.map((item): ShownCard => ({
      question: 'May I remember this?',
      items: [shownItem(item, call)],
      buttons: buttonsFor(item.id, ['Remember', 'In other words', 'Decline']),
    })),
  } as const;
  if (shown.length === 0) return { text: linesOf('No proposals are waiting for you here.', more), data };
  return {
    data,
    text: linesOf(
      `${counted(shown.length, 'proposal')} for you to decide on, for seven days each:`,
      shown.map((item, index) => `${index + 1}. ${listedItem(item, call)}`),
      more,
      shown.length > mostWithButtons &&
        `The buttons are for the first ${mostWithButtons}; once these are answered, the next have theirs.`,
      '-# Without buttons: `!memory accept <id>`, `!memory accept <id> <other words>` or `!memory decline <id>`.',
    ),
    buttons: shown
      .slice(0, mostWithButtons)
      .flatMap(({ id: of }, index) =>
        buttonsFor(of, [`✅ ${index + 1}`, `✏️ ${index + 1}`, `❌ ${index + 1}`]),
      ),
  };
}

function buttonsFor(
  id: string,
  [yes, other, no]: readonly [string, string, string],
): readonly CommandButton[] {
  return [
    { label: yes, line: `memory accept ${id}`, takes: 'itself' },
    { label: other, line: `memory proposals ${id}`, takes: 'itself', opensForm: true },
    { label: no, line: `memory decline ${id}`, takes: 'itself' },
  ];
}

function noneLeft(id: string): string {
  return `There is no proposal ${quoted(id)} here any more. \`!memory proposals\` lists those that wait.`;
}

/** Stores what was proposed, or what the asker says in its place. */
export async function acceptProposal(
  call: MemoryCall,
  { id, text }: { readonly id: string; readonly text?: string | undefined },
): Promise<CommandReply> {
  const { id: messageId, speaker, place, view, memory } = call;
  const refused = await refusalToStore(call);
  if (refused !== undefined) return refused;
  const reworded = text === undefined ? undefined : { text, place, messageId };
  const outcome = await memory.proposals.accept(call.work, id, reworded);
  if (outcome === undefined) return { text: noneLeft(id) };
  if (outcome.outcome === 'refused')
    return {
      text:
        outcome.reason === 'forgotten'
          ? 'I cannot remember that any more: its message was deleted or forgotten since. `!memory remember` takes it in your own words.'
          : `${refusal(outcome.reason, text ?? '')} The question still waits: \`!memory proposals\`.`,
    };
  const { item } = outcome;
  if (!mayUseItem(item, speaker.id, view)) return remembered(call, 'Remembered.', outcome);
  const done = outcome.outcome === 'refreshed' ? 'I remembered that already' : 'Remembered';
  return remembered(call, `${done}: ${quoted(wordingOf(item))} · ${idAndVisibility(item)}`, outcome);
}

/** Lets a proposal go, for good. */
export async function declineProposal({ work, memory }: MemoryCall, id: string): Promise<CommandReply> {
  return {
    text: (await memory.proposals.decline(work, id))
      ? 'Not remembered. The question is gone, and I do not notice this again.'
      : noneLeft(id),
  };
}

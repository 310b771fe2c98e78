import type { MessageView } from '../../src/sandbox/people/views.ts';
import { eventually } from '../support/eventually.ts';
import type { Stage } from './stage.ts';

/** The small last lines of a message [K6]; the empty string where there are none. */
export function footerIn({ text }: Pick<MessageView, 'text'>): string {
  const lines = text.split('\n');
  return lines.slice(lines.findLastIndex((line) => !line.startsWith('-# ')) + 1).join('\n');
}

/** An answer once its footer has these words; it may get them by an edit. */
export async function withFooter(
  { sandbox }: Pick<Stage, 'sandbox'>,
  { id, channelId }: Pick<MessageView, 'id' | 'channelId'>,
  words: string,
): Promise<MessageView> {
  return eventually(async () => {
    const all = await sandbox.messages({ in: channelId, from: 'bot' });
    const answer = all.find((each) => each.id === id);
    if (answer === undefined || !footerIn(answer).includes(words))
      throw new Error(`"${words}" is not told under "${answer?.text ?? 'what is gone'}"`);
    return answer;
  });
}

/** An answer once it says one of these above its footer; it may grow by edits. */
export async function withWords(
  { sandbox }: Pick<Stage, 'sandbox'>,
  { id, channelId }: Pick<MessageView, 'id' | 'channelId'>,
  ...choices: readonly string[]
): Promise<MessageView> {
  return eventually(async () => {
    const all = await sandbox.messages({ in: channelId, from: 'bot' });
    const answer = all.find((each) => each.id === id);
    if (answer === undefined || !choices.includes(answer.text.split('\n-# ')[0] ?? ''))
      throw new Error(`"${answer?.text ?? 'what is gone'}" is not "${choices.join('" or "')}"`);
    return answer;
  });
}

/** What stands on the buttons under a message, in order. */
export function labelsOf(message: MessageView | undefined): readonly string[] {
  return message?.components.rows.flatMap(({ buttons }) => buttons.map(({ label }) => label ?? '')) ?? [];
}

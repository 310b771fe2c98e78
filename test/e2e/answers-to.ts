import type { MessageView } from '../../src/sandbox/people/views.ts';
import type { TestSandbox } from '../support/sandbox/test-sandbox.ts';

/** The bot's replies that point at this message. A reply in several parts counts once: only its first part points. */
export async function answersTo(
  sandbox: TestSandbox,
  message: Pick<MessageView, 'id' | 'channelId'>,
): Promise<readonly MessageView[]> {
  const said = await sandbox.messages({ in: message.channelId, after: message.id, from: 'bot' });
  return said.filter(({ replyTo }) => replyTo === message.id);
}

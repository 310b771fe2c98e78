import type { MessageView } from '../../src/sandbox/control/message-view.ts';
import type { SandboxControl } from '../../src/sandbox/control/local-control.ts';

/** The bot's replies that point at this message. A reply in several parts counts once: only its first part points. */
export async function answersTo(
  sandbox: SandboxControl,
  message: Pick<MessageView, 'id' | 'channelId'>,
): Promise<readonly MessageView[]> {
  const said = await sandbox.messages({ in: message.channelId, after: message.id, from: 'bot' });
  return said.filter(({ replyTo }) => replyTo === message.id);
}

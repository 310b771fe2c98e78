import type { MessageView } from '../../src/sandbox/people/views.ts';
import type { TestSandbox } from './sandbox/test-sandbox.ts';

export const pluralKit = '466378653216014359';
const webhook = '150000000000000001';

/** What a proxy posts in a channel by its webhook: somebody's words under another name. */
export async function postCopy(
  sandbox: Pick<TestSandbox, 'say'>,
  copy: {
    readonly in: string;
    readonly text: string;
    readonly name?: string;
    readonly appId?: string;
    readonly embeds?: readonly object[];
  },
): Promise<MessageView> {
  const { name = 'Anna', appId = pluralKit, text, embeds = [] } = copy;
  return sandbox.say({
    // The fields say who it is by.
    as: 'carol',
    in: copy.in,
    text,
    fields: {
      webhook_id: webhook,
      application_id: appId,
      author: { id: webhook, username: name, discriminator: '0000', avatar: null, bot: true },
      embeds,
    },
  });
}

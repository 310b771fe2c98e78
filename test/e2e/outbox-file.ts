import { z } from 'zod';

import { eventually } from '../support/eventually.ts';
import type { Stage } from './stage.ts';

const schema = z.looseObject({
  handledIds: z.array(z.string()),
  unsent: z.array(z.object({ text: z.string() })),
});

type OutboxFile = z.infer<typeof schema>;

export function outboxPath(channelId: string): string {
  return `data/channels/${channelId}/outbox.json`;
}

/** Resolves when what the bot keeps of its answers in a channel is as wanted. */
export async function outboxWhen(
  stage: Pick<Stage, 'readFile'>,
  channelId: string,
  isWanted: (outbox: OutboxFile) => boolean,
): Promise<void> {
  await eventually(async () => {
    const outbox = schema.parse(JSON.parse(await stage.readFile(outboxPath(channelId))));
    if (!isWanted(outbox)) throw new Error(`The outbox of ${channelId} is ${JSON.stringify(outbox)}`);
  });
}

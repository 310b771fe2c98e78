import { sentMaxChars, type ReminderPost } from '../../core/reply.ts';
import { snowflakeAt } from '../../core/snowflake.ts';
import { answerRows } from '../buttons.ts';
import { noPings, type DiscordApi } from '../discord-api.ts';
import { NotPermittedError, refusalOf, sendUntilTaken } from '../refusals.ts';

/** Posts what mentions its person and nobody else [RM3], whatever its words say. */
export function createReminderPost(
  api: Pick<DiscordApi, 'openDm' | 'postMessage' | 'messagesAfter'>,
  mayRead: ReminderPost['mayRead'],
): ReminderPost {
  const channelFor = (userId: string, channelId: string | undefined): Promise<string> | string =>
    channelId ?? sendUntilTaken(() => api.openDm(userId));

  return {
    mayRead,
    async send({ userId, channelId, text, buttons, nonce, mayShow, beforeSeen }) {
      const mention = channelId === undefined ? '' : `<@${userId}> `;
      const body = {
        content: (mention + text).slice(0, sentMaxChars),
        components: answerRows(userId, { buttons }),
        nonce,
        enforce_nonce: true,
        allowed_mentions: channelId === undefined ? noPings : { parse: [], users: [userId] },
      };
      let isWithheld = false;
      try {
        const target = await channelFor(userId, channelId);
        const { id } = await sendUntilTaken(async () => {
          isWithheld = !(await mayShow());
          if (isWithheld) throw new NotPermittedError('remind', target);
          return api.postMessage(target, body);
        });
        await beforeSeen(target, id);
        return 'sent';
      } catch (error) {
        if (isWithheld) return 'withheld';
        if (refusalOf(error) === undefined) throw error;
        return 'refused';
      }
    },
    async isThere({ userId, channelId, after, mark }) {
      try {
        const found = await api.messagesAfter(await channelFor(userId, channelId), snowflakeAt(after));
        return found.some(({ components }) => JSON.stringify(components ?? []).includes(mark));
      } catch (error) {
        if (refusalOf(error) === undefined) throw error;
        return false;
      }
    },
  };
}

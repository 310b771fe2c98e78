import { reminderSign, sentMaxChars, type PostedMessage, type ReminderPost } from '../../core/reply.ts';
import { snowflakeAt } from '../../core/snowflake.ts';
import { answerRows } from '../buttons.ts';
import { noPings, type DiscordApi } from '../discord-api.ts';
import { refusalOf, sendUntilTaken } from '../refusals.ts';

/** By how much Discord's clock may be behind; milliseconds. */
const clockSkewMs = 20_000;
/** Of a hundred messages each, that are looked through for one: what was being sent may have waited for minutes. */
const mostPages = 20;

/** Posts what mentions its person and nobody else [RM3], whatever its words say. */
export function createReminderPost(
  api: Pick<DiscordApi, 'openDm' | 'postMessage' | 'messagesAfter'>,
  mayRead: ReminderPost['mayRead'],
): ReminderPost {
  async function inTarget(
    { userId, channelId }: { readonly userId: string; readonly channelId?: string | undefined },
    work: (target: string) => Promise<{ readonly id: string } | undefined>,
  ): Promise<PostedMessage | 'refused' | undefined> {
    try {
      const target = channelId ?? (await sendUntilTaken(() => api.openDm(userId)));
      const message = await work(target);
      return message && { channelId: target, messageId: message.id };
    } catch (error) {
      if (refusalOf(error) === undefined) throw error;
      return 'refused';
    }
  }

  return {
    mayRead,
    async send(message) {
      const { userId, channelId, text, buttons, nonce, mayShow } = message;
      const mention = channelId === undefined ? '' : `<@${userId}> `;
      const body = {
        content: (reminderSign + mention + text).slice(0, sentMaxChars),
        components: answerRows(userId, { buttons }),
        nonce,
        enforce_nonce: true,
        allowed_mentions: channelId === undefined ? noPings : { parse: [], users: [userId] },
      };
      const posted = await inTarget(message, (target) =>
        sendUntilTaken(async () => ((await mayShow()) ? api.postMessage(target, body) : undefined)),
      );
      return posted ?? 'withheld';
    },
    async find(message) {
      const posted = await inTarget(message, async (target) => {
        let last = snowflakeAt(new Date(Date.parse(message.at) - clockSkewMs));
        for (let pages = 0; pages < mostPages; pages += 1) {
          const found = await api.messagesAfter(target, last);
          const own = found.find(
            ({ author, content, components }) =>
              author.bot === true &&
              [content, JSON.stringify(components)].some((each) => each.includes(message.mark)),
          );
          const newest = found.at(-1);
          if (own !== undefined || newest === undefined) return own;
          last = newest.id;
        }
        return undefined;
      });
      return posted === 'refused' ? undefined : posted;
    },
  };
}

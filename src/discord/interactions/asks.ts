import {
  ButtonStyle,
  ComponentType,
  MessageFlags,
  type APIMessage,
  type ButtonInteraction,
  type User,
  type RESTPostAPIChannelMessageJSONBody,
} from 'discord.js';

import { lruCache } from '../../core/limits.ts';
import type { GrowingReply, ReplyPort } from '../../core/reply.ts';
import { snowflakeTime } from '../../core/snowflake.ts';
import type { AnswerRow } from '../buttons.ts';
import type { DiscordApi, Webhook } from '../discord-api.ts';
import { NotPermittedError, refusalOf } from '../refusals.ts';
import type { RepliesOptions } from '../replies/growing-reply.ts';
import { createReplies } from '../replies/replies.ts';

/** Messages of an answer where it was asked for; the rest is a direct message. */
const mostMessages = 5;
/** A quarter of an hour, less what the last request may take; milliseconds. */
const answeredWithinMs = 15 * 60_000 - 20_000;
/** How long the rest waits where direct messages are closed; milliseconds. */
const restKeptMs = 10 * 60_000;
const mostKept = 1000;

const over = 'This is over. Please ask me again.';
const refused =
  '⚠️ Discord or a filter of this server refused my answer. Ask me in a direct message instead.';
const buttonForm = /^whisper:(?<id>\d+):(?<wish>stop|rest)$/u;

type Page = Omit<RESTPostAPIChannelMessageJSONBody, 'nonce' | 'enforce_nonce' | 'message_reference'>;

/** An `/ask` that can be answered where it was given. Nothing of it is on disk, since it holds the token. */
interface Ask {
  readonly id: string;
  readonly userId: string;
  readonly webhook: Webhook;
  /** Its messages by their ids, in order. */
  readonly shown: Map<string, APIMessage>;
  /** By ids of our own, what neither the interaction nor closed direct messages take. */
  readonly rest: Map<string, Page>;
}

export type Asks = ReturnType<typeof createAsks>;

/**
 * Answers `/ask` where it was given, for its person's eyes alone [EW2]: everything that replies to its id goes through the
 * interaction, with the same growth and buttons, and through `ordinary` once that takes no more.
 */
export function createAsks(options: RepliesOptions & { readonly api: AskApi }, ordinary: ReplyPort) {
  const { api, clock, logger } = options;
  const asks = lruCache<string, Ask & { readonly replies: ReplyPort; readonly api: AskApi }>(mostKept, {
    maxAge: answeredWithinMs + restKeptMs,
  });

  const isOpen = ({ id }: Ask): boolean => clock().getTime() - snowflakeTime(id).getTime() < answeredWithinMs;
  /** `nonceBase` begins with the id of what is answered. */
  const askOf = (nonceBase: string) => asks.get(/^\d*/u.exec(nonceBase)?.[0] ?? '');
  const openAskOf = (nonceBase: string) => {
    const ask = askOf(nonceBase);
    return ask !== undefined && isOpen(ask) ? ask : undefined;
  };
  const askShowing = (messageId: string) => [...asks.values()].find(({ shown }) => shown.has(messageId));

  /** Posts, edits and deletes by the interaction, or in the DM what stands there. */
  function apiFor(ask: Ask): AskApi {
    const { webhook, shown, rest } = ask;
    const last = () => [...shown.values()].at(-1);

    /** Whether it stands there. @throws {NotPermittedError} once nothing can be changed there any more. */
    function isHere(channelId: string, messageId: string): boolean {
      if (!shown.has(messageId)) return false;
      if (!isOpen(ask)) throw new NotPermittedError('answer an old interaction', channelId);
      return true;
    }

    async function show(page: Page): Promise<APIMessage> {
      const message = await (shown.size === 0
        ? api.editAnswer(webhook, '@original', page)
        : api.followUp(webhook, page));
      shown.set(message.id, message);
      return message;
    }

    /** Behind a button under the last message. The id is of no message anywhere. */
    async function keep(page: Page, under: APIMessage): Promise<APIMessage> {
      const id = String(BigInt(ask.id) + BigInt(rest.size + 1));
      if (rest.size === 0) await api.editAnswer(webhook, under.id, { components: [row(ask, 'rest')] });
      rest.set(id, page);
      return { ...under, id, content: page.content ?? '' };
    }

    return {
      ...api,
      showTyping: async () => undefined,
      // Nobody else posts there, and there is nothing from before.
      messagesAfter: async () => [],
      async postMessage(channelId, body, files) {
        const { nonce, enforce_nonce: _, message_reference: __, ...page } = body;
        if (isOpen(ask) && shown.size < mostMessages) return show(page);
        try {
          // Under a nonce of its own: after a kill the whole answer stands there in its order, the rest once more.
          return await api.postMessage(channelId, { ...body, nonce: `${nonce}r` }, files);
        } catch (error) {
          const under = last();
          if (refusalOf(error) !== 'place' || under === undefined || !isOpen(ask)) throw error;
          return keep(page, under);
        }
      },
      async editMessage(channelId, messageId, body, signal) {
        const under = last();
        if (rest.has(messageId) && under !== undefined) {
          const { content, components, flags } = body;
          const page = { content: content ?? '', components: components ?? [], flags: flags ?? undefined };
          rest.set(messageId, page);
          return { ...under, id: messageId, content: page.content };
        }
        return isHere(channelId, messageId)
          ? api.editAnswer(webhook, messageId, body)
          : api.editMessage(channelId, messageId, body, signal);
      },
      async deleteMessage(channelId, messageId) {
        if (rest.delete(messageId)) return;
        await (isHere(channelId, messageId)
          ? api.deleteAnswer(webhook, messageId)
          : api.deleteMessage(channelId, messageId));
      },
      async message(channelId, messageId) {
        return isHere(channelId, messageId)
          ? api.answerOf(webhook, messageId)
          : api.message(channelId, messageId);
      },
    };
  }

  const replies: ReplyPort = {
    ...ordinary,
    typing: (channelId, messageId) => (askOf(messageId)?.replies ?? ordinary).typing(channelId, messageId),
    begin(start) {
      const ask = openAskOf(start.nonceBase);
      if (ask === undefined) return ordinary.begin(start);
      const here = ask.replies.begin(start);
      let current: GrowingReply = here;
      return {
        ...here,
        async finish(text, footer) {
          // What Discord takes no more here is a direct message.
          const finished = isOpen(ask) ? await here.finish(text, footer).catch(() => undefined) : undefined;
          if (finished !== undefined && finished.kind !== 'refused') return finished;
          here.hold();
          current = ordinary.begin(start);
          return current.finish(text, footer);
        },
        takeAway: () => current.takeAway(),
      };
    },
    send: (channelId, text, nonceBase, ...more) =>
      (openAskOf(nonceBase)?.replies ?? ordinary).send(channelId, text, nonceBase, ...more),
    amend: (channelId, messageId, change) =>
      (askShowing(messageId)?.replies ?? ordinary).amend(channelId, messageId, change),
    async tellRefused(question, reason) {
      const ask = openAskOf(question.messageId);
      if (ask === undefined) return ordinary.tellRefused(question, reason);
      await api
        .editAnswer(ask.webhook, '@original', { content: refused })
        .catch((error: unknown) => logger.warn('a refusal could not be told', { error }));
    },
  };

  return {
    replies,
    /** What offers under an answer to a message are posted with. */
    apiFor: (messageId: string): Pick<AskApi, 'postMessage' | 'deleteMessage'> =>
      openAskOf(messageId)?.api ?? api,
    /** From here on the interaction, which was deferred, is answered. */
    open({
      id,
      user,
      applicationId,
      token,
    }: Webhook & { readonly id: string; readonly user: Pick<User, 'id'> }): void {
      const webhook = { applicationId, token };
      const ask: Ask = { id, userId: user.id, webhook, shown: new Map(), rest: new Map() };
      const own = apiFor(ask);
      const isInChannel = (messageId: string) => !ask.shown.has(messageId) && !ask.rest.has(messageId);
      const ofAsk = createReplies({
        ...options,
        api: own,
        // What stands in no channel is in nobody's history.
        onSent: (message) => void (isInChannel(message.id) && options.onSent(message)),
        onEdited: (message) => void (isInChannel(message.id) && options.onEdited(message)),
        onRemoved: (channelId, messageId) =>
          void (isInChannel(messageId) && options.onRemoved(channelId, messageId)),
        onForeign: undefined,
        growingRows: [row(ask, 'stop')],
      });
      asks.set(id, { ...ask, replies: ofAsk, api: own });
    },
    /** What waits for a person who has everything erased is not shown any more [K11]. */
    dropRestOf(userId: string): void {
      for (const ask of Array.from(asks.values())) if (ask.userId === userId) ask.rest.clear();
    },
    /** Its turn is over: where nothing was answered, a line says why, or nothing stays. Never rejects. */
    async close(id: string, line: string | undefined): Promise<void> {
      const ask = openAskOf(id);
      if (ask === undefined || ask.shown.size > 0) return;
      try {
        if (line === undefined) await api.deleteAnswer(ask.webhook, '@original');
        else await api.editAnswer(ask.webhook, '@original', { content: line });
      } catch (error) {
        logger.debug('an unanswered interaction could not be closed', { error });
      }
    },
    /** `false` for the button of something else. May reject as Discord does. */
    async click(interaction: ButtonInteraction, stop: (id: string) => Promise<void>): Promise<boolean> {
      const { id = '', wish } = buttonForm.exec(interaction.customId)?.groups ?? {};
      if (wish === undefined) return false;
      const ask = asks.get(id);
      const pages = [...(ask?.rest.values() ?? [])];
      if (ask !== undefined && wish === 'stop') {
        await interaction.deferUpdate();
        await stop(id);
        return true;
      }
      await interaction.update({ components: [] });
      ask?.rest.clear();
      for (const page of pages) await api.followUp(interaction, page);
      if (pages.length === 0) await interaction.followUp({ content: over, flags: MessageFlags.Ephemeral });
      return true;
    },
  };
}

type AskApi = RepliesOptions['api'] &
  Pick<DiscordApi, 'answerOf' | 'editAnswer' | 'deleteAnswer' | 'followUp'>;

/** Nobody can react to what one person sees alone: 🛑 is a button there. */
function row({ id }: Ask, wish: 'stop' | 'rest'): AnswerRow {
  return {
    type: ComponentType.ActionRow,
    components: [
      {
        type: ComponentType.Button,
        style: ButtonStyle.Secondary,
        label: wish === 'stop' ? '🛑' : 'Show the rest',
        custom_id: `whisper:${id}:${wish}`,
      },
    ],
  };
}

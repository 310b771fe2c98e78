import { setTimeout as sleep } from 'node:timers/promises';

import { z } from 'zod';

import { compareSnowflakes, snowflakeAt } from '../../src/core/snowflake.ts';
import type { MessageView } from '../../src/sandbox/control/message-view.ts';
import { wordsIn } from './sequence-model.ts';
import type { Doing, Step } from './sequence-steps.ts';
import type { Stage } from './stage.ts';

/** A message that a person wrote in a scene, with all the words that it has said. */
interface Written {
  readonly id: string;
  readonly channelId: string;
  readonly author: string;
  readonly isAddressed: boolean;
  /** The newest last. */
  readonly words: string[];
  /** The smallest id of what can have been written since it was deleted, or made a command. */
  goneSince?: string;
  /** It was stopped, or its reply taken away, by somebody who may: it need not have one any more. */
  mayStayUnanswered?: true;
}

/** Milliseconds after which the bot has come to rest, whatever it was doing, and however busy the machine is. */
const restMs = 60_000;

const storedItems = z.object({
  items: z.array(z.object({ text: z.string(), status: z.string(), supersededBy: z.string().optional() })),
});

/** Two new people, a new channel and their DMs on a stage that many scenes share, and what is known of all that they wrote. */
export class SequenceScene {
  readonly #stage: Stage;
  readonly #name: string;
  readonly #people: readonly string[];
  readonly #ids: readonly string[];
  readonly #channels: readonly string[];
  readonly #written: Written[] = [];
  #count = 0;

  static async open(stage: Stage, number: number): Promise<SequenceScene> {
    const name = `s${number}`;
    const { sandbox } = stage;
    const people = await Promise.all([0, 1].map((who) => sandbox.addPerson({ name: `${name}p${who}` })));
    const dms = await Promise.all(people.map((person) => sandbox.openDm({ person: person.name })));
    const channel = await sandbox.addChannel({ name });
    const scene = new SequenceScene(
      stage,
      name,
      people.map((person) => person.name),
      [...people, ...dms, channel].map(({ id }) => id),
      [channel.id, ...dms.map(({ id }) => id)],
    );
    // Discord lists DMs to no bot, so they can be caught up with only where the bot was in them before.
    await Promise.all(people.map((person) => stage.ask(person.name, 'dm', 'hello')));
    return scene;
  }

  private constructor(
    stage: Stage,
    name: string,
    people: readonly string[],
    ids: readonly string[],
    channels: readonly string[],
  ) {
    this.#stage = stage;
    this.#name = name;
    this.#people = people;
    this.#ids = ids;
    this.#channels = channels;
  }

  async take(step: Step): Promise<void> {
    if (step.do === 'wait') {
      await sleep(step.ms);
    } else if (step.do === 'restart') {
      if (step.how === 'kill') await this.#stage.killBot();
      else await this.#stage.stopBot();
      for (const each of step.meanwhile) await this.#do(each);
      await this.#stage.startBot();
    } else {
      await this.#do(step);
    }
  }

  /** What does not hold, though the bot has come to rest. */
  async judge(): Promise<readonly string[]> {
    const unrested = await this.#atRest();
    if (unrested.length > 0) return unrested;
    const shown = await this.#probe();
    const problems = await this.#atRest();
    // Long enough for what should not come to show itself.
    await sleep(150);
    return [...shown, ...(problems.length > 0 ? problems : await this.#problems())];
  }

  /** What is left when nothing comes any more that should. */
  async #atRest(): Promise<readonly string[]> {
    const end = Date.now() + restMs;
    for (;;) {
      const problems = await this.#problems();
      if (problems.length === 0 || Date.now() > end) return problems;
      await sleep(60);
    }
  }

  async #do(doing: Doing): Promise<void> {
    const { sandbox } = this.#stage;
    if (doing.do === 'say') return this.#say(doing.who, doing.where, doing.isAddressed);
    if (doing.do === 'delete') return this.#delete(doing.of.flatMap((choice) => this.#chosen(choice) ?? []));
    const chosen = this.#chosen(doing.of);
    if (chosen === undefined) return;
    switch (doing.do) {
      case 'edit': {
        const word = this.#newWord();
        chosen.words.push(word);
        await sandbox.edit({ message: chosen.id, text: `${this.#address(chosen)}I prefer ${word}` });
        return;
      }
      case 'edit into a command':
        chosen.goneSince = snowflakeAt(new Date());
        await sandbox.edit({ message: chosen.id, text: `!memory remember ${chosen.words.at(-1) ?? ''}` });
        return;
      case 'delete the reply':
        for (const reply of await this.#repliesTo(chosen)) {
          this.#excuse(chosen);
          await sandbox.delete({ message: reply.id }).catch(() => undefined);
        }
        return;
      case 'react with 🛑': {
        const isAuthor = doing.by === 'author';
        const as = isAuthor ? chosen.author : (this.#people.find((name) => name !== chosen.author) ?? '');
        if (isAuthor) this.#excuse(chosen);
        const [reply] = await this.#repliesTo(chosen);
        // Nobody else sees into a DM; and a reply may be gone by now.
        const message = doing.of % 2 === 0 ? chosen.id : (reply?.id ?? chosen.id);
        await sandbox.react({ as, message, emoji: '🛑' }).catch(() => undefined);
        return;
      }
    }
  }

  async #say(who: 0 | 1, where: 'channel' | 'dm', isAddressed: boolean): Promise<void> {
    const as = this.#people[who] ?? '';
    const word = this.#newWord();
    const isDm = where === 'dm';
    const said = await this.#stage.sandbox.say({
      as,
      in: isDm ? 'dm' : this.#name,
      text: `I prefer ${word}`,
      mentionBot: !isDm && isAddressed,
    });
    this.#written.push({
      id: said.id,
      channelId: said.channelId,
      author: as,
      isAddressed: isDm || isAddressed,
      words: [word],
    });
  }

  async #delete(messages: readonly Written[]): Promise<void> {
    const { sandbox } = this.#stage;
    const [channelId] = this.#channels;
    const inChannel = [...new Set(messages)].filter((message) => message.channelId === channelId);
    const inDms = [...new Set(messages)].filter((message) => message.channelId !== channelId);
    for (const message of messages) message.goneSince = snowflakeAt(new Date());
    if (inChannel.length > 1) await sandbox.bulkDelete({ messages: inChannel.map(({ id }) => id) });
    for (const message of inChannel.length > 1 ? inDms : [...inChannel, ...inDms])
      await sandbox.delete({ message: message.id });
  }

  /** Asks everybody everywhere once more, so that all memory is used and all that is due is made of it. */
  async #probe(): Promise<readonly string[]> {
    const asked = this.#stage.model.requests.length;
    const channel = this.#name;
    const mention = `<@${this.#stage.info.bot.id}>`;
    await Promise.all(
      this.#people.flatMap((name) => [
        this.#stage.ask(name, 'dm', `What do I prefer, ${channel}?`),
        this.#stage.ask(name, channel, `${mention} What do I prefer, ${channel}?`),
      ]),
    );
    const standing = new Set((await this.#replies()).flatMap(({ text }) => wordsIn(text)));
    const gone = this.#goneWords().filter((word) => !standing.has(word));
    const shown = this.#stage.model.requests.slice(asked).map(({ raw }) => raw);
    return gone
      .filter((word) => shown.some((raw) => raw.includes(word)))
      .map((word) => `the model is shown ${word}`);
  }

  async #problems(): Promise<readonly string[]> {
    const replies = await this.#replies();
    const files = await this.#files();
    return [
      ...this.#written.flatMap((message) => problemsOf(message, replies)),
      ...replies.flatMap((reply) => this.#answersOnlyGone(reply)),
      ...this.#goneWords().flatMap((word) =>
        files.flatMap(({ path, text }) => (text.includes(word) ? [`${word} is in ${path}`] : [])),
      ),
    ];
  }

  /** A reply in which only such messages are answered as were gone before it was written. */
  #answersOnlyGone({ id, text }: MessageView): readonly string[] {
    const answered = wordsIn(text).flatMap(
      (word) => this.#written.find(({ words }) => words.includes(word)) ?? [],
    );
    const isLate = ({ goneSince }: Written): boolean =>
      goneSince !== undefined && compareSnowflakes(id, goneSince) >= 0;
    return answered.length > 0 && answered.every(isLate) ? [`gone, and answered: ${text}`] : [];
  }

  /** What was said by messages that are gone, and before an edit. */
  #goneWords(): readonly string[] {
    return this.#written.flatMap(({ words, goneSince }) =>
      goneSince === undefined ? words.slice(0, -1) : words,
    );
  }

  #chosen(choice: number): Written | undefined {
    const standing = this.#written.filter(({ goneSince }) => goneSince === undefined);
    return standing.at(-1 - (choice % Math.max(1, standing.length)));
  }

  /** What a person wrote in a place up to a message is answered together with it, or before. */
  #excuse({ author, channelId, id }: Written): void {
    for (const each of this.#written) {
      const isBefore = compareSnowflakes(each.id, id) <= 0;
      if (each.author === author && each.channelId === channelId && isBefore) each.mayStayUnanswered = true;
    }
  }

  #newWord(): string {
    this.#count += 1;
    return `canary${this.#name}n${this.#count}x`;
  }

  #address({ channelId, isAddressed }: Written): string {
    return channelId === this.#channels[0] && isAddressed ? `<@${this.#stage.info.bot.id}> ` : '';
  }

  async #repliesTo({ words, id }: Written): Promise<readonly MessageView[]> {
    const replies = await this.#replies();
    return replies.filter(({ text, replyTo }) => replyTo === id || saysAny(text, words));
  }

  async #replies(): Promise<readonly MessageView[]> {
    const { sandbox } = this.#stage;
    const found = await Promise.all(
      this.#channels.map((channel) => sandbox.messages({ in: channel, from: 'bot' })),
    );
    return found.flat();
  }

  /** The bot's files about these people and channels; of the items only those that anybody is shown or told. */
  async #files(): Promise<readonly { readonly path: string; readonly text: string }[]> {
    const about = (await this.#stage.kept()).filter(({ path }) => this.#ids.some((id) => path.includes(id)));
    return about.map(({ path, text }) => ({
      path,
      text: path.includes('durable.json') ? seenItems(text) : text,
    }));
  }
}

function problemsOf(message: Written, replies: readonly MessageView[]): readonly string[] {
  const { words, id, isAddressed, goneSince, mayStayUnanswered } = message;
  const all = replies.filter(({ text, replyTo }) => replyTo === id || saysAny(text, words));
  // The small line that says what was stored of a message is not a second reply.
  const own = isAddressed ? all.filter(({ text }) => !text.startsWith('-# ')) : all;
  if (own.length > 1)
    return [`${own.length} replies to ${words.join(', ')}: ${own.map(({ text }) => text).join(' | ')}`];
  if (!isAddressed) return own.length === 0 ? [] : [`not for the bot, and answered: ${words.join(', ')}`];
  const isAnswered = own.length === 1 || goneSince !== undefined || mayStayUnanswered === true;
  return isAnswered ? [] : [`no reply to ${words.join(', ')}`];
}

function saysAny(text: string, words: readonly string[]): boolean {
  const said = wordsIn(text);
  return words.some((word) => said.includes(word));
}

/** What the owner of items has forgotten or taken back stays in their document, and nobody sees it [D6]. */
function seenItems(text: string): string {
  if (text === '') return '';
  const { items } = storedItems.parse(JSON.parse(text));
  return items
    .filter(({ status, supersededBy }) => status === 'active' || supersededBy !== undefined)
    .map((item) => item.text)
    .join('\n');
}

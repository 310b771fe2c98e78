// First, since it changes what others find when they are loaded.
import { VirtualClock } from './clock.ts';
import { SimulatedDisk } from './disk.ts';
import { patienceMs } from './people.ts';
import { BotProcess, ProcessTable } from './process.ts';
import { createRandom } from './random.ts';
import { mayBeTold, wordOf } from './truth.ts';
import { Vendor } from './vendor.ts';
import type { Place } from '../../src/core/place.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import type { ModelAnswer } from '../support/model-answer.ts';
import { accessRoles, botId, homeGuild, World, type WorldChannel, type WorldMessage } from './world.ts';

/** What several people say to the bot, and what some of them ask about it. */
export interface Household {
  /** In order. */
  readonly messages: readonly { readonly id: string; readonly author: string; readonly text: string }[];
  readonly questions: readonly {
    readonly text: string;
    readonly asker: string;
    /** What the answer needs: of each the ids of the messages that say it. */
    readonly gold: readonly (readonly string[])[];
    /** How many messages were said when it is asked. */
    readonly upTo: number;
  }[];
}

/** What stood in the prompts of all questions, each asked in every place where its asker can. */
export interface Governance {
  readonly asked: number;
  /** Parts of answers that the asker said where it may be told here, and how many of them the model was given. */
  readonly mayKnow: number;
  readonly given: number;
  /** Messages that answer, and may not be told to the asker here; and how many of them the model was given. */
  readonly mustNotKnow: number;
  readonly leaked: number;
  /** The same questions after what answers them was deleted: messages that are gone, and how many of them the model was given. */
  readonly deleted: number;
  readonly stillGiven: number;
}

interface Said {
  readonly ownerId: string;
  readonly place: Place;
  readonly message: WorldMessage;
  /** Tells it from all else. */
  readonly mark: string;
}

const pauseMs = 45_000;
const windowMessages = 60;

/** A household's talk with the whole bot, a third each in public, in a private channel and in direct messages. */
export async function govern({ messages, questions }: Household): Promise<Governance> {
  const clock = new VirtualClock(1, new Date('2026-03-02T08:00:00Z'));
  const random = createRandom(1);
  const disk = new SimulatedDisk(clock, () => random);
  const world = new World(
    clock,
    () => random,
    () => undefined,
  );
  const processes = new ProcessTable();
  let question: string | undefined;
  let seen = '';
  const vendor = new Vendor(
    clock,
    () => random,
    (body): ModelAnswer => {
      const isChat = (body.tools ?? []).length > 0;
      if (!isChat) return body.output_config === undefined ? { text: 'Nothing.' } : { json: { items: [] } };
      const hasResults = (body.messages ?? []).some(({ content }) =>
        content.some(({ type }) => type === 'tool_result'),
      );
      return question === undefined || hasResults
        ? { text: 'Noted.' }
        : { toolUse: [{ name: 'recall_memory', input: { queries: [question] } }] };
    },
  );
  const bot = new BotProcess({
    processes,
    world,
    disk,
    vendor,
    logger: new RecordingLogger(),
    requested: (request) => {
      if (request.purpose === 'chat')
        seen += JSON.stringify(request.messages) + JSON.stringify(request.system);
    },
    read: () => undefined,
  });
  const names = [...new Set(messages.map(({ author }) => author))];
  const shared = world.open({
    id: '600000000000000001',
    name: 'household',
    kind: 'text',
    guildId: homeGuild,
    door: 'everyone',
  });
  const room = world.open({
    id: '600000000000000002',
    name: 'residents',
    kind: 'text',
    guildId: homeGuild,
    door: ['staff'],
  });
  const people = new Map(
    names.map((name, index) => {
      const id = String(500000000000000001n + BigInt(index));
      // Every other one is a resident.
      const roles = new Set([...Object.values(accessRoles), ...(index % 2 === 0 ? ['staff'] : [])]);
      world.people.push({ id, name, roles, guildIds: new Set([homeGuild]), accessChangedAt: 0 });
      const dm = world.open({
        id: String(600000000000000101n + BigInt(index)),
        name: '',
        kind: 'dm',
        personId: id,
      });
      return [name, { id, dm, places: [shared, dm, ...(roles.has('staff') ? [room] : [])] }];
    }),
  );
  const said = new Map<string, Said>();
  const tally = { asked: 0, mayKnow: 0, given: 0, mustNotKnow: 0, leaked: 0, deleted: 0, stillGiven: 0 };

  async function turn(personId: string, channel: WorldChannel, text: string): Promise<WorldMessage> {
    const message = world.write(channel.id, personId, channel.kind === 'dm' ? text : `<@${botId}> ${text}`);
    const handled = bot.message(message, true).then(() => bot.idle());
    if (!(await clock.runUntilSettled(handled, patienceMs))) throw new Error(`No answer to: ${text}`);
    await clock.run(pauseMs);
    return message;
  }

  /** What the model is given for a question. */
  async function given(asker: string, channel: WorldChannel, text: string): Promise<string> {
    seen = '';
    question = text;
    await turn(people.get(asker)?.id ?? '', channel, text);
    question = undefined;
    tally.asked += 1;
    return seen;
  }

  async function ask(
    { asker, text, gold }: Household['questions'][number],
    channel: WorldChannel,
  ): Promise<void> {
    const id = people.get(asker)?.id ?? '';
    const here = world.placeOf(channel.id);
    const prompt = await given(asker, channel, text);
    const standing = new Set(world.standing(channel.id, windowMessages));
    const mayKnow = (each: Said): boolean =>
      mayBeTold({ ownerId: each.ownerId, places: [each.place], scope: 'as-said' }, id, here);
    const partsOf = gold.map((some) => some.flatMap((one) => said.get(one) ?? []));
    for (const part of partsOf) {
      const own = part.filter(mayKnow);
      if (own.length > 0) tally.mayKnow += 1;
      if (own.some(({ mark }) => prompt.includes(mark))) tally.given += 1;
    }
    for (const each of new Set(partsOf.flat())) {
      // What stands in the channel is read by all who are there.
      if (mayKnow(each) || standing.has(each.message)) continue;
      tally.mustNotKnow += 1;
      if (prompt.includes(each.mark)) tally.leaked += 1;
    }
  }

  try {
    if (
      !(await clock.runUntilSettled(
        bot.start({ DISCOCLAW_RATE_PER_MINUTE: '0', DISCOCLAW_SHORTTERM_MEMORY_ENABLED: 'true' }),
        patienceMs,
      ))
    )
      throw new Error('The bot did not start');
    for (const [index, { id, author, text }] of messages.entries()) {
      const person = people.get(author);
      const channel = person?.places[index % person.places.length];
      if (person === undefined || channel === undefined) continue;
      const mark = wordOf(index + 1);
      const message = await turn(person.id, channel, `${text} ${mark}`);
      said.set(id, { ownerId: person.id, place: world.placeOf(channel.id), message, mark });
      for (const asked of questions.filter(({ upTo }) => upTo === index + 1))
        for (const place of people.get(asked.asker)?.places ?? []) await ask(asked, place);
    }
    const gone = new Set(questions.flatMap(({ gold }) => gold.flat()).flatMap((id) => said.get(id) ?? []));
    for (const { message } of gone) {
      message.isDeleted = true;
      await clock.runUntilSettled(
        bot.deleted(message.channelId, [message.id]).then(() => bot.idle()),
        patienceMs,
      );
    }
    for (const { asker, text } of questions)
      for (const place of people.get(asker)?.places ?? []) {
        const prompt = await given(asker, place, text);
        tally.deleted += gone.size;
        tally.stillGiven += [...gone].filter(({ mark }) => prompt.includes(mark)).length;
      }
    return tally;
  } finally {
    bot.kill();
    processes.restore();
    clock.uninstall();
  }
}

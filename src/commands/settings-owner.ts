import type { ServerPort } from '../core/channels.ts';
import type { CommandContext, CommandReply } from '../core/commands.ts';
import { dataLine } from '../core/section.ts';
import { isSnowflake } from '../core/snowflake.ts';
import { clipAtWord, nearestNames } from '../core/text.ts';
import {
  askers,
  withRequest,
  type BotSettings,
  type BotSettingsDocument,
} from '../memory/settings/bot-settings.ts';
import { linesOf } from './answer-lines.ts';

/** `/settings access` as data [G1]. */
export const accessSubcommand = {
  description: 'Who may talk with me: show it, let people in, take that back (for my owner)',
  isAnywhere: true,
  options: {
    change: {
      kind: 'choice',
      description: 'What to change; without it, I show who may talk with me',
      choices: [
        { name: 'let in', value: 'add' },
        { name: 'take back', value: 'remove' },
        { name: 'not now: do not ask my owner about this person', value: 'not-now' },
      ],
      isOptional: true,
    },
    who: { kind: 'who', description: 'A person or a role', isOptional: true },
  },
} as const;

export interface AccessPorts {
  readonly botSettings: BotSettings;
  readonly server: Pick<ServerPort, 'role' | 'titleOf'>;
  /** What the environment says. */
  readonly configured: {
    readonly access: 'allowlist' | 'everyone';
    /** Mentions; empty until the bot is connected. */
    readonly owners: readonly string[];
    /** Mentions of people and roles. */
    readonly letIn: readonly string[];
  };
}

type Change = (typeof accessSubcommand.options.change.choices)[number]['value'];

export async function answerAccess(
  { change, who = '' }: { readonly change?: Change | undefined; readonly who?: string | undefined },
  context: CommandContext,
  ports: AccessPorts,
): Promise<CommandReply> {
  const { botSettings, server } = ports;
  if (!context.speaker.isOwner) return { text: 'Only my owner can change who may talk with me.' };
  if (change === undefined) return { text: linesOf(accessLines(await botSettings.read(), ports)) };
  const named = mentionOf(who, context, server);
  if (named === undefined) return { text: unknownWho };
  const title = dataLine(server.titleOf(named));
  switch (change) {
    case 'add': {
      await botSettings.change((before) => ({
        ...before,
        letIn: [...new Set([...before.letIn, named])],
      }));
      const where = named.startsWith('<@&') ? 'in this server and in direct messages' : 'everywhere';
      return { text: `Done: ${title} may talk with me ${where}.` };
    }
    case 'not-now':
      // The day stays: who was refused still counts among those asked about on it.
      await botSettings.change((before) =>
        withRequest(before, named, { ...before.requests[named], state: 'refused' }),
      );
      return {
        text: `Done: I will not ask about ${title} again. \`!settings access remove\` with them changes that.`,
      };
    case 'remove':
      return remove(named, title, ports);
  }
}

/** A name may look like anything, so of what is written only mentions, ids and names of roles count. */
function mentionOf(
  text: string,
  { place: { guildId = '' }, mentions: [mentioned, ...others] = [] }: CommandContext,
  server: AccessPorts['server'],
): string | undefined {
  if (others.length > 0) return undefined;
  const reference = mentioned ?? text;
  const { sign, id = reference } = /^<@(?<sign>[!&]?)(?<id>\d+)>$/u.exec(reference)?.groups ?? {};
  const role = sign === undefined || sign === '&' ? server.role(guildId, id) : undefined;
  // A role may be called like somebody's id.
  if (role !== undefined && (role.id === id || !isSnowflake(id))) return `<@&${role.id}>`;
  return sign !== '&' && isSnowflake(id) ? `<@${id}>` : undefined;
}

/** Takes back that a command let somebody in, else that an owner refused them. */
async function remove(
  named: string,
  title: string,
  { botSettings, configured }: AccessPorts,
): Promise<CommandReply> {
  const { letIn, requests } = await botSettings.read();
  const wasAdded = letIn.includes(named);
  const hadRequest = !wasAdded && requests[named] !== undefined;
  await botSettings.change((before) => ({
    ...(hadRequest ? withRequest(before, named, undefined) : before),
    letIn: before.letIn.filter((each) => each !== named),
  }));
  if ([...configured.owners, ...configured.letIn].includes(named))
    return { text: `${title} is let in by my configuration, which nothing here changes.` };
  if (wasAdded) return { text: `Done: ${title} is no longer let in by a command.` };
  if (hadRequest) return { text: `Done: I may ask about ${title} again.` };
  return { text: `${title} was not let in by a command, so nothing was changed.` };
}

function accessLines(
  settings: BotSettingsDocument,
  { configured: { access, owners, letIn }, server }: AccessPorts,
): readonly string[] {
  const listed = (mentions: readonly string[]): string =>
    mentions.map((each) => dataLine(server.titleOf(each))).join(', ') || 'nobody';
  return [
    `Who may talk with me (\`DISCOCLAW_ACCESS=${access}\`):`,
    `- my owners: ${listed(owners)}`,
    `- by configuration, which nothing here changes: ${access === 'everyone' ? 'everybody' : listed(letIn)}`,
    `- let in by a command: ${listed(settings.letIn)}`,
    `- asked, and not answered yet: ${listed([...askers(settings, 'asked'), ...askers(settings, 'waiting')])}`,
    `- not now: ${listed(askers(settings, 'refused'))}`,
  ];
}

const unknownWho =
  'I do not know who that is. Name one person or role by a mention or an id; roles only in their own server.';

/** `/settings model` as data [M10]. */
export const modelSubcommand = {
  description: "The model that answers: show my server's models, choose one (for my owner)",
  isAnywhere: true,
  options: {
    name: {
      kind: 'word',
      description: 'A model of my server, or default for the configured one',
      isOptional: true,
    },
  },
} as const;

export interface ModelChoice {
  readonly configured: string;
  /** There is only the offline stand-in. */
  readonly isOffline: boolean;
  /** Never rejects. */
  readonly current: () => Promise<string>;
  /** The ids of the models that the server lists. Never rejects. */
  readonly list: () => Promise<readonly string[]>;
  /** The id that a name stands for. */
  readonly idOf: (name: string) => string;
  /** What to do before it can be chosen, if anything [L2]. */
  readonly problemWith: (name: string) => string | undefined;
  /** `undefined` for the configured one. Rejects with `StoreError`. */
  readonly choose: (name: string | undefined) => Promise<void>;
}

const listMaxChars = 1500;

/** For the bot's owner, anywhere: what is chosen answers from the next turn on. */
export async function answerModel(
  name: string | undefined,
  { speaker }: CommandContext,
  modelChoice: ModelChoice,
): Promise<CommandReply> {
  const { configured, idOf } = modelChoice;
  if (!speaker.isOwner) return { text: 'Only my owner can choose the model that answers.' };
  if (modelChoice.isOffline) return { text: 'I have no language model yet: `npm run setup` sets one up.' };
  if (name?.toLowerCase() === 'default') {
    await modelChoice.choose(undefined);
    return { text: `Done: I answer with ${dataLine(configured)} again, as configured.` };
  }
  const ids = await modelChoice.list();
  if (name === undefined) {
    const current = await modelChoice.current();
    const origin = current === configured ? 'as configured' : `configured is ${dataLine(configured)}`;
    return {
      text: linesOf(
        `I answer with ${dataLine(current)} (${origin}).`,
        ids.length === 0
          ? noList
          : `My model's server has: ${clipAtWord(ids.map(dataLine).join(', '), listMaxChars)}`,
        'Choose one with `!settings model <name>`; `default` goes back to the configured one.',
      ),
    };
  }
  if (ids.length > 0 && !ids.includes(idOf(name)))
    return {
      text: `My model's server has no ${dataLine(name)}, so nothing was changed. Did you mean ${dataLine(nearestNames(name, ids))}?`,
    };
  const problem = modelChoice.problemWith(name);
  if (problem !== undefined) return { text: `Nothing was changed: ${dataLine(problem)}.` };
  await modelChoice.choose(name);
  return {
    text: linesOf(
      `Done: from the next message on I answer with ${dataLine(name)}, everywhere. Summaries and notes keep their model.`,
      ids.length === 0 && `${noList} So I could not check the name.`,
    ),
  };
}

const noList = "My model's server gives me no list of its models.";

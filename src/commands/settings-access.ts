import type { ServerPort } from '../core/channels.ts';
import type { CommandContext, CommandReply } from '../core/commands.ts';
import { isSnowflake } from '../core/snowflake.ts';
import { dataLine } from '../core/section.ts';
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
  misuse: '`access` takes `add` or `remove` with a person or role, or `not-now` with a person.',
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

import type { ServerPort } from '../core/chat.ts';
import type { CommandContext, CommandReply } from '../core/commands.ts';
import { isSnowflake } from '../core/snowflake.ts';
import { dataLine } from '../core/section.ts';
import {
  askers,
  letInOf,
  withLetIn,
  withRequest,
  type BotSettings,
  type BotSettingsDocument,
} from '../memory/settings/bot-settings.ts';
import { linesOf } from './answer-lines.ts';

/** `/settings access` as data [G1]. */
export const accessSubcommand = {
  description: 'Who may talk with me: show it, let people in, take that back',
  isAnywhere: true,
  options: {
    change: {
      kind: 'choice',
      description: 'What to change; without it, I show who may talk with me',
      choices: [
        { name: 'let in', value: 'add' },
        { name: 'take back', value: 'remove' },
        { name: 'not now: do not ask my owner about this person', value: 'not-now' },
        { name: 'those who manage this server may let people in here', value: 'allow-managers' },
        { name: 'they may not, and whom they let in goes', value: 'stop-managers' },
      ],
      isOptional: true,
    },
    who: { kind: 'who', description: 'A person or a role', isOptional: true },
  },
  misuse:
    '`access` takes `add` or `remove` with a person or role, `not-now` with a person, `allow-managers` or `stop-managers`.',
} as const;

export interface AccessPorts {
  readonly botSettings: BotSettings;
  readonly server: Pick<ServerPort, 'role' | 'titleOf'>;
  /** What the environment says. */
  readonly configured: {
    readonly access: 'allowlist' | 'servers' | 'everyone';
    /** Mentions; empty until the bot is connected. */
    readonly owners: () => readonly string[];
    /** Mentions of people and roles. */
    readonly letIn: readonly string[];
  };
}

type Change = (typeof accessSubcommand.options.change.choices)[number]['value'];

const ownersChanges = new Set<Change | undefined>(['not-now', 'allow-managers', 'stop-managers']);

/** For owners everywhere; for those who manage a server, about that server once an owner said yes to it. */
export async function answerAccess(
  { change, who = '' }: { readonly change?: Change | undefined; readonly who?: string | undefined },
  context: CommandContext,
  ports: AccessPorts,
): Promise<CommandReply> {
  const { botSettings, configured, server } = ports;
  const { isOwner } = context.speaker;
  const { guildId } = context.place;
  if (!isOwner && (configured.access !== 'servers' || ownersChanges.has(change))) return { text: ownersOnly };
  const settings = await botSettings.read();
  if (!isOwner && settings.servers[guildId ?? ''] === undefined) return { text: notYet };
  if (change === undefined)
    return { text: linesOf(isOwner ? allLines(settings, ports) : serverLine(settings, guildId, ports)) };
  if (change === 'allow-managers' || change === 'stop-managers') {
    if (guildId === undefined) return { text: 'Tell me that in the server that it is about.' };
    if (change === 'stop-managers') {
      await botSettings.forgetServer(guildId);
      return { text: managersStopped };
    }
    await botSettings.change((before) => ({ ...before, servers: { [guildId]: [], ...before.servers } }));
    return { text: linesOf(managersAllowed, configured.access !== 'servers' && managersUnused) };
  }
  const named = mentionOf(who, context, server);
  if (named === undefined) return { text: unknownWho };
  if (change === 'remove') return remove(named, settings, context, ports);
  const title = dataLine(server.titleOf(named));
  if (change === 'not-now') {
    // The day stays: who was refused still counts among those asked about on it.
    await botSettings.change((before) =>
      withRequest(before, named, { ...before.requests[named], state: 'refused' }),
    );
    return {
      text: `Done: I will not ask about ${title} again. \`!settings access remove\` with them changes that.`,
    };
  }
  const scope = isOwner ? undefined : guildId;
  await botSettings.change((before) =>
    withLetIn(before, scope, [...new Set([...letInOf(before, scope), named])]),
  );
  const where = isOwner && !named.startsWith('<@&') ? 'everywhere' : 'in this server and in direct messages';
  return { text: `Done: ${title} may talk with me ${where}.` };
}

/** A name may look like anything, so of what is written only mentions, ids and names of roles count. */
function mentionOf(
  text: string,
  { place: { guildId = '' }, mentions: [mentioned, ...others] = [] }: CommandContext,
  server: AccessPorts['server'],
): string | undefined {
  if (others.length > 0) return undefined;
  const said = mentioned ?? text;
  const { sign, id = said } = /^<@(?<sign>[!&]?)(?<id>\d+)>$/u.exec(said)?.groups ?? {};
  const role = sign === undefined || sign === '&' ? server.role(guildId, id) : undefined;
  // A role may be called like somebody's id.
  if (role !== undefined && (role.id === id || !isSnowflake(id))) return `<@&${role.id}>`;
  return sign !== '&' && isSnowflake(id) ? `<@${id}>` : undefined;
}

/** An owner takes back everything that commands gave, in all servers. */
async function remove(
  named: string,
  settings: BotSettingsDocument,
  { speaker: { isOwner }, place: { guildId } }: CommandContext,
  { botSettings, configured, server }: AccessPorts,
): Promise<CommandReply> {
  const title = dataLine(server.titleOf(named));
  const scopes = isOwner ? [undefined, ...Object.keys(settings.servers)] : [guildId];
  const wasAdded = scopes.some((scope) => letInOf(settings, scope).includes(named));
  const wasAsked = isOwner && !wasAdded && settings.requests[named] !== undefined;
  const without = (before: BotSettingsDocument, scope: string | undefined) =>
    withLetIn(
      before,
      scope,
      letInOf(before, scope).filter((each) => each !== named),
    );
  await botSettings.change((before) =>
    scopes.reduce(without, wasAsked ? withRequest(before, named, undefined) : before),
  );
  if ([...configured.owners(), ...configured.letIn].includes(named))
    return { text: `${title} is let in by my configuration, which nothing here changes.` };
  if (wasAdded) return { text: `Done: ${title} is no longer let in by a command.` };
  if (wasAsked) return { text: `Done: I may ask about ${title} again.` };
  return { text: `${title} was not let in by a command, so nothing was changed.` };
}

function allLines(settings: BotSettingsDocument, ports: AccessPorts): readonly string[] {
  const { access, owners, letIn } = ports.configured;
  const listed = (mentions: readonly string[]) => titlesOf(mentions, ports);
  return [
    `Who may talk with me (\`DISCOCLAW_ACCESS=${access}\`):`,
    `- my owners: ${listed(owners())}`,
    `- by configuration, which nothing here changes: ${access === 'everyone' ? 'everybody' : listed(letIn)}`,
    `- let in by a command: ${listed(settings.letIn)}`,
    ...Object.keys(settings.servers).map((guildId) => serverLine(settings, guildId, ports)),
    `- asked, and not answered yet: ${listed([...askers(settings, 'asked'), ...askers(settings, 'waiting')])}`,
    `- not now: ${listed(askers(settings, 'refused'))}`,
  ];
}

function serverLine(settings: BotSettingsDocument, guildId = '', ports: AccessPorts): string {
  const unused = ports.configured.access === 'servers' ? '' : ', unused without `DISCOCLAW_ACCESS=servers`';
  const title = dataLine(ports.server.titleOf(guildId));
  return `- let in by those who manage ${title}${unused}: ${titlesOf(letInOf(settings, guildId), ports)}`;
}

function titlesOf(mentions: readonly string[], { server }: AccessPorts): string {
  return mentions.map((each) => dataLine(server.titleOf(each))).join(', ') || 'nobody';
}

const ownersOnly = 'Only my owner can change who may talk with me.';
const notYet =
  'My owner has not said yet that people who manage this server may let others in. `/settings access allow-managers`, given here by my owner, says so.';
const unknownWho =
  'I do not know who that is. Name one person or role by a mention or an id; roles only in their own server.';
const managersAllowed =
  'Done: people who manage this server may let people and roles in here, with `/settings access add`. `@everyone` lets in the whole server.';
const managersUnused = 'That counts only with `DISCOCLAW_ACCESS=servers`, which is not set.';
const managersStopped =
  'Done: people who manage this server let nobody in any more, and those whom they had let in no longer are.';

import type { ServerPort } from '../core/chat.ts';
import type { CommandContext, CommandReply } from '../core/commands.ts';
import { isSnowflake } from '../core/snowflake.ts';
import { dataLine } from '../core/section.ts';
import {
  isAdded,
  withAccess,
  withRequest,
  type BotSettings,
  type BotSettingsDocument,
  type LetIn,
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
  readonly server: Pick<ServerPort, 'role' | 'roleTitle' | 'title'>;
  /** What the environment says. */
  readonly configured: {
    readonly access: 'allowlist' | 'servers' | 'everyone';
    /** Empty until the bot is connected. */
    readonly ownerIds: () => readonly string[];
    readonly allowedUserIds: readonly string[];
    readonly allowedRoleIds: readonly string[];
  };
}

interface AccessInput {
  readonly change?: (typeof accessSubcommand.options.change.choices)[number]['value'] | undefined;
  readonly who?: string | undefined;
}

/** For owners everywhere; for those who manage a server, about that server once an owner said yes to it. */
export async function answerAccess(
  { change, who }: AccessInput,
  context: CommandContext,
  ports: AccessPorts,
): Promise<CommandReply> {
  const { botSettings, configured } = ports;
  const { isOwner } = context.speaker;
  const { guildId } = context.place;
  const settings = await botSettings.read();
  const isOpen = guildId !== undefined && settings.servers[guildId] !== undefined;
  if (!isOwner && configured.access !== 'servers') return { text: ownersOnly };
  if (!isOwner && !isOpen) return { text: notYet };
  switch (change) {
    case undefined:
      return { text: linesOf(isOwner ? allLines(settings, ports) : serverLines(settings, guildId, ports)) };
    case 'allow-managers':
    case 'stop-managers': {
      if (!isOwner) return { text: ownersOnly };
      if (guildId === undefined) return { text: 'Tell me that in the server that it is about.' };
      if (change === 'stop-managers') {
        await botSettings.forgetServer(guildId);
        return { text: managersStopped };
      }
      await botSettings.change((before) => ({
        ...before,
        servers: { [guildId]: { userIds: [], roleIds: [] }, ...before.servers },
      }));
      return { text: linesOf(managersAllowed, configured.access !== 'servers' && managersUnused) };
    }
    case 'add':
    case 'remove':
    case 'not-now': {
      const named = namedBy(who ?? '', context, ports.server);
      if (named === undefined) return { text: unknownWho };
      return change === 'add'
        ? add(named, context, ports)
        : change === 'remove'
          ? remove(named, settings, context, ports)
          : refuse(named, context, ports);
    }
  }
}

/** A person or a role. */
interface Named {
  readonly list: keyof LetIn;
  readonly id: string;
}

/** A name may look like anything, so of what is written only mentions, ids and names of roles count. */
function namedBy(
  text: string,
  { place: { guildId = '' }, mentions = [] }: CommandContext,
  server: AccessPorts['server'],
): Named | undefined {
  const said = mentions.length === 0 ? text : mentions.length === 1 ? (mentions[0] ?? '') : '';
  const { sign, id = said } = /^<@(?<sign>[!&]?)(?<id>\d+)>$/u.exec(said)?.groups ?? {};
  const role = sign === undefined || sign === '&' ? server.role(guildId, id) : undefined;
  // A role may be called like somebody's id.
  if (role !== undefined && (role.id === id || !isSnowflake(id))) return { list: 'roleIds', id: role.id };
  return sign !== '&' && isSnowflake(id) ? { list: 'userIds', id } : undefined;
}

async function add(named: Named, { speaker: { isOwner }, place }: CommandContext, ports: AccessPorts) {
  const { list, id } = named;
  await ports.botSettings.change((before) =>
    withAccess(before, isOwner ? undefined : place.guildId, list, (ids) => [...new Set([...ids, id])]),
  );
  const where = isOwner && list === 'userIds' ? 'everywhere' : 'in this server and in direct messages';
  return { text: `Done: ${titleOf(named, ports)} may talk with me ${where}.` };
}

/** An owner takes back everything that commands gave, in all servers. */
async function remove(
  named: Named,
  settings: BotSettingsDocument,
  { speaker: { isOwner }, place: { guildId } }: CommandContext,
  ports: AccessPorts,
): Promise<CommandReply> {
  const { list, id } = named;
  const { ownerIds, allowedUserIds, allowedRoleIds } = ports.configured;
  const title = titleOf(named, ports);
  const scopes = isOwner ? [undefined, ...Object.keys(settings.servers)] : [guildId];
  const wasAdded = scopes.some((scope) => isAdded(settings, scope, list, id));
  const wasAsked = isOwner && !wasAdded && settings.requests[id] !== undefined;
  await ports.botSettings.change((before) => {
    const after = scopes.reduce(
      (each, scope) => withAccess(each, scope, list, (ids) => ids.filter((one) => one !== id)),
      before,
    );
    return wasAsked ? withRequest(after, id, undefined) : after;
  });
  const isConfigured = [...ownerIds(), ...allowedUserIds, ...allowedRoleIds].includes(id);
  return {
    text: linesOf(
      wasAdded && `Done: ${title} is no longer let in by a command.`,
      wasAsked && `Done: I may ask about ${title} again.`,
      isConfigured && `${title} is let in by my configuration, which nothing here changes.`,
      !wasAdded &&
        !wasAsked &&
        !isConfigured &&
        `${title} was not let in by a command, so nothing was changed.`,
    ),
  };
}

async function refuse(named: Named, { speaker }: CommandContext, ports: AccessPorts) {
  if (!speaker.isOwner) return { text: ownersOnly };
  if (named.list === 'roleIds') return { text: unknownWho };
  await ports.botSettings.change((before) => withRequest(before, named.id, { state: 'refused' }));
  const again = `\`!settings access remove ${named.id}\` changes that.`;
  return { text: `Done: I will not ask you about ${titleOf(named, ports)} again. ${again}` };
}

function titleOf({ list, id }: Named, { server }: AccessPorts): string {
  return list === 'userIds' ? `<@${id}>` : dataLine(server.roleTitle(id));
}

function allLines(settings: BotSettingsDocument, ports: AccessPorts): readonly string[] {
  const { access, ownerIds, allowedUserIds, allowedRoleIds } = ports.configured;
  const asked = (state: string) =>
    Object.entries(settings.requests).flatMap(([id, request]) =>
      request.state === state && !isAdded(settings, undefined, 'userIds', id) ? [id] : [],
    );
  const people = (userIds: readonly string[]) => listed({ userIds, roleIds: [] }, ports);
  const inConfiguration = { userIds: allowedUserIds, roleIds: allowedRoleIds };
  return [
    `Who may talk with me (\`DISCOCLAW_ACCESS=${access}\`):`,
    `- my owners: ${people(ownerIds())}`,
    `- by configuration, which nothing here changes: ${access === 'everyone' ? 'everybody' : listed(inConfiguration, ports)}`,
    `- let in by a command: ${listed(settings, ports)}`,
    ...Object.keys(settings.servers).flatMap((guildId) => serverLines(settings, guildId, ports)),
    `- asked, and not answered yet: ${people([...asked('asked'), ...asked('waiting')])}`,
    `- not now: ${people(asked('refused'))}`,
  ];
}

function serverLines({ servers }: BotSettingsDocument, guildId = '', ports: AccessPorts): readonly string[] {
  const title = dataLine(ports.server.title(guildId));
  const unused = ports.configured.access === 'servers' ? '' : ', unused without `DISCOCLAW_ACCESS=servers`';
  return [`- let in by those who manage ${title}${unused}: ${listed(servers[guildId], ports)}`];
}

function listed({ userIds, roleIds }: LetIn = { userIds: [], roleIds: [] }, ports: AccessPorts): string {
  const people = userIds.map((id) => titleOf({ list: 'userIds', id }, ports));
  const roles = roleIds.map((id) => titleOf({ list: 'roleIds', id }, ports));
  return [...people, ...roles].join(', ') || 'nobody';
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

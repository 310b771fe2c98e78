import { conditionOf } from '../core/errors.ts';
import {
  inputOf,
  type ModelLimits,
  type ModelState,
  type OpenCalls,
  type PeriodUsage,
  type RefusedFeature,
  type Unwritten,
  type UsageReport,
  type UsageSum,
} from '../core/model.ts';
import type { CommandContext, StatusFact } from '../core/commands.ts';
import type { Shards } from '../core/processes.ts';
import type { LastWrite } from '../core/store.ts';
import { amount, clip, dollars, toSingleLine } from '../core/text.ts';
import { counted, linesOf, linkReply, present } from './answer-lines.ts';
import { defineCommand, forAskerOnly, type Command } from './command.ts';

/** `!status` and `/status` as data. */
export const statusDefinition = {
  name: 'status',
  description: 'My status: model, queues, cost of today and this month, storage (for my owner)',
  ownerOnly: 'Only my owner can see my status.',
  options: {
    page: {
      kind: 'choice',
      description: 'Get a link to a page with charts of turns, tokens, cost and errors over time',
      choices: [{ name: 'link', value: 'page', aliases: ['link'] }],
      isOptional: true,
    },
  },
} as const;

/** `!status` and `/status`, for the bot's owner. */
export function createStatusCommand(
  readStatus: () => Promise<StatusFacts>,
  pageLink: (owner: CommandContext['speaker']) => Promise<string | undefined>,
): Command {
  return defineCommand(statusDefinition, {
    async handle({ page }, { speaker, place, ephemeral }) {
      if (page !== undefined && !ephemeral && place.audience !== 'dm')
        return { text: forAskerOnly('status page:link') };
      if (page !== undefined)
        return linkReply(await pageLink(speaker), 'my status', '`/status` shows it here');
      const facts = await readStatus();
      // The page names nobody.
      const shown = shownFacts({ ...facts, letIn: [], askers: [] });
      const text = statusText(facts);
      return { text, data: { kind: 'status', facts: shown, usage: facts.usage } };
    },
  });
}

/** Counts only. What is absent is not known, cannot be read, or need not be said. */
export interface StatusFacts {
  readonly version: string;
  /** Milliseconds since the start. */
  readonly upMs: number;
  readonly now: Date;
  /** Names as configured; absent where only the offline stand-in speaks. */
  readonly models?: { readonly main: string; readonly fast: string };
  readonly modelState: ModelState;
  /** What its server told of the main model, and what prompts have no room for since [M13]. */
  readonly modelLimits?: ModelLimits | undefined;
  readonly noRoomFor?: readonly string[] | undefined;
  /** What the model's server was found to refuse [M9]. */
  readonly refused?: readonly RefusedFeature[] | undefined;
  /** Milliseconds to the gateway and back. */
  readonly pingMs?: number | undefined;
  /** Whether Discord gives the bot the words of every message. */
  readonly readsContent?: boolean;
  readonly turns: { readonly running: number; readonly waiting: number };
  readonly servers?: number;
  /** Of this process, where there are several. */
  readonly shards?: Shards;
  /** Mentions of people, and roles with their servers, as they stand in an answer [G1]. */
  readonly letIn?: readonly string[] | undefined;
  /** Mentions of people who wait to be let in, as an owner could not be asked yet. */
  readonly askers?: readonly string[] | undefined;
  /** Messages to the bot from people without access, since the start. */
  readonly lockedOut?: number | undefined;
  /** Jobs that run or wait: work after turns, and writes. */
  readonly afterTurn: number;
  /** What background work could not write, once for each conversation or person [M16]. */
  readonly unwritten?: readonly Unwritten[] | undefined;
  readonly writes: number;
  readonly modelCalls: OpenCalls;
  /** The day of the price list that costs go by. */
  readonly pricesOf: string;
  readonly lastWrite?: LastWrite | undefined;
  readonly usage?: UsageReport | undefined;
  readonly kept?:
    | { readonly sessions: number; readonly users: number; readonly files: number; readonly bytes: number }
    | undefined;
  readonly quarantined?: readonly string[] | undefined;
}

const unreadable = 'cannot be read right now';

/** Of a model's name. */
const nameChars = 60;

function statusText(facts: StatusFacts): string {
  const { usage, pricesOf } = facts;
  return linesOf(
    shownFacts(facts).map(({ title, text }) => `${title}: ${text}`),
    usage === undefined
      ? `Today: ${unreadable}`
      : [
          ...usageLines('Today', usage.today, ` at prices of ${pricesOf}`),
          ...usageLines('This month', usage.month, ''),
        ],
  );
}

function shownFacts(facts: StatusFacts): readonly StatusFact[] {
  const { version, upMs, turns, afterTurn, writes, modelCalls, modelState, readsContent } = facts;
  const { kept, lastWrite, quarantined = [] } = facts;
  return [
    { title: `Discoclaw ${version}`, text: `up ${duration(upMs)}` },
    { title: 'Model', text: modelLine(facts), isBad: modelState.kind === 'unreachable' },
    ...unwrittenFacts(facts),
    { title: 'Gateway', text: gatewayLine(facts), isBad: readsContent === false },
    {
      title: 'Turns',
      text: `${turns.running} running, ${turns.waiting} waiting · model calls: ${modelCalls.running} running, ${modelCalls.waiting} waiting · after turns: ${afterTurn} · writes: ${writes}`,
    },
    { title: 'Memory', text: keptLine(facts), isBad: kept === undefined },
    { title: 'Store', text: storeLine(facts), isBad: lastWrite?.isOk === false || quarantined.length > 0 },
  ];
}

function modelLine({
  models,
  modelState,
  modelLimits = {},
  noRoomFor = [],
  refused = [],
  now,
}: StatusFacts): string {
  if (models === undefined) return 'the offline stand-in, which is not a language model';
  const names = `${shownName(models.main)} (fast: ${shownName(models.fast)})`;
  const reach =
    modelState.kind === 'reachable'
      ? 'reachable'
      : `${conditionOf(modelState.failure)} for ${duration(now.getTime() - modelState.since.getTime())}`;
  const leftMs = modelState.kind === 'reachable' ? 0 : Number(modelState.until ?? now) - now.getTime();
  const lacking = refused.map(({ feature, model }) => `${feature} (${shownName(model)})`);
  const parts = [`${names}, ${reach}${leftMs > 0 ? `, and for ${duration(leftMs)} more` : ''}`];
  if (lacking.length > 0) parts.push(`left out, as its server refuses it: ${lacking.join(', ')}`);
  const { contextTokens, cutsAt } = modelLimits;
  const without = noRoomFor.length === 0 ? 'less memory fits' : `no room for ${noRoomFor.join(', ')}`;
  if (contextTokens !== undefined) parts.push(`its context holds ${contextTokens} tokens: ${without}`);
  if (cutsAt !== undefined)
    parts.push(
      `its server seems to cut prompts at ${cutsAt} tokens in silence: give it a larger context (Ollama: \`OLLAMA_CONTEXT_LENGTH\`), or set \`DISCOCLAW_CONTEXT_TOKENS\``,
    );
  return parts.join(' · ');
}

/** One part for each kind of work and reason, by what was not done first. */
function unwrittenFacts({ unwritten = [], now }: StatusFacts): readonly StatusFact[] {
  const newestFirst = unwritten.toSorted((a, b) => b.since.getTime() - a.since.getTime());
  const parts = new Map(
    newestFirst.map(({ purpose, model, failure, since }) => {
      const why = `(${shownName(model)} is ${conditionOf(failure)})`;
      return [purpose + why, `${purpose} for ${duration(now.getTime() - since.getTime())} ${why}`];
    }),
  );
  const text = [...parts.values()].join(' · ');
  return text === '' ? [] : [{ title: 'Not written', text, isBad: true }];
}

function gatewayLine(facts: StatusFacts): string {
  const { pingMs, readsContent, lockedOut = 0, servers, letIn = [], askers = [], shards } = facts;
  return present(
    pingMs === undefined ? 'ping not known yet' : `${Math.round(pingMs)} ms`,
    servers !== undefined && counted(servers, 'server'),
    letIn.length > 0 && `lets in ${letIn.join(', ')}`,
    shards && `${shards.ids.length} of ${counted(shards.count, 'shard')}`,
    readsContent === false &&
      '⚠️ without Message Content: only direct messages, mentions of me, replies to me, and commands',
    askers.length > 0 && `waiting to be let in: ${askers.join(', ')}`,
    lockedOut > 0 && `${counted(lockedOut, 'message')} from people without access`,
  ).join(' · ');
}

function usageLines(
  title: string,
  { period, all, byModel, byPurpose, turns, errors }: PeriodUsage,
  prices: string,
): readonly string[] {
  const input = inputOf(all);
  const share = (tokens: number): string => `${input === 0 ? 0 : Math.round((100 * tokens) / input)}%`;
  const shares = `${share(all.cacheReadTokens)} from the cache, ${share(all.cacheWriteTokens)} written to it`;
  const line = present(
    `${title} (${period}): ${counted(all.calls, 'model call')}`,
    `${amount(input)} input tokens, ${shares}, ${share(all.inputTokens)} plain`,
    `${amount(all.outputTokens)} output tokens`,
    costText(all, byModel, prices),
  ).join(' · ');
  return [
    line,
    ...partLines('model', byModel),
    ...partLines('purpose', byPurpose),
    ...countLines('turns', turns),
    ...countLines('errors', errors),
  ];
}

function countLines(what: string, counts: Readonly<Record<string, number>>): readonly string[] {
  const texts = Object.entries(counts).map(([name, times]) => `${amount(times)} ${shownName(name)}`);
  return texts.length === 0 ? [] : [`- ${what}: ${texts.join(' · ')}`];
}

/** What each kind of call used, the dearest first. */
function partLines(kind: 'model' | 'purpose', parts: Readonly<Record<string, UsageSum>>): readonly string[] {
  const sorted = Object.entries(parts).toSorted(([, a], [, b]) => b.cost - a.cost || inputOf(b) - inputOf(a));
  if (sorted.length === 0) return [];
  const texts = sorted.map(([name, used]) => {
    const cost = used.isUnpriced && used.cost === 0 ? 'cost not known' : dollars(used.cost);
    return `${shownName(name)} ${amount(inputOf(used))} in, ${amount(used.outputTokens)} out, ${cost}`;
  });
  return [`- by ${kind}: ${texts.join(' · ')}`];
}

/** What an answer to a person is called among the purposes. */
function shownName(name: string): string {
  return name === 'chat' ? 'turn' : clip(toSingleLine(name), nameChars);
}

function costText(
  { cost, calls }: UsageSum,
  byModel: Readonly<Record<string, UsageSum>>,
  prices: string,
): string {
  const unpriced = Object.entries(byModel).flatMap(([name, used]) =>
    used.isUnpriced ? [shownName(name)] : [],
  );
  const names = unpriced.join(', ');
  if (calls > 0 && cost === 0 && unpriced.length > 0) return `cost not known (${names})`;
  return unpriced.length === 0 ? dollars(cost) + prices : `${dollars(cost)}${prices}, without ${names}`;
}

function keptLine({ kept }: StatusFacts): string {
  if (kept === undefined) return unreadable;
  const megabytes = (kept.bytes / 1_000_000).toFixed(1);
  return `${counted(kept.sessions, 'session')}, ${counted(kept.users, 'person', 'people')} · ${counted(kept.files, 'file')}, ${megabytes} MB`;
}

/** Of those in quarantine. */
const namedFiles = 3;

function storeLine({ lastWrite, quarantined, now }: StatusFacts): string {
  const ago = duration(now.getTime() - (lastWrite ?? { at: now }).at.getTime());
  const write =
    lastWrite === undefined
      ? 'nothing has been written yet'
      : `${lastWrite.isOk ? 'the last write succeeded' : '⚠️ the last write failed'} ${ago} ago`;
  if (quarantined === undefined) return `${write} · quarantine: ${unreadable}`;
  const names = quarantined.length === 0 ? '' : ` (${quarantined.slice(0, namedFiles).join(', ')})`;
  return `${write} · quarantine: ${counted(quarantined.length, 'file')}${names}`;
}

const minuteMs = 60_000;

/** The two largest units. */
function duration(ms: number): string {
  const minutes = Math.floor(ms / minuteMs);
  const hours = Math.floor(minutes / 60);
  const days = Math.floor(hours / 24);
  if (days > 0) return `${days} d ${hours % 24} h`;
  if (hours > 0) return `${hours} h ${minutes % 60} min`;
  return minutes > 0 ? `${minutes} min` : `${Math.max(0, Math.round(ms / 1000))} s`;
}

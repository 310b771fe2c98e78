import type { CommandContext, CommandReply } from '../core/commands.ts';
import { sessionOf } from '../core/turn-context.ts';
import type { CaptureMode, Pause } from '../memory/settings/person-settings.ts';
import { counted } from './answer-lines.ts';
import type { MemoryCommandPorts } from './memory-ports.ts';

type ControlPorts = Pick<MemoryCommandPorts, 'people'>;
type ModePorts = Pick<MemoryCommandPorts, 'people' | 'proposals'>;

const modeTexts: Readonly<Record<CaptureMode, string>> = {
  auto: 'Mode `auto`: I notice what you say about yourself and keep it. `!memory mode off` ends that.',
  ask: 'Mode `ask`: I ask you before I keep what you say about yourself; until you say yes it is in no item, summary or note, and after seven days the question is gone. `!memory proposals` lists what waits. `!memory mode auto` or `off` changes that.',
  off: 'Mode `off`: I notice nothing of what you say; only `!memory remember` and “Remember this” store something. `!memory mode auto` changes that.',
};

/** Shows or sets what is noticed of the person [K9]. What was said in mode `off` is not looked through later. */
export async function setMode(
  { speaker }: CommandContext,
  mode: CaptureMode | undefined,
  { people, proposals }: ModePorts,
): Promise<CommandReply> {
  if (mode !== undefined) await people.set(speaker.id, { mode });
  const now = await people.mode(speaker.id);
  const waiting = now === 'ask' ? 0 : (await proposals.list(speaker.id)).length;
  const lines =
    waiting === 0
      ? []
      : [
          `${counted(waiting, 'proposal')} still ${waiting === 1 ? 'waits' : 'wait'} for your yes or no: \`!memory proposals\`.`,
        ];
  return { text: [modeTexts[now], ...lines].join('\n') };
}

/** Shows or sets whether the person gets notices about what was noticed [K6]. */
export async function setNotices(
  { speaker }: CommandContext,
  notices: 'on' | 'off' | undefined,
  { people }: ControlPorts,
): Promise<CommandReply> {
  const settings =
    notices === undefined ? await people.get(speaker.id) : await people.set(speaker.id, { notices });
  return {
    text:
      settings?.notices === 'off'
        ? 'Notices are off: I store without a line under my answer. What was changed or removed I tell you all the same.'
        : 'Notices are on: a small line under my answer tells you what I stored.',
  };
}

const pauseTexts: Readonly<Record<Pause['scope'], string>> = {
  everywhere:
    'Paused: from now on I store nothing that you say, and nothing of my answers to you, anywhere, and notes of yours in channels are gone. What else I remember from before stays, and I still use it. `!memory resume` ends the pause.',
  here: 'Paused here: this conversation is off the record. I store nothing that you say here, and nothing of my answers, until `!memory resume` or 30 minutes without a message from you here.',
};

/** Pauses everything, or this conversation only, from the command on [K9]. */
export async function pauseMemory(
  context: CommandContext,
  scope: Pause['scope'],
  { people }: ControlPorts,
): Promise<CommandReply> {
  const { scope: holding } = (await people.pause(sessionOf(context), scope, context.at)) ?? { scope };
  return { text: pauseTexts[holding] };
}

/** Ends the pause, here and everywhere [K9]. */
export async function resumeMemory(context: CommandContext, { people }: ControlPorts): Promise<CommandReply> {
  const ended = await people.resume(sessionOf(context), context.at);
  if (ended === undefined) return { text: 'Nothing is paused here: I store what you tell me.' };
  const where = ended.scope === 'here' ? 'This conversation is on the record again' : 'Resumed';
  return {
    text: `${where}: I store what you tell me from now on. What was said in the pause stays unstored.`,
  };
}

/** Why nothing may be stored here, as the answer that says so; `undefined` where it may. Rejects with `StoreError`. */
export async function refusalToStore(
  context: CommandContext,
  { people, isMemoryOff }: Pick<MemoryCommandPorts, 'people' | 'isMemoryOff'>,
): Promise<CommandReply | undefined> {
  if (await isMemoryOff(context.place))
    return {
      text: 'Memory is switched off in this channel, so nothing was saved. Say it in another channel or in our DM.',
    };
  if ((await people.pauseIn(sessionOf(context), context.at)) === undefined) return undefined;
  return { text: 'Your memory is paused here, so nothing was saved. Say it again after `!memory resume`.' };
}

/** What the person has restricted, for `show`; `undefined` where nothing. */
export async function restrictions(
  context: CommandContext,
  { people }: ControlPorts,
): Promise<string | undefined> {
  const pause = await people.pauseIn(sessionOf(context), context.at);
  if (pause !== undefined) return pauseTexts[pause.scope];
  const mode = await people.mode(context.speaker.id);
  return mode === 'auto' ? undefined : modeTexts[mode];
}

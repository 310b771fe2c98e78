import { z } from 'zod';

import type { CommandButton } from '../core/chat.ts';
import { checkedTool, refusal, type Tool, type ToolOutcome } from '../core/tool.ts';
import { sessionOf, type TurnContext } from '../core/turn-context.ts';
import type { DurableMemory } from './durable/durable-memory.ts';
import { noticingModes, type NoticingMode, type PersonSettingsStore } from './settings/person-settings.ts';
import { wishesIn, type Wish } from './wishes.ts';

/** What the tool does; `export` and `erase` by their buttons only. */
const actions = [
  'undo',
  'pause',
  'pause_here',
  'resume',
  'mode_auto',
  'mode_ask',
  'mode_off',
  'notices_on',
  'notices_off',
  'export',
  'erase',
] as const;
type Action = (typeof actions)[number];

/** By which of the speaker's wishes an action may be taken [M5a]. */
const askedBy: Readonly<Record<Action, readonly Wish[]>> = {
  undo: ['undo', 'forget', 'this'],
  pause: ['pause'],
  pause_here: ['this', 'pause'],
  resume: ['resume'],
  mode_auto: ['mode_auto', 'resume'],
  mode_ask: ['mode_ask'],
  mode_off: ['mode_off', 'pause'],
  notices_on: ['notices_on'],
  notices_off: ['notices_off'],
  export: ['export'],
  erase: ['erase'],
};

export interface ControlToolPorts {
  readonly durable: Pick<DurableMemory, 'undo'>;
  readonly people: Pick<PersonSettingsStore, 'set' | 'pause' | 'resume'>;
}

/**
 * The model's way to do what people ask of their memory in plain words [K13]: at once what can be taken back, by a button what cannot; and nothing that
 * the speaker's own words do not ask for. `StoreError` rejects.
 */
export function createControlTool(ports: ControlToolPorts): Tool {
  /** Turns in which a change was undone: one wish takes back one. */
  const undone = new WeakSet<TurnContext['messages']>();
  return checkedTool({
    name: 'memory_control',
    description:
      'Do what the person asks of their memory in the message you are answering: undo the last change, pause storing everywhere or in this conversation (pause_here: off the ' +
      'record), resume, notice things about them, ask them before that is kept, or notice nothing (mode), tell them what was stored or not (notices), export or erase their data (they are shown a button). Refused where their own words do not ask for it.',
    input: z.object({ action: z.enum(actions) }),
    notDone: 'Nothing was done',
    async run({ action }, context) {
      if (context.speaker.isBot !== undefined) return refusal('Nothing was done: another bot has no memory.');
      const wishes = wishesIn(context.messages.map(({ text }) => text));
      if (!askedBy[action].some((wish) => wishes.has(wish)))
        return refusal(
          `Nothing was done: the person's own message does not plainly ask for this. They can write \`!${commands[action]}\`; tell them so.`,
        );
      if (action === 'undo') {
        if (undone.has(context.messages))
          return refusal('Nothing was undone: one change was undone already.');
        undone.add(context.messages);
      }
      return act(action, context, ports);
    },
  });
}

/** The command that does the same. */
const commands: Readonly<Record<Action, string>> = {
  undo: 'memory undo',
  pause: 'memory pause',
  pause_here: 'memory pause here',
  resume: 'memory resume',
  mode_auto: 'memory mode auto',
  mode_ask: 'memory mode ask',
  mode_off: 'memory mode off',
  notices_on: 'memory notices on',
  notices_off: 'memory notices off',
  export: 'memory export',
  erase: 'memory erase',
};

async function act(
  action: Action,
  context: TurnContext,
  { durable, people }: ControlToolPorts,
): Promise<ToolOutcome> {
  const { id: userId } = context.speaker;
  const at = context.messages.at(-1)?.at ?? context.now.toISOString();
  const resume = button('Resume', 'resume');
  switch (action) {
    case 'undo': {
      const undone = await durable.undo(userId);
      if (undone === undefined)
        return refusal('Nothing was undone: there is no change of the last ten minutes that could be.');
      if (!undone.isDone)
        return refusal(`Nothing was undone: what the ${undone.what} changed was changed again since.`);
      return done(`↩️ Undone: \`${undone.what}\``, []);
    }
    case 'pause':
    case 'pause_here': {
      const scope = action === 'pause' ? 'everywhere' : 'here';
      const holding = await people.pause(sessionOf(context), scope, at);
      return (holding?.scope ?? scope) === 'everywhere'
        ? done('⏸️ Paused: nothing that you say is stored from now on, anywhere', [resume])
        : done('⏸️ Paused here: this conversation is off the record', [resume]);
    }
    case 'resume':
      return (await people.resume(sessionOf(context), at)) === undefined
        ? refusal('Nothing was done: nothing is paused here.')
        : done('▶️ Resumed: what you say from now on is stored', [button('Pause', 'pause')]);
    case 'mode_auto':
    case 'mode_ask':
    case 'mode_off': {
      const mode = modeBy[action];
      await people.set(userId, { mode });
      const others = noticingModes.filter((other) => other !== mode);
      return done(
        `⚙️ Mode \`${mode}\`: what you say about yourself ${becomes[mode]}`,
        others.map((other) => button(`Mode ${other}`, `mode ${other}`)),
      );
    }
    case 'notices_on':
    case 'notices_off': {
      const notices = action === 'notices_on' ? 'on' : 'off';
      await people.set(userId, { notices });
      const other = notices === 'on' ? 'off' : 'on';
      return done(`⚙️ Notices are ${notices}`, [button(`Notices ${other}`, `notices ${other}`)]);
    }
    case 'export':
      // The program shows the button by itself, since the speaker's words ask for it.
      return refusal(
        'Nothing was sent yet. Under your answer the person is shown a button that sends their data. Tell them so, and do not claim that it was sent.',
      );
    case 'erase':
      return refusal(
        'Nothing was erased yet. Under your answer the person is shown a button that first names what would go. Tell them so, and do not claim that anything was erased.',
      );
  }
}

const modeBy = { mode_auto: 'auto', mode_ask: 'ask', mode_off: 'off' } as const;

/** What becomes, in a mode, of what somebody says about themselves. */
const becomes: Readonly<Record<NoticingMode, string>> = {
  auto: 'is noticed and kept',
  ask: 'is kept once you have said yes to it',
  off: 'is not noticed any more',
};

function button(label: string, command: string): CommandButton {
  return { label, line: `memory ${command}` };
}

function done(line: string, buttons: readonly CommandButton[]): ToolOutcome {
  return { ok: true, text: `Done. The person is told: ${line}`, notice: { line, bareLine: line, buttons } };
}

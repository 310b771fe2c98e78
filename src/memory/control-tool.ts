import { z } from 'zod';

import type { CommandButton } from '../core/reply.ts';
import { toSingleLine } from '../core/text.ts';
import { checkedTool, refusal, type Tool, type ToolOutcome } from '../core/tool.ts';
import { asksFirst, sessionWorkOf, type TurnContext } from '../core/turn-context.ts';
import type { DurableMemory } from './durable/durable-memory.ts';
import { captureModes, type CaptureMode, type PersonSettingsStore } from './settings/person-settings.ts';

/** What the tool does; commands have the same names. */
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
  'purge',
  'erase',
] as const;
type Action = (typeof actions)[number];

/** What is done by a button only, however it is asked for, and what the button does. */
const byButton = {
  export: { label: 'Send me my data', line: '📦 Your data has not been sent yet' },
  purge: { label: 'Erase this …', line: '🗑️ Nothing has been erased yet' },
  erase: { label: 'Erase everything …', line: '🗑️ Nothing has been erased yet' },
} as const;

export interface ControlToolPorts {
  readonly durable: Pick<DurableMemory, 'undo'>;
  readonly people: Pick<PersonSettingsStore, 'set' | 'pause' | 'resume'>;
}

/**
 * Does what people ask of their memory in plain words [K13]: at once what can be undone, otherwise, beside others'
 * text [M5a] or through a copy [G2a], by a button. `StoreError` rejects.
 */
export function createControlTool(ports: ControlToolPorts): Tool {
  /** Turns in which a change was undone: one wish takes back one. */
  const undone = new WeakSet<TurnContext['messages']>();
  return checkedTool({
    name: 'memory_control',
    description:
      'Do what the person asks of their memory in the message you are answering, in whatever words and language: undo the last change, pause storing everywhere or in this ' +
      'conversation (pause_here: off the record), resume, notice things about them, ask them first, or notice nothing (mode), tell them what was stored or not ' +
      '(notices), send their data (export), erase all that says some `words` (purge), or everything (erase).',
    input: z.object({
      action: z.enum(actions),
      words: z.string().max(200).exactOptional(),
    }),
    notDone: 'Nothing was done',
    async run({ action, words = '' }, context) {
      if (context.speaker.isBot !== undefined) return refusal('Nothing was done: another bot has no memory.');
      if (action === 'purge' && toSingleLine(words) === '')
        return refusal('Nothing was done: `words` has to say what is to go.');
      const command = `memory ${action.replace('_', ' ')}`;
      if (action === 'export' || action === 'purge' || action === 'erase')
        return offered(byButton[action].line, byButton[action].label, `${command} ${toSingleLine(words)}`);
      if (asksFirst(context)) return offered(`Did you ask for this? \`!${command}\``, 'Yes, do it', command);
      if (action === 'undo') {
        if (undone.has(context.messages))
          return refusal('Nothing was undone: one change was undone already.');
        undone.add(context.messages);
      }
      return act(action, context, ports);
    },
  });
}

/** Nothing is done yet: the person is shown the button of a command. */
function offered(line: string, label: string, command: string): ToolOutcome {
  return {
    ok: true,
    text: `Nothing was done yet: under your answer the person is shown a button, "${label}". Do not claim that it is done.`,
    notice: { line, bareLine: line, buttons: [{ label, line: command.trim() }] },
  };
}

async function act(
  action: Exclude<Action, keyof typeof byButton>,
  context: TurnContext,
  { durable, people }: ControlToolPorts,
): Promise<ToolOutcome> {
  const work = sessionWorkOf(context);
  const at = context.messages.at(-1)?.at ?? context.now.toISOString();
  const resume = button('Resume', 'resume');
  switch (action) {
    case 'undo': {
      const undone = await durable.undo(work);
      if (undone === undefined)
        return refusal('Nothing was undone: there is no change of the last ten minutes that could be.');
      if (!undone.isDone)
        return refusal(`Nothing was undone: what the ${undone.what} changed was changed again since.`);
      return done(`↩️ Undone: \`${undone.what}\``, []);
    }
    case 'pause':
    case 'pause_here': {
      const scope = action === 'pause' ? 'everywhere' : 'here';
      const holding = await people.pause(work, scope, at);
      return (holding?.scope ?? scope) === 'everywhere'
        ? done('⏸️ Paused: nothing that you say is stored from now on, anywhere', [resume])
        : done('⏸️ Paused here: this conversation is off the record', [resume]);
    }
    case 'resume':
      return (await people.resume(work, at)) === undefined
        ? refusal('Nothing was done: nothing is paused here.')
        : done('▶️ Resumed: what you say from now on is stored', [button('Pause', 'pause')]);
    case 'mode_auto':
    case 'mode_ask':
    case 'mode_off': {
      const mode = ({ mode_auto: 'auto', mode_ask: 'ask', mode_off: 'off' } as const)[action];
      await people.set(work, { mode });
      const others = captureModes.filter((other) => other !== mode);
      return done(
        `⚙️ Mode \`${mode}\`: what you say about yourself ${becomes[mode]}`,
        others.map((other) => button(`Mode ${other}`, `mode ${other}`)),
      );
    }
    case 'notices_on':
    case 'notices_off': {
      const notices = action === 'notices_on' ? 'on' : 'off';
      await people.set(work, { notices });
      const other = notices === 'on' ? 'off' : 'on';
      return done(`⚙️ Notices are ${notices}`, [button(`Notices ${other}`, `notices ${other}`)]);
    }
  }
}

/** What becomes, in a mode, of what somebody says about themselves. */
const becomes: Readonly<Record<CaptureMode, string>> = {
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

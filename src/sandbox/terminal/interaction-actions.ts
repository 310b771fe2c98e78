import type { CommandView } from '../control/command-view.ts';
import type { MessageView } from '../control/control-views.ts';
import { SandboxError } from '../control/sandbox-error.ts';
import { newestMessage, visibleMessages } from './chat-action.ts';
import type { Acted, ChatAction, Scene } from './chat-action.ts';
import { findTarget, readTarget } from './message-target.ts';
import { quoted, readableText } from './readable.ts';
import { readHalfTypedLine, readSlashLine } from './slash-line.ts';

/** What people ask of the bot other than by writing. */
export const interactionActions: Readonly<Record<string, ChatAction>> = {
  slash: {
    usage: 'COMMAND …',
    meaning: 'give the bot a slash command, as in /slash memory show; /memory show does too',
    act: giveSlashCommand,
  },
  complete: {
    usage: 'COMMAND …',
    meaning: 'what the bot offers while you type, as in /complete memory forget te',
    async act(scene, rest) {
      const { command, words } = commandOf(await scene.sandbox.commands(), rest);
      const line = readHalfTypedLine(command, words);
      const choices = await scene.sandbox.complete({ as: scene.speaker.id, in: scene.place.id, ...line });
      const lines = choices.map(({ name, value }) =>
        name === value ? `  ${name}` : `  ${name}  → ${value}`,
      );
      return {
        tell: lines.length === 0 ? 'The bot has nothing to offer.' : lines.join('\n'),
        expectsAnswer: false,
      };
    },
  },
  menu: {
    usage: '"ENTRY" [^2]',
    meaning: 'choose an entry of a message’s menu, the newest message’s if not counted',
    async act(scene, rest) {
      const { count, rest: words } = readTarget(rest, 'either end');
      const entries = (await scene.sandbox.commands()).filter(({ type }) => type === 'message');
      const name = words.replace(/^["“”](.*)["“”]$/u, '$1');
      const entry = entries.find((candidate) => candidate.name.toLowerCase() === name.toLowerCase());
      if (entry === undefined) {
        const names = entries.map((candidate) => `“${candidate.name}”`).join(', ');
        throw new SandboxError(
          `The menu of a message has ${names || 'no entries'}: /menu "ENTRY", or /menu "ENTRY" ^2`,
        );
      }
      const target = await newestMessage(scene, count);
      await scene.sandbox.menu({ as: scene.speaker.id, message: target.id, name: entry.name });
      const text = `chose “${entry.name}” for ${quoted(readableText(target.text, scene.names))}`;
      return { echo: { kind: 'did', text }, expectsAnswer: true };
    },
  },
  click: {
    usage: 'LABEL [^2]',
    meaning: 'click a button, or choose what a select offers; [▶] can be clicked, (◀) cannot',
    async act(scene, rest) {
      const { count, rest: words } = readTarget(rest, 'either end');
      const label = words.replace(/^\[(.*)\]$/u, '$1');
      const target = findTarget(
        await visibleMessages(scene),
        count,
        (message) => (label === '' ? hasComponents(message) : pressOf(message, label) !== undefined),
        label === '' ? 'There is nothing here to click' : `Nothing here is labelled ${JSON.stringify(label)}`,
      );
      if (label === '') throw new SandboxError('Click what? /click LABEL, with the label as it is shown');
      const press = pressOf(target, label) ?? { label };
      await scene.sandbox.click({
        as: scene.speaker.id,
        message: target.id,
        until: 'acknowledged',
        ...press,
      });
      return { echo: { kind: 'did', text: `clicked [${label}]` }, expectsAnswer: true };
    },
  },
};

/** Gives a slash command as it is typed, without the slash. @throws {SandboxError} */
export async function giveSlashCommand(scene: Scene, rest: string): Promise<Acted> {
  const { command, words } = commandOf(await scene.sandbox.commands(), rest);
  const line = readSlashLine(command, words);
  await scene.sandbox.slash({ as: scene.speaker.id, in: scene.place.id, ...line });
  return { echo: { kind: 'said', text: `/${rest.replace(/^\//, '')}` }, expectsAnswer: true };
}

/** A command by the first word, with or without its slash. @throws {SandboxError} with what there is. */
function commandOf(
  commands: readonly CommandView[],
  rest: string,
): { readonly command: CommandView; readonly words: string } {
  const [, name = '', words = ''] = /^\/?(\S*)\s*([^]*)$/u.exec(rest) ?? [];
  const command = commands.find(
    (candidate) => candidate.type === 'slash' && candidate.name === name.toLowerCase(),
  );
  if (command !== undefined) return { command, words };
  const names = commands.filter(({ type }) => type === 'slash').map((candidate) => `/${candidate.name}`);
  const known = `The bot has the commands ${names.join(', ') || '(none)'}`;
  throw new SandboxError(name === '' ? `Which command? ${known}` : `${known}, not /${name}`);
}

function hasComponents({ components }: MessageView): boolean {
  return components.rows.length > 0;
}

/** What to hand to the control for a label: a button by it, or a select of which it is an option. */
function pressOf(
  { components }: MessageView,
  label: string,
): { readonly label: string } | { readonly customId: string; readonly values: string[] } | undefined {
  const wanted = label.toLowerCase();
  for (const { buttons, select } of components.rows) {
    for (const button of buttons) {
      const both = `${button.emoji ?? ''} ${button.label}`.trim();
      const faces = [button.label, button.emoji ?? '', both, button.customId ?? ''];
      if (!faces.some((face) => face !== '' && face.toLowerCase() === wanted)) continue;
      return { label: button.label === '' ? (button.emoji ?? '') : button.label };
    }
    const option = select?.options.find((candidate) => candidate.label.toLowerCase() === wanted);
    if (select !== undefined && option !== undefined)
      return { customId: select.customId, values: [option.value] };
  }
  return undefined;
}

import { fileURLToPath } from 'node:url';

import writeFileAtomic from 'write-file-atomic';

import type { MessageView } from '../src/sandbox/people/views.ts';
import { withSandboxBot } from './sandbox-bot.ts';

/** Plays a conversation in the sandbox with the offline stand-in, and draws what Discord shows. */
const picture = fileURLToPath(new URL('../docs/conversation.svg', import.meta.url));
const room = 'general';
const lines = [
  'I am allergic to peanuts.',
  'what food should I avoid?',
  '!memory show',
  '!memory forget peanuts',
];

const width = 760;
const textLeft = 68;
const lineHeight = 21;
const buttonHeight = 28;
const columns = 88;
const characterWidth = 7.4;

/** What the sandbox shows once everything has been said and answered. */
function converse(): Promise<readonly MessageView[]> {
  return withSandboxBot(
    async (sandbox) => ({
      DISCORD_AUTO_REPLY_CHANNEL_IDS: (await sandbox.info()).channels[room] ?? '',
    }),
    async (sandbox, bot) => {
      for (const text of lines) {
        const { id } = await sandbox.say({ as: 'alice', in: room, text });
        await sandbox.waitForReply({ in: room, after: id });
        await bot.idle();
      }
      return sandbox.messages({ in: room });
    },
  );
}

function draw(messages: readonly MessageView[]): string {
  let top = 20;
  const drawn = messages.map((message, index) => {
    const isContinued = messages[index - 1]?.author.id === message.author.id;
    const block = drawMessage(message, top, isContinued);
    top += block.height + (messages[index + 1]?.author.id === message.author.id ? 2 : 18);
    return block.svg;
  });
  const style = 'font-family="Helvetica, Arial, sans-serif" font-size="15" fill="#dbdee1"';
  const background = `<rect width="${width}" height="${top}" rx="8" fill="#313338"/>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${top}" ${style}>\n${background}\n${drawn.join('\n')}\n</svg>\n`;
}

function drawMessage({ author, text, components }: MessageView, top: number, isContinued: boolean) {
  const parts: string[] = [];
  let y = top;
  if (!isContinued) {
    const colour = author.isBot ? '#5865f2' : '#eb8c34';
    parts.push(
      `<circle cx="36" cy="${y + 16}" r="18" fill="${colour}"/>`,
      `<text x="36" y="${y + 22}" text-anchor="middle" fill="#fff">${escape(author.name.slice(0, 1).toUpperCase())}</text>`,
      `<text x="${textLeft}" y="${y + 12}" font-weight="bold" fill="#fff">${escape(author.name)}</text>`,
    );
    y += lineHeight;
  }
  for (const line of text.split('\n').flatMap(wrapped)) {
    const isSmall = line.startsWith('-# ');
    const look = isSmall ? ' font-size="12" fill="#949ba4"' : '';
    parts.push(`<text x="${textLeft}" y="${y + 14}"${look}>${escape(plain(line))}</text>`);
    y += lineHeight;
  }
  for (const { buttons } of components.rows) {
    let x = textLeft;
    for (const { emoji = '', label } of buttons) {
      const caption = `${emoji} ${label}`.trim();
      const buttonWidth = caption.length * characterWidth + 24;
      parts.push(
        `<rect x="${x}" y="${y + 3}" width="${buttonWidth}" height="${buttonHeight - 4}" rx="4" fill="#4e5058"/>`,
        `<text x="${x + buttonWidth / 2}" y="${y + 20}" text-anchor="middle" font-size="13" fill="#fff">${escape(caption)}</text>`,
      );
      x += buttonWidth + 8;
    }
    y += buttonHeight;
  }
  return { svg: parts.join('\n'), height: y - top };
}

/** Broken between words; small print stays small on each line. */
function wrapped(line: string): readonly string[] {
  const mark = line.startsWith('-# ') ? '-# ' : '';
  const rows = line.slice(mark.length).match(new RegExp(`.{1,${columns}}(?:\\s|$)`, 'gu')) ?? [''];
  return rows.map((row) => mark + row.trimEnd());
}

function plain(line: string): string {
  return line
    .replace(/^-# /u, '')
    .replaceAll(/[`*]/gu, '')
    .replaceAll(/<t:\d+:\w>/gu, 'today');
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

await writeFileAtomic(picture, draw(await converse()));

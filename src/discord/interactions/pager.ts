import {
  ButtonStyle,
  ComponentType,
  MessageFlags,
  type APIActionRowComponent,
  type APIButtonComponent,
  type ButtonInteraction,
  type CommandInteraction,
} from 'discord.js';

import type { CommandReply } from '../../core/commands.ts';
import { growingCache } from '../../core/limits.ts';
import { answerRows, type AnswerRow } from '../command-buttons.ts';
import { splitReply } from '../replies/split-reply.ts';

/** Answers whose pages are kept at the same time, of all people. */
const mostOpen = 200;

const notYours = 'Only the person who used the command can turn these pages.';
const gone = 'I no longer have these pages. Please use the command again.';

interface Answer {
  /** Who gave the command; the pages are theirs, whatever a button says of itself. */
  readonly askerId: string;
  readonly pages: readonly string[];
  /** Under every page. */
  readonly buttons: readonly AnswerRow[];
}

/** Long answers as pages that their asker can turn. */
export function createPager() {
  const opened = growingCache<string, Answer>(mostOpen);

  return {
    /** A reply as Discord shows it: whole, or the first of several pages with its buttons; `interaction` is the command, acknowledged. */
    show({ id: pagerId, user }: CommandInteraction, reply: CommandReply) {
      const pages = splitReply(reply.text);
      const answer = { askerId: user.id, pages, buttons: answerRows(user.id, reply) };
      if (pages.length > 1) opened.set(pagerId, answer);
      return view({ pagerId, askerId: user.id, page: 0 }, answer);
    },
    /** Answers a click on one of the buttons; `false` where the button is none of a pager's. May reject as Discord's requests do. */
    async click(interaction: ButtonInteraction): Promise<boolean> {
      const button = readPageButton(interaction.customId);
      if (button === undefined) return false;
      const answer = opened.get(button.pagerId);
      const { askerId } = answer ?? button;
      if (interaction.user.id !== askerId) {
        await interaction.reply({ content: notYours, flags: MessageFlags.Ephemeral });
      } else if (answer === undefined) {
        await interaction.update({ components: [] });
        await interaction.followUp({ content: gone, flags: MessageFlags.Ephemeral });
      } else {
        await interaction.update(view({ ...button, askerId }, answer));
      }
      return true;
    },
  };
}

/** Discord's limit. */
const mostRows = 5;

/** A page as an interaction shows it; nobody is pinged. Buttons that find no room beside those that turn the pages are left out. */
function view(button: PageButton, { pages, buttons }: Pick<Answer, 'pages' | 'buttons'>) {
  const page = Math.min(button.page, pages.length - 1);
  const rows = [...(pages.length > 1 ? [pageButtons(button, page, pages.length)] : []), ...buttons];
  return {
    content: pages[page] ?? '',
    components: rows.slice(0, mostRows),
    allowedMentions: { parse: [], repliedUser: false },
  };
}

/** What a button of a pager says of itself; it holds after a restart too, when nothing else is known of the pages. */
interface PageButton {
  readonly pagerId: string;
  /** Who gave the command. */
  readonly askerId: string;
  /** The page it leads to, from 0. */
  readonly page: number;
}

const form = /^page:(?<pagerId>\d+):(?<askerId>\d+):(?<page>\d{1,5})$/u;

/** `undefined` where the button is none of a pager's. */
export function readPageButton(customId: string): PageButton | undefined {
  const { pagerId, askerId, page } = form.exec(customId)?.groups ?? {};
  if (pagerId === undefined || askerId === undefined || page === undefined) return undefined;
  return { pagerId, askerId, page: Number(page) };
}

/** `◀`, `Page 2 of 5`, `▶` under a page; `page` counts from 0. */
export function pageButtons(
  { pagerId, askerId }: Omit<PageButton, 'page'>,
  page: number,
  pageCount: number,
): APIActionRowComponent<APIButtonComponent> {
  const idOf = (target: number): string => `page:${pagerId}:${askerId}:${target}`;
  const last = pageCount - 1;
  return {
    type: ComponentType.ActionRow,
    components: [
      labelled('◀', page === 0 ? 'page:first' : idOf(page - 1), page === 0),
      labelled(`Page ${page + 1} of ${pageCount}`, 'page:here', true),
      labelled('▶', page === last ? 'page:last' : idOf(page + 1), page === last),
    ],
  };
}

function labelled(label: string, customId: string, isDisabled: boolean): APIButtonComponent {
  return {
    type: ComponentType.Button,
    style: ButtonStyle.Secondary,
    label,
    custom_id: customId,
    disabled: isDisabled,
  };
}

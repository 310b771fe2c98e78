import {
  MessageFlags,
  type ButtonInteraction,
  type CommandInteraction,
  type InteractionEditReplyOptions,
} from 'discord.js';
import { LRUCache } from 'lru-cache';

import type { Logger } from '../../core/logger.ts';
import { pageButtons, type PageButton } from './page-buttons.ts';

/** Without a click the buttons go after this time; an interaction can be edited for 15 minutes. Milliseconds. */
const openForMs = 10 * 60_000;
/** Answers whose pages are kept at the same time, of all people. */
const mostOpen = 200;

const notYours = 'Only who gave the command can turn these pages.';
const gone = 'I do not have these pages any more. Please give the command again.';

/** Runs the work after so many milliseconds; the returned function calls it off. Must not keep the process alive. */
export type Later = (work: () => void, milliseconds: number) => () => void;

const processLater: Later = (work, milliseconds) => {
  const timer = setTimeout(work, milliseconds);
  timer.unref();
  return () => clearTimeout(timer);
};

/** A page as an interaction shows it; nobody is pinged. */
export type PageView = Required<
  Pick<InteractionEditReplyOptions, 'content' | 'components' | 'allowedMentions'>
>;

/** An interaction whose answer shows the pages, as far as it is needed to take the buttons away. */
type Shown = Pick<CommandInteraction | ButtonInteraction, 'editReply'>;

interface Open {
  /** Who gave the command; the pages are theirs, whatever a button says of itself. */
  readonly askerId: string;
  readonly pages: readonly string[];
  /** Calls off the end. */
  readonly keep: () => void;
}

export interface PagerOptions {
  readonly logger: Logger;
  readonly later?: Later;
}

export interface Pager {
  /** The first of several pages, with its buttons; `interaction` is the command, acknowledged. */
  open(interaction: CommandInteraction, pages: readonly string[]): PageView;
  /** Answers a click on one of the buttons. May reject as Discord's requests do. */
  turn(interaction: ButtonInteraction, button: PageButton): Promise<void>;
  /** Calls off everything that waits; the buttons stay, and are answered after the next start. */
  close(): void;
}

/** Long answers as pages that their asker can turn, for as long as the asker goes on to do so. */
export function createPager({ logger, later = processLater }: PagerOptions): Pager {
  const opened = new LRUCache<string, Open>({ max: mostOpen, dispose: ({ keep }) => keep() });

  function keepOpen(pagerId: string, open: Omit<Open, 'keep'>, shown: Shown): void {
    const keep = later(() => void close(pagerId, shown), openForMs);
    opened.set(pagerId, { ...open, keep });
  }

  async function close(pagerId: string, shown: Shown): Promise<void> {
    opened.delete(pagerId);
    try {
      await shown.editReply({ components: [] });
    } catch (error) {
      logger.debug('the buttons of an answer could not be taken away', { pagerId, error });
    }
  }

  return {
    open(interaction, pages) {
      const { id: pagerId, user } = interaction;
      keepOpen(pagerId, { askerId: user.id, pages }, interaction);
      return view({ pagerId, askerId: user.id, page: 0 }, pages);
    },
    async turn(interaction, button) {
      const open = opened.get(button.pagerId);
      const { askerId } = open ?? button;
      if (interaction.user.id !== askerId) {
        await interaction.reply({ content: notYours, flags: MessageFlags.Ephemeral });
        return;
      }
      if (open === undefined) {
        await interaction.update({ components: [] });
        await interaction.followUp({ content: gone, flags: MessageFlags.Ephemeral });
        return;
      }
      keepOpen(button.pagerId, open, interaction);
      await interaction.update(view({ ...button, askerId }, open.pages));
    },
    close: () => opened.clear(),
  };
}

function view(button: PageButton, pages: readonly string[]): PageView {
  const page = Math.min(button.page, pages.length - 1);
  return {
    content: pages[page] ?? '',
    components: [pageButtons(button, page, pages.length)],
    allowedMentions: { parse: [], repliedUser: false },
  };
}

import { ButtonStyle, ComponentType, type APIActionRowComponent, type APIButtonComponent } from 'discord.js';

/** What a button of a pager says of itself; it holds after a restart too, when nothing else is known of the pages. */
export interface PageButton {
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
      button('◀', page === 0 ? 'page:first' : idOf(page - 1), page === 0),
      button(`Page ${page + 1} of ${pageCount}`, 'page:here', true),
      button('▶', page === last ? 'page:last' : idOf(page + 1), page === last),
    ],
  };
}

function button(label: string, customId: string, isDisabled: boolean): APIButtonComponent {
  return {
    type: ComponentType.Button,
    style: ButtonStyle.Secondary,
    label,
    custom_id: customId,
    disabled: isDisabled,
  };
}

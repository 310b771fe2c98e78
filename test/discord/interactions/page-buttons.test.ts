import { describe, expect, it } from 'vitest';

import { pageButtons, readPageButton } from '../../../src/discord/interactions/page-buttons.ts';

const pager = { pagerId: '100000000000000001', askerId: '100000000000000002' };

function buttons(page: number, count: number) {
  return pageButtons(pager, page, count).components.map((button) => ({
    label: 'label' in button ? button.label : '',
    isDisabled: button.disabled,
    leadsTo: 'custom_id' in button ? readPageButton(button.custom_id)?.page : undefined,
  }));
}

describe('the buttons under a page', () => {
  it('lead one page back and forth, and say where one is', () => {
    expect(buttons(1, 3)).toEqual([
      { label: '◀', isDisabled: false, leadsTo: 0 },
      { label: 'Page 2 of 3', isDisabled: true, leadsTo: undefined },
      { label: '▶', isDisabled: false, leadsTo: 2 },
    ]);
  });

  it('lead nowhere at the ends', () => {
    expect(buttons(0, 2).map(({ isDisabled }) => isDisabled)).toEqual([true, true, false]);
    expect(buttons(1, 2).map(({ isDisabled }) => isDisabled)).toEqual([false, true, true]);
  });

  it('have ids of their own, which say whose they are', () => {
    const ids = pageButtons(pager, 0, 2).components.map((button) =>
      'custom_id' in button ? button.custom_id : '',
    );
    expect(new Set(ids).size).toBe(3);
    expect(readPageButton(ids[2] ?? '')).toEqual({ ...pager, page: 1 });
  });

  it.each(['', 'page:1:2', 'page:1:2:-1', 'page:1:2:3:4', 'vote:1:2:3'])('are not %j', (customId) => {
    expect(readPageButton(customId)).toBeUndefined();
  });
});

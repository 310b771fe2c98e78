import { afterAll, describe, expect, it } from 'vitest';

import type { InteractionView, MessageView } from '../../src/sandbox/people/views.ts';
import { labelsOf } from './footers.ts';
import { command } from './memory-talk.ts';
import { openStage } from './stage.ts';

const dayMs = 24 * 60 * 60_000;
const daysAgo = (days: number): string => new Date(Date.now() - days * dayMs).toISOString();

let people = 0;

const stage = await openStage({ model: () => ({ text: 'Understood.' }) });

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

interface Written {
  readonly id: string;
  readonly text: string;
  readonly days: number;
  readonly visibility?: string;
  readonly when?: string;
}

const bees: Written = { id: 'bees', text: 'I keep bees', days: 90 };
const porto: Written = { id: 'porto', text: 'I live in Porto', days: 300 };
const lisbon: Written = { id: 'lisbon', text: 'I live in Lisbon', days: 20 };
const test: Written = { id: 'test', text: 'My driving test is on 2 May', days: 200, when: '2026-05-02' };

/** Somebody whose items have been there for so many days. */
async function personWith(...items: readonly Written[]): Promise<string> {
  people += 1;
  const { id, name } = await stage.sandbox.addPerson({ name: `reviewer${people}` });
  const written = items.map(({ days, visibility = 'everywhere', ...item }) => ({
    ...item,
    visibility,
    createdAt: daysAgo(days),
    updatedAt: daysAgo(days),
  }));
  await stage.writeFile(`data/users/${id}/durable.json`, JSON.stringify({ version: 1, items: written }));
  return name;
}

/** A person before a card, who presses its buttons: each answer stands where the card stood. */
function cardsOf(as: string, shown: MessageView | undefined) {
  const id = shown?.id ?? '';
  let card = shown;
  function seen({ answer, followUps }: InteractionView): string {
    expect(followUps).toEqual([]);
    expect(answer?.id).toBe(id);
    card = answer;
    return answer?.text ?? '';
  }
  return {
    get text(): string {
      return card?.text ?? '';
    },
    get labels(): readonly string[] {
      return labelsOf(card);
    },
    press: async (label: string) => seen(await stage.sandbox.click({ as, message: id, label })),
    async change(words: string) {
      const opened = await stage.sandbox.click({ as, message: id, label: 'Changed' });
      const values = { 'What I remember': words };
      return {
        stood: opened.modal?.fields[0]?.value,
        text: seen(await stage.sandbox.submit({ as, interaction: opened.id, values })),
      };
    },
  };
}

const byText = (as: string, place: string) => stage.ask(as, place, '!memory review');

async function fromPanel(as: string, place: string): Promise<MessageView | undefined> {
  const panel = await stage.sandbox.slash({ as, in: place, name: 'memory', subcommand: 'panel' });
  const label = labelsOf(panel.answer).find((each) => each.startsWith('Review')) ?? 'no review';
  const click = { as, message: panel.answer?.id ?? '', label, followUps: 1 };
  return (await stage.sandbox.click(click)).followUps[0];
}

describe('review [K16]', () => {
  it.each([
    ['by text', byText],
    ['from the panel', fromPanel],
  ] as const)('%s asks card by card in one message, with buttons, over a start', async (_, open) => {
    const as = await personWith(bees, porto, lisbon, test);
    expect(await command(stage, '!memory', as, '#general', 'show')).toContain(
      '3 items to review: `/memory review`',
    );
    const cards = cardsOf(as, await open(as, '#general'));
    expect(cards.text).toContain('My driving test is on 2 May');
    expect(cards.labels).toEqual(['Still true', 'Changed', 'Forget']);
    await stage.restart();

    const changed = await cards.change('My driving test is on 3 June');
    expect(changed.stood).toBe('My driving test is on 2 May');
    expect(changed.text).toMatch(/^Edited: "My driving test is on 3 June"/u);
    expect(changed.text).toMatch(/I live in Lisbon[\s\S]+I live in Porto/u);
    expect(cards.labels).toEqual(['Keep the newer', 'Keep the older', 'Both', 'Undo']);

    expect(await cards.press('Keep the newer')).toMatch(
      /^Kept: "I live in Lisbon"\nIn place of: "I live in Porto"/u,
    );
    expect(cards.text).toContain('I keep bees');
    const history = await command(stage, '/memory', as, '#general', 'history lisbon');
    expect(history).toMatch(/before .*: I live in Porto$/u);
    expect(await cards.press('Undo')).toMatch(/^Undone: the `review`/u);
    expect(await cards.press('Both')).toContain('Still true: "I live in Lisbon" and "I live in Porto"');
    expect(await cards.press('Forget')).toMatch(/^Deprecated 1 item matching[\s\S]+All reviewed\.$/u);
    expect(await cards.press('Undo')).toMatch(/^Undone: the `forget`[\s\S]+I keep bees/u);
    expect(await cards.press('Still true')).toBe('Still true: "I keep bees"\n\nAll reviewed.');
    expect(await command(stage, '!memory', as, '#general', 'show')).not.toContain('to review');
  });

  it('shows five cards at most, and asks nobody but its person', async () => {
    const names = ['bees', 'hens', 'goats', 'ducks', 'geese', 'llamas', 'yaks'];
    const as = await personWith(...names.map((name, index) => ({ id: name, text: name, days: 100 - index })));
    const card = await byText(as, '#general');
    const other = await stage.sandbox.click({ as: 'bob', message: card.id, label: 'Forget' });
    expect(other.answer?.text).toContain('Only the person');
    const cards = cardsOf(as, card);
    for (const name of names.slice(0, 4)) expect(await cards.press('Still true')).toContain(`"${name}"`);
    expect(await cards.press('Still true')).toContain('2 more to review with `/memory review`');
    expect(cards.labels).toEqual(['Undo']);
  });

  it('asks before others about nothing that is for its person alone', async () => {
    const as = await personWith({ ...bees, visibility: 'dm', days: 400 }, porto);
    const card = await byText(as, '#general');
    expect(card.text).toContain('I live in Porto');
    expect(card.text).not.toContain('bees');
  });
});

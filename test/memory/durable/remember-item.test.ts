import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { adultsAmong, type Place } from '../../../src/core/place.ts';
import { explicitVisibilityOf, isWider, visibilityOf } from '../../../src/core/visibility.ts';
import { sourceIn, type DurableDocument, type DurableItem } from '../../../src/memory/durable/document.ts';
import { editItem } from '../../../src/memory/durable/edit-items.ts';
import {
  rememberItem,
  type RememberOutcome,
  type RememberRequest,
} from '../../../src/memory/durable/remember-item.ts';
import {
  aliceId,
  anyItems,
  anyPlace,
  anyText,
  dev,
  dm,
  documentOf,
  item,
  minutesLater,
  noon,
  source,
  team,
} from './fixtures.ts';

const later = minutesLater(60);

function remember(
  document: DurableDocument,
  changes: Partial<RememberRequest> = {},
  maxItems = 200,
): { readonly document: DurableDocument; readonly result: RememberOutcome } {
  const said: RememberRequest = {
    text: 'Prefers Rust',
    place: dev,
    messageId: '400000000000000500',
    type: 'manual',
    ...changes,
  };
  return rememberItem(document, aliceId, said, maxItems, later);
}

/** Neither is wider: it goes where its owner said it last. */
function isOfOtherServer({ visibility, source: { guildId } }: DurableItem, place: Place): boolean {
  return visibility === 'server' && place.audience !== 'dm' && guildId !== place.guildId;
}

function active(document: DurableDocument): readonly DurableItem[] {
  return document.items.filter(({ status }) => status === 'active');
}

function afterEdit(old: DurableItem, place: Place): DurableItem | undefined {
  const request = { id: old.id, text: 'Prefers Zig', place, messageId: '400000000000000500' };
  return editItem(documentOf(old), aliceId, request, later).document.items[0];
}

describe('remembering', () => {
  it.each<[Place, DurableItem['visibility']]>([
    [dev, 'everywhere'],
    [team, 'here'],
    [dm, 'dm'],
  ])('starts with the visibility of its place [V1]', (place, visibility) => {
    const { result } = remember(documentOf(), { place, kind: 'preference' });
    expect(result).toMatchObject({ outcome: 'stored', item: { kind: 'preference', visibility } });
  });

  it('keeps what was noticed in public to that server, also when its owner accepts it later, in their own words or not [V1]', () => {
    for (const said of [
      { type: 'discord' },
      { type: 'summary' },
      { type: 'discord', accepts: '1a2b3c4d' },
      { type: 'manual', accepts: '1a2b3c4d' },
    ] as const) {
      const { result } = remember(documentOf(), { place: dev, ...said });
      expect(result).toMatchObject({ item: { visibility: 'server', source: { guildId: dev.guildId } } });
    }
  });

  it('makes what was noticed in one server for everywhere when its owner says it in public again, and takes it along to a private channel of another one only', () => {
    const noticed = item({ visibility: 'server' });
    const otherTeam: Place = { ...team, guildId: '300000000000000009', readers: ['1'] };
    const ofItem = (place: Place) => remember(documentOf(noticed), { place }).document.items[0];
    expect(ofItem(dev)).toMatchObject({ visibility: 'everywhere' });
    expect(ofItem({ ...dev, guildId: '300000000000000009' })).toMatchObject({ visibility: 'everywhere' });
    expect(ofItem(team)).toMatchObject({ visibility: 'server', source: { guildId: noticed.source.guildId } });
    expect(ofItem(dm)).toMatchObject({ visibility: 'server' });
    expect(ofItem(otherTeam)).toMatchObject({ visibility: 'here', source: { readers: ['1'] } });
    const { readers: _, ...unknown } = otherTeam;
    expect(ofItem(unknown)).toMatchObject({ visibility: 'server' });
  });

  it.each([
    ['', 'empty'],
    [' \n\u200b ', 'empty'],
    ['x'.repeat(501), 'too-long'],
  ])('refuses %j', (text, reason) => {
    const before = documentOf(item());
    expect(remember(before, { text })).toEqual({ document: before, result: { outcome: 'refused', reason } });
  });

  it('keeps guild and channel, but neither for a DM [D1]', () => {
    const guild = remember(documentOf()).document.items[0]?.source;
    expect(guild).toEqual({
      type: 'manual',
      channelId: dev.channelId,
      messageId: '400000000000000500',
      guildId: dev.guildId,
      channelName: 'dev',
    });
    const direct = remember(documentOf(), { place: dm }).document.items[0]?.source;
    expect(direct).toEqual({ type: 'manual', channelId: dm.channelId, messageId: '400000000000000500' });
  });
});

describe('the same text again [D2]', () => {
  it('refreshes the item that has it now, however it is written', () => {
    const before = documentOf(item({ id: 'cccccccc' }));
    const { document, result } = remember(before, { text: 'ｐrefers   RUST', type: 'summary' });
    expect(result.outcome).toBe('refreshed');
    expect(document.items).toEqual([item({ id: 'cccccccc', updatedAt: later.toISOString() })]);
  });

  it.each(['i  PREFER tea', 'I prefer tea.', ' I prefer\ttea… '])('is one item with %j', (text) => {
    const { document: first } = remember(documentOf(), { text: 'I prefer tea' });
    const { document, result } = remember(first, { text });
    expect(result.outcome).toBe('refreshed');
    expect(document.items).toHaveLength(1);
  });

  it.each(['Well, I live in Porto!', 'As I said, I live in Porto'])(
    'is confirmed by what is noticed in %j',
    (text) => {
      const { document: first } = remember(documentOf(), { text: 'I live in Porto' });
      expect(remember(first, { text, type: 'summary' }).result.outcome).toBe('refreshed');
      expect(remember(first, { text, type: 'manual' }).result.outcome).toBe('stored');
      const other = { text: 'When I was a child, I live in Porto', type: 'summary' } as const;
      expect(remember(first, other).result.outcome).toBe('stored');
    },
  );

  it('depends on the present text, not on the id', () => {
    const { document: first } = remember(documentOf());
    const edited = { ...first, items: first.items.map((each) => ({ ...each, text: 'Prefers Go' })) };
    const { document } = remember(edited);
    expect(active(document).map(({ text }) => text)).toEqual(['Prefers Go', 'Prefers Rust']);
    expect(new Set(document.items.map(({ id }) => id)).size).toBe(2);
  });

  it('stays as wide as it is when said again in a narrower place, and becomes the person’s own', () => {
    const before = documentOf(item({ source: source({ type: 'summary' }) }));
    const { document } = remember(before, { place: dm });
    expect(document.items[0]).toMatchObject({ visibility: 'everywhere', source: source() });
  });

  it('is revived by its owner’s word, as wide as that place, and by nothing extracted', () => {
    const before = documentOf(item({ status: 'deprecated', supersededBy: 'bbbbbbbb' }));
    const { document, result } = remember(before, { place: dm });
    expect(result.outcome).toBe('revived');
    expect(document.items).toHaveLength(1);
    expect(document.items[0]).toMatchObject({ status: 'active', visibility: 'dm' });
    expect(document.items[0]?.supersededBy).toBeUndefined();
    for (const type of ['discord', 'summary'] as const) {
      expect(remember(before, { type })).toEqual({
        document: before,
        result: { outcome: 'refused', reason: 'forgotten' },
      });
    }
  });
});

describe('another text for an item [K8]', () => {
  const ofTeam = item({ visibility: 'here', source: sourceIn(team, 'manual', '400000000000000001') });
  const { readers = [] } = team;

  it.each<[string, DurableItem, Place]>([
    [
      'a private thread of its channel',
      ofTeam,
      { ...team, channelId: '250000000000000009', homeId: '250000000000000009', parentId: team.channelId },
    ],
    ['its channel while that is age-restricted', ofTeam, { ...team, readers: adultsAmong(readers) }],
    ['its channel while fewer can read that', ofTeam, { ...team, readers: readers.slice(1) }],
    ['a private channel of its server', item({ visibility: 'server' }), team],
    ['a private channel', item(), team],
  ])('is for those who can read where it was said: %s [V1] [V2a]', (_, old, place) => {
    expect(afterEdit(old, place)).toMatchObject({
      text: 'Prefers Zig',
      visibility: 'here',
      source: { channelId: place.channelId, readers: place.readers },
    });
  });

  it('is no wider where more can read along, and stays with what it was [V1]', () => {
    for (const old of [item(), item({ visibility: 'server' })])
      expect(
        afterEdit(old, { ...dev, channelId: '220000000000000009', homeId: '220000000000000009' }),
      ).toMatchObject({
        text: 'Prefers Zig',
        visibility: old.visibility,
        source: { channelId: dev.channelId },
      });
    expect(afterEdit(ofTeam, team)).toEqual({
      ...ofTeam,
      text: 'Prefers Zig',
      updatedAt: later.toISOString(),
      confirmedAt: later.toISOString(),
    });
    expect(afterEdit(item({ visibility: 'server' }), dm)).toMatchObject({ visibility: 'dm' });
  });
});

describe('what was said before a forget [A4]', () => {
  const before: DurableDocument = { ...documentOf(), forgottenUpTo: '400000000000000500' };

  it('is not extracted any more', () => {
    for (const type of ['discord', 'summary'] as const) {
      for (const messageId of ['99999999999999999', '400000000000000499', '400000000000000500']) {
        const { result } = remember(before, { type, messageId });
        expect(result).toEqual({ outcome: 'refused', reason: 'forgotten' });
      }
      expect(remember(before, { type, messageId: '400000000000000501' }).result.outcome).toBe('stored');
    }
  });

  it('may be stored by the very turn that asked to forget: a correction in one breath', () => {
    const turnMessageId = '400000000000000500';
    expect(remember(before, { type: 'discord', turnMessageId }).result.outcome).toBe('stored');
    const older = {
      type: 'discord',
      messageId: '400000000000000400',
      turnMessageId: '400000000000000501',
    } as const;
    expect(remember(before, older).result.outcome).toBe('refused');
  });
});

describe('a correction [D6]', () => {
  const old = item({ id: 'bbbbbbbb', text: 'Lives in Paris', pinned: true });

  it('turns the old item into history that names the new one, and stays pinned', () => {
    const { document, result } = remember(documentOf(old), { text: 'Lives in Berlin', replaces: old.id });
    const [past, present] = document.items;
    expect(past).toMatchObject({ text: 'Lives in Paris', status: 'deprecated', supersededBy: present?.id });
    expect(present).toMatchObject({ text: 'Lives in Berlin', status: 'active', pinned: true });
    expect(result).toMatchObject({ superseded: { id: old.id } });
  });

  it('makes room by itself', () => {
    const { document, result } = remember(
      documentOf(old, item({ pinned: true })),
      { text: 'Lives in Berlin', replaces: old.id },
      2,
    );
    expect(result).toMatchObject({ outcome: 'stored', evicted: [] });
    expect(active(document)).toHaveLength(2);
  });

  it('of an item with its own words is a refresh', () => {
    const { document, result } = remember(documentOf(old), { text: 'lives in paris', replaces: old.id });
    expect(result.outcome).toBe('refreshed');
    expect(result).toMatchObject({ superseded: undefined });
    expect(active(document)).toHaveLength(1);
  });

  it.each([
    ['is not there', 'ffffffff', dm, item()],
    ['is history already', 'aaaaaaaa', dm, item({ status: 'deprecated', text: 'Other' })],
    ['may not be used here', 'aaaaaaaa', dev, item({ visibility: 'dm', text: 'Other' })],
  ])('of an item that %s is refused', (_name, replaces, place, present) => {
    const before = documentOf(present);
    const refused = { outcome: 'refused', reason: 'unknown-id' };
    expect(remember(before, { replaces, place })).toEqual({ document: before, result: refused });
  });
});

describe('a full memory [D3]', () => {
  const full = 3;
  const oldManual = item({ id: '1', text: 'one', updatedAt: noon.toISOString() });
  const newManual = item({ id: '2', text: 'two', updatedAt: minutesLater(5).toISOString() });
  const extracted = item({
    id: '3',
    text: 'three',
    updatedAt: minutesLater(9).toISOString(),
    source: source({ type: 'summary' }),
  });

  it('lets go of the oldest extracted item first, then of the oldest of the person’s own', () => {
    const first = remember(documentOf(oldManual, newManual, extracted), { text: 'four' }, full);
    expect(first.result).toMatchObject({ evicted: [{ id: '3', status: 'deprecated' }] });
    const second = remember(first.document, { text: 'five' }, full);
    expect(second.result).toMatchObject({ evicted: [{ id: '1' }] });
  });

  it('of pinned items refuses, and nothing changes', () => {
    const before = documentOf(
      ...[oldManual, newManual, extracted].map((each) => ({ ...each, pinned: true })),
    );
    const refused = { document: before, result: { outcome: 'refused', reason: 'full' } };
    expect(remember(before, { text: 'four' }, full)).toEqual(refused);
  });

  it('never lets go of the one just added or of a pinned one, and never stays over its size', () => {
    const sizes = fc.integer({ min: 1, max: 12 });
    fc.assert(
      fc.property(anyItems, anyText, anyPlace, sizes, (items, text, place, maxItems) => {
        const before = documentOf(...items);
        const { document, result } = remember(before, { text, place }, maxItems);
        fc.pre(result.outcome !== 'refused');
        const present = document.items.find(({ id }) => id === result.item.id);
        const keepsTheRule =
          present === result.item &&
          present.status === 'active' &&
          result.evicted.every(({ id, pinned }) => id !== result.item.id && !pinned) &&
          (result.outcome === 'refreshed' || active(document).length <= maxItems) &&
          document.items.length >= items.length;
        expect(keepsTheRule).toBe(true);
      }),
    );
  });

  it('never widens what it extracts, and never narrows what is already remembered', () => {
    const types = fc.constantFrom('manual', 'discord', 'summary');
    fc.assert(
      fc.property(anyItems, anyText, anyPlace, types, (items, text, place, type) => {
        const { result } = remember(documentOf(...items), { text, place, type }, 1000);
        fc.pre(result.outcome !== 'refused');
        const before = items.find(({ id }) => id === result.item.id);
        const { visibility } = result.item;
        const isNew = before?.status !== 'active';
        const keepsTheRule = isNew
          ? visibility === (type === 'manual' ? explicitVisibilityOf : visibilityOf)(place.audience)
          : visibility === before.visibility ||
            (type === 'manual' && (isWider(visibility, before.visibility) || isOfOtherServer(before, place)));
        expect(keepsTheRule).toBe(true);
      }),
    );
  });
});

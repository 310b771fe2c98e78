import { homeOf, undated, type DurableItem } from '../durable/document.ts';
import type { DurableMemory } from '../durable/durable-memory.ts';
import type { RecallSource } from './recall-source.ts';
import type { RecallUnit } from './recall-unit.ts';
import { Segment } from './segment.ts';

/** A person's active durable items: what was forgotten is not found. */
export function createItemSource({
  durable,
}: {
  readonly durable: Pick<DurableMemory, 'list'>;
}): RecallSource {
  return {
    name: 'items',
    open({ userId }, readers) {
      let known: { readonly state: string; readonly segments: readonly Segment[] } | undefined;
      return {
        async segments() {
          const items = await durable.list(userId);
          const units = items.map(unitOf);
          const state = JSON.stringify(units);
          if (known?.state !== state) known = { state, segments: [new Segment(readers, units)] };
          return known.segments;
        },
      };
    },
  };
}

function unitOf(item: DurableItem, index: number): RecallUnit {
  return {
    text: item.text,
    author: '',
    ...(Date.parse(item.updatedAt) === Date.parse(undated) ? {} : { at: item.updatedAt }),
    isBot: false,
    reach: { visibility: item.visibility, homeId: homeOf(item.source) },
    stretch: index,
    reference: { kind: 'item', id: item.id },
  };
}

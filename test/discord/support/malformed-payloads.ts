import type { RawFrame } from '../../../src/sandbox/gateway/gateway.ts';
import { documentedEvents, type PayloadIds } from './documented-payloads.ts';

/** Frames that Discord would not send: events that were changed in one to three places, some of them repeated, and frames that are not events. */
export function malformedFrames(ids: PayloadIds, random: () => number, count: number): readonly RawFrame[] {
  const pick = <T>(all: readonly T[]): T => {
    const one = all[Math.floor(random() * all.length)];
    if (one === undefined) throw new Error('There is nothing to choose from');
    return one;
  };
  const frames: RawFrame[] = [];
  while (frames.length < count) {
    const kind = random();
    if (kind < 0.05) frames.push(pick(garbage));
    else if (kind < 0.08 && frames.length > 0) frames.push(pick(frames));
    else {
      const { t, d } = pick(documentedEvents(ids, pick));
      let changed: unknown = structuredClone(d);
      for (let times = pick([1, 1, 2, 3]); times > 0; times -= 1) changed = changedIn(changed, random, pick);
      if (kind < 0.11) frames.push(JSON.stringify({ op: 0, t, s: pick(oddSequences), d: changed }));
      else frames.push({ t, d: changed });
    }
  }
  return frames;
}

const oddSequences = [null, -1, 0, 1.5, '7', {}, [], true];

/** Not even events: what a connection could carry besides. Those that only make the client reconnect are left out. */
const garbage: readonly RawFrame[] = [
  '',
  '{',
  'null',
  '5',
  '{}',
  '{"op":"0","t":"READY","d":null}',
  '{"op":0,"t":5,"s":1,"d":{}}',
  '{"op":0,"t":"__proto__","d":{}}',
  '{"op":0,"t":"constructor","s":null,"d":{"__proto__":{"x":1}}}',
  '{"op":0,"t":"READY","s":1,"d":null}',
  '{"op":0,"t":"RESUMED","s":null,"d":null}',
  '{"op":1}',
  '{"op":8,"d":[]}',
  '{"op":10,"d":null}',
  '{"op":10,"d":{"heartbeat_interval":"soon"}}',
  '{"op":10,"d":{"heartbeat_interval":1e300}}',
  '{"op":11}',
  '{"op":255,"d":null}',
  `${'['.repeat(20_000)}${']'.repeat(20_000)}`,
  '\u0000\uFFFF',
  Buffer.from([0x78, 0x9c, 0, 0, 0xff, 0xff]),
  Buffer.from('{"op":0,"t":"MESSAGE_CREATE","s":3,"d":null}'),
  Buffer.alloc(0),
];

type Pick = <T>(all: readonly T[]) => T;

/** The value with one place of it changed: any depth, the whole included. */
function changedIn(value: unknown, random: () => number, pick: Pick): unknown {
  const isTree = typeof value === 'object' && value !== null;
  const keys = isTree ? Object.keys(value) : [];
  if (!isTree || keys.length === 0 || random() < 0.08) return replacement(value, pick);
  const key = pick(keys);
  if (random() < 0.2) Reflect.deleteProperty(value, key);
  else Reflect.set(value, key, changedIn(Reflect.get(value, key), random, pick));
  return value;
}

/** So that copies of copies are no larger than a string can be. */
function isHuge(value: unknown): boolean {
  return (JSON.stringify(value) ?? '').length > 100_000;
}

function replacement(value: unknown, pick: Pick): unknown {
  const make = pick<() => unknown>([
    () => null,
    () => null,
    () => 0,
    () => 1.5,
    () => Number.MAX_SAFE_INTEGER,
    () => true,
    () => '',
    () => 'x',
    // Not a zero: that is a well-formed permission, and takes all others away.
    () => '-1',
    () => '9'.repeat(400),
    () => 'w'.repeat(50_000),
    () => [],
    () => [[], {}, 'x', 5],
    () => Array.from({ length: isHuge(value) ? 2 : 300 }, () => structuredClone(value)),
    () => ({}),
    () => ({ id: {} }),
    () => [structuredClone(value)],
    () => ({ 0: structuredClone(value) }),
  ]);
  return make();
}

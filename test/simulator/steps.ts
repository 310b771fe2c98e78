import type { Random } from './random.ts';

/** How the disk, Discord or the model's vendor behaves until told otherwise. */
export type Weather =
  | 'calm'
  | 'slow-disk'
  | 'full-disk'
  | 'failing-disk'
  | 'refusing-disk'
  | 'slow-discord'
  | 'failing-discord'
  | 'slow-model'
  | 'failing-model'
  | 'lying-model';

/**
 * One thing that happens, as data: people and channels by their numbers, taken modulo how many there are, so that a scene means something whatever is left out of it.
 * `luck` decides everything random that follows from it until the next step.
 */
export type Step = { readonly luck: number; readonly pauseMs: number } & (
  | {
      readonly kind: 'say';
      readonly person: number;
      readonly channel: number;
      readonly size: 'short' | 'long';
    }
  | { readonly kind: 'chat'; readonly person: number; readonly channel: number }
  | {
      readonly kind: 'remember';
      readonly person: number;
      readonly channel: number;
      readonly isSlash: boolean;
    }
  | {
      readonly kind: 'forget' | 'purge' | 'share' | 'hide' | 'pin' | 'edit-item' | 'why' | 'search';
      readonly person: number;
      readonly channel: number;
      readonly word: number;
    }
  | {
      readonly kind:
        | 'undo'
        | 'show'
        | 'export'
        | 'erase'
        | 'reset'
        | 'pause'
        | 'pause-here'
        | 'resume'
        | 'panel';
      readonly person: number;
      readonly channel: number;
    }
  | { readonly kind: 'mode'; readonly person: number; readonly value: 'auto' | 'ask' | 'off' }
  | { readonly kind: 'press'; readonly message: number; readonly button: number }
  | { readonly kind: 'edit' | 'delete' | 'repeat' | 'stop-sign'; readonly message: number }
  | { readonly kind: 'delete-answer'; readonly message: number }
  | { readonly kind: 'door'; readonly channel: number; readonly door: number }
  | {
      readonly kind: 'change-and-undo';
      readonly person: number;
      readonly word: number;
      readonly change: 'forget' | 'hide' | 'pin' | 'edit-item';
    }
  | { readonly kind: 'weather'; readonly weather: Weather }
  | { readonly kind: 'pass'; readonly ms: number }
  | { readonly kind: 'quiet' }
  | { readonly kind: 'kill' | 'power-loss' | 'restart' | 'second-start' }
);

export type StepKind = Step['kind'];

const weights: Readonly<Record<StepKind, number>> = {
  say: 24,
  chat: 14,
  remember: 7,
  forget: 4,
  purge: 0.7,
  share: 1,
  hide: 1,
  pin: 1,
  'edit-item': 1.5,
  why: 1,
  search: 1,
  undo: 2,
  show: 2,
  export: 0.4,
  erase: 0.4,
  reset: 0.5,
  pause: 0.5,
  'pause-here': 0.5,
  resume: 1.2,
  panel: 0.5,
  mode: 0.8,
  press: 6,
  edit: 4,
  delete: 4,
  repeat: 4,
  'stop-sign': 1.5,
  'delete-answer': 1,
  door: 2,
  'change-and-undo': 1.5,
  weather: 3,
  pass: 5,
  quiet: 2,
  kill: 1.5,
  'power-loss': 0.8,
  restart: 0.8,
  'second-start': 0.4,
};

const weathers: Readonly<Record<Weather, number>> = {
  calm: 9,
  'slow-disk': 3,
  'full-disk': 1,
  'failing-disk': 1,
  'refusing-disk': 0.5,
  'slow-discord': 1,
  'failing-discord': 2,
  'slow-model': 1,
  'failing-model': 2,
  'lying-model': 2,
};

const minuteMs = 60_000;

/** Any step, whatever came before it. */
export function randomStep(random: Random): Step {
  const luck = random.int(0, 0x7fffffff);
  const pauseMs = random.weighted({ none: 3, short: 4, long: 3 });
  const pause = pauseMs === 'none' ? 0 : pauseMs === 'short' ? random.int(1, 500) : random.int(500, 8000);
  const common = { luck, pauseMs: pause };
  const any = (): number => random.int(0, 9999);
  const kind = random.weighted(weights);
  switch (kind) {
    case 'say':
      return { ...common, kind, person: any(), channel: any(), size: random.chance(0.1) ? 'long' : 'short' };
    case 'chat':
      return { ...common, kind, person: any(), channel: any() };
    case 'remember':
      return { ...common, kind, person: any(), channel: any(), isSlash: random.chance(0.5) };
    case 'forget':
    case 'purge':
    case 'share':
    case 'hide':
    case 'pin':
    case 'edit-item':
    case 'why':
    case 'search':
      return { ...common, kind, person: any(), channel: any(), word: any() };
    case 'undo':
    case 'show':
    case 'export':
    case 'erase':
    case 'reset':
    case 'pause':
    case 'pause-here':
    case 'resume':
    case 'panel':
      return { ...common, kind, person: any(), channel: any() };
    case 'mode':
      return { ...common, kind, person: any(), value: random.pick(['auto', 'auto', 'ask', 'off'] as const) };
    case 'press':
      return { ...common, kind, message: any(), button: any() };
    case 'edit':
    case 'delete':
    case 'repeat':
    case 'stop-sign':
    case 'delete-answer':
      return { ...common, kind, message: any() };
    case 'door':
      return { ...common, kind, channel: any(), door: any() };
    case 'change-and-undo':
      return {
        ...common,
        kind,
        person: any(),
        word: any(),
        change: random.pick(['forget', 'hide', 'pin', 'edit-item'] as const),
      };
    case 'weather':
      return { ...common, kind, weather: random.weighted(weathers) };
    case 'pass':
      return {
        ...common,
        kind,
        ms:
          random.weighted({ minutes: 8, half: 2, hours: 0.5 }) === 'minutes'
            ? random.int(1, 12) * minuteMs
            : random.int(12, 60) * minuteMs,
      };
    case 'quiet':
    case 'kill':
    case 'power-loss':
    case 'restart':
    case 'second-start':
      return { ...common, kind };
  }
}

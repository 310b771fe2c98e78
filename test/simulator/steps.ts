import type { Random } from './random.ts';
import { weathers, type Weather } from './weather.ts';

// Kinds of steps by what one of them needs to know, each with how often it happens beside the others. Most of what people write in a server is not for the bot.

const talks = {
  chat: 66,
  say: 7,
  'say-much': 0.5,
  voice: 1,
  remember: 1.5,
  'remember-slash': 1.5,
  'long-talk': 0.15,
  'look-back': 0.15,
};
const personal = {
  undo: 0.8,
  show: 0.5,
  export: 0.2,
  erase: 0.2,
  reset: 0.3,
  pause: 0.4,
  'pause-here': 0.3,
  resume: 0.8,
  panel: 0.2,
  why: 0.3,
  review: 0.4,
  'mode-auto': 0.2,
  'mode-ask': 0.2,
  'mode-off': 0.1,
};
const aboutWord = {
  forget: 1.5,
  purge: 0.3,
  share: 0.4,
  hide: 0.4,
  pin: 0.3,
  'edit-item': 0.5,
  search: 0.4,
  'forget-and-undo': 0.4,
  'forget-all-and-undo': 0.4,
  'hide-and-undo': 0.15,
  'pin-and-undo': 0.1,
  'edit-and-undo': 0.15,
};
const ofReminder = {
  'reminder-later': 0.5,
  'reminder-move': 0.4,
  'reminder-remove': 1,
};
const touches = { edit: 1.5, delete: 1.5, repeat: 2, 'stop-sign': 0.8, 'delete-answer': 0.5 };
const ofMachine = {
  quiet: 0.5,
  kill: 0.6,
  'power-loss': 0.3,
  restart: 0.3,
  'second-start': 0.1,
  'late-start': 0.2,
};
const weights = {
  ...talks,
  ...personal,
  ...aboutWord,
  ...ofReminder,
  ...touches,
  ...ofMachine,
  proxy: 1,
  press: 2,
  door: 1,
  confide: 0.3,
  'delete-thread': 0.1,
  role: 0.5,
  access: 0.6,
  weather: 1.5,
  pass: 2,
  'cut-off': 0.3,
  remind: 2.5,
  zone: 0.2,
  away: 0.15,
  idle: 0.1,
};

type StepKind = keyof typeof weights;
type OfPerson = { readonly person: number };
type InChannel = OfPerson & { readonly channel: number };
type Common = { readonly luck: number; readonly pauseMs: number };

export type PersonalStep = Common & InChannel & { readonly kind: keyof typeof personal };
export type ReminderStep = Common &
  OfPerson & { readonly kind: keyof typeof ofReminder; readonly reminder: number };
export type WordStep = Common & InChannel & { readonly kind: keyof typeof aboutWord; readonly word: number };

/** Nobody's deed. */
export type MachineStep = Common &
  (
    | { readonly kind: 'weather'; readonly weather: Weather }
    | { readonly kind: 'pass' | 'cut-off' | 'away' | 'idle'; readonly ms: number }
    | { readonly kind: keyof typeof ofMachine }
  );

/**
 * One thing that happens, as data. People, channels and messages are numbers modulo how many there are, so a scene
 * keeps its meaning when steps are left out. `luck` decides everything random until the next step.
 */
export type Step =
  | MachineStep
  | PersonalStep
  | WordStep
  | ReminderStep
  | (Common &
      (
        | (InChannel & { readonly kind: keyof typeof talks })
        | (InChannel & { readonly kind: 'proxy'; readonly order: number })
        | (InChannel & { readonly kind: 'remind'; readonly order: number })
        | { readonly kind: 'press'; readonly message: number; readonly button: number }
        | { readonly kind: keyof typeof touches; readonly message: number }
        | { readonly kind: 'door' | 'delete-thread'; readonly channel: number; readonly door: number }
        | (InChannel & { readonly kind: 'confide'; readonly door: number })
        | (OfPerson & { readonly kind: 'role' | 'access'; readonly role: number })
        | (OfPerson & { readonly kind: 'zone'; readonly zone: number })
      ));

export function isOfMachine(step: Step): step is MachineStep {
  return !('person' in step || 'message' in step || 'channel' in step);
}

export function isPersonal(step: Step): step is PersonalStep {
  return step.kind in personal;
}

function isOf<Kind extends string>(group: Readonly<Record<Kind, number>>, kind: string): kind is Kind {
  return kind in group;
}

/** How much a seed likes something. */
const likes = [0, 0.3, 1, 1, 1, 3];

const secondMs = 1000;
const minuteMs = 60 * secondMs;

/** How long something lasts: how often each of these, and from how many to how many milliseconds. */
const spans = { seconds: 6, minutes: 3, long: 0.6 };
const spanMs: Readonly<Record<keyof typeof spans | 'days', readonly [number, number]>> = {
  seconds: [secondMs, minuteMs],
  minutes: [minuteMs, 6 * minuteMs],
  long: [11 * minuteMs, 50 * minuteMs],
  days: [20 * minuteMs, 50 * 60 * minuteMs],
};

/**
 * Makes up what happens. Each seed prefers some steps and avoids others, which finds more than a little of everything ("swarm testing", Groce et al., 2012).
 */
export function createSteps(random: Random): () => Step {
  const likings = { steps: { ...weights }, weathers: { ...weathers } };
  for (const kind of keysOf(weights)) if (kind !== 'chat') likings.steps[kind] *= random.pick(likes);
  for (const kind of keysOf(weathers)) if (kind !== 'calm') likings.weathers[kind] *= random.pick(likes);
  return () => stepOf(random.weighted(likings.steps), likings.weathers, random);
}

function keysOf<Key extends string>(record: Readonly<Record<Key, unknown>>): readonly Key[] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of the record
  return Object.keys(record) as Key[];
}

function stepOf(kind: StepKind, sky: Readonly<Record<Weather, number>>, random: Random): Step {
  const luck = random.int(0, 0x7fffffff);
  const pause = random.weighted({ none: 6, short: 3, long: 1 });
  const pauseMs = pause === 'none' ? 0 : pause === 'short' ? random.int(1, 500) : random.int(500, 8000);
  const common = { luck, pauseMs };
  const any = (): number => random.int(0, 9999);
  const inChannel = (): InChannel => ({ person: any(), channel: any() });
  if (isOf(talks, kind) || isOf(personal, kind)) return { ...common, kind, ...inChannel() };
  if (isOf(aboutWord, kind)) return { ...common, kind, ...inChannel(), word: any() };
  if (isOf(ofReminder, kind)) return { ...common, kind, person: any(), reminder: any() };
  if (isOf(touches, kind)) return { ...common, kind, message: any() };
  if (isOf(ofMachine, kind)) return { ...common, kind };
  switch (kind) {
    case 'press':
      return { ...common, kind, message: any(), button: any() };
    case 'door':
    case 'delete-thread':
      return { ...common, kind, channel: any(), door: any() };
    case 'confide':
      return { ...common, kind, ...inChannel(), door: any() };
    case 'proxy':
    case 'remind':
      return { ...common, kind, ...inChannel(), order: any() };
    case 'role':
    case 'access':
      return { ...common, kind, person: any(), role: any() };
    case 'zone':
      return { ...common, kind, person: any(), zone: any() };
    case 'weather':
      return { ...common, kind, weather: random.weighted(sky) };
    case 'pass':
    case 'cut-off':
      return { ...common, kind, ms: random.int(...spanMs[random.weighted(spans)]) };
    case 'away':
    case 'idle':
      return { ...common, kind, ms: random.int(...spanMs.days) };
  }
}

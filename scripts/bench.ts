import { benchEventLoop } from './bench/event-loop.ts';
import { benchItems } from './bench/items-speed.ts';
import { benchStore } from './bench/store-speed.ts';
import { benchStart } from './bench/start-speed.ts';
import { benchTurns } from './bench/turn-speed.ts';

/** Medians but for the event loop, where the longest time counts; each beside its floor measured in the same run, as machines are noisy: what counts is the ratio. */
await benchStore();
await benchItems();
await benchTurns();
await benchStart();
await benchEventLoop();

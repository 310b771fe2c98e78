import { benchStore } from './bench/store-speed.ts';
import { benchTurns } from './bench/turn-speed.ts';

/** Medians, each beside its floor measured in the same run, as machines are noisy: what counts is the ratio. */
await benchStore();
await benchTurns();

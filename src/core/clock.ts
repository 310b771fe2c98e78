/** The present moment, as an input, so that rules about time can be tested. */
export type Clock = () => Date;

/** Calls back after some milliseconds; the returned function cancels that. The process does not stay alive for it. */
export type Timer = (callback: () => void, ms: number) => () => void;

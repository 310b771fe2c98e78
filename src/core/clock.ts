/** The present moment, as an input, so that rules about time can be tested. */
export type Clock = () => Date;

/** The newest message on the screen. */
export interface ShownMessage {
  readonly id: string;
  readonly text: string;
  /** What of it stands further up for good; the rest may still change. */
  readonly prefix: string;
}

/** A message as it is now. */
export interface NewWording {
  readonly id: string;
  readonly text: string;
  /** It was seen before, with other words. */
  readonly isCorrection: boolean;
}

export interface Growth {
  readonly shown: ShownMessage;
  /** What is to be shown: all of the message, or what came after the part that stands for good. */
  readonly text: string;
  readonly isEdited: boolean;
}

/** What to show of a message that may have grown since it was shown; `isLive` where that can still be replaced. */
export function growthOf(last: ShownMessage | undefined, now: NewWording, isLive: boolean): Growth {
  const { id, text, isCorrection } = now;
  const all: Growth = { shown: { id, text, prefix: '' }, text, isEdited: isCorrection };
  if (last?.id !== id) return all;
  const prefix = isLive ? last.prefix : last.text;
  if (prefix === '') return { ...all, isEdited: false };
  if (!text.startsWith(prefix) || text === prefix) return all;
  return {
    shown: { id, text, prefix },
    text: `… ${text.slice(prefix.length).trimStart()}`,
    isEdited: false,
  };
}

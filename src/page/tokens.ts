import { z } from 'zod';

import { toSingleLine } from '../core/text.ts';
import type { Clock } from '../core/time.ts';
import { hashOf, newSecret, personIn, type Session, type SignInDocument } from './sign-in.ts';

/** What `page.json` holds of tokens; times are ISO 8601. */
export const tokenFields = {
  /** Oldest first; of each its name, its SHA-256, and the channel of its person's direct messages. */
  tokens: z
    .array(
      z.object({
        name: z.string(),
        hash: z.string(),
        personName: z.string(),
        channelId: z.string(),
        madeAt: z.string(),
        usedAt: z.string().optional(),
      }),
    )
    .readonly()
    .default([]),
  /** Oldest first; nothing of what was asked. */
  calls: z
    .array(z.object({ name: z.string(), tool: z.string(), at: z.string(), hits: z.number() }))
    .readonly()
    .default([]),
};

/** A token that holds, and whose it is. */
export type HeldToken = SignInDocument['tokens'][number] & { readonly userId: string };

const mostTokens = 5;
const keptCalls = 50;
export const tokenNameMaxChars = 40;

export type Tokens = ReturnType<typeof createTokens>;

/** Tokens by which other assistants read a person's memory [EW3], each shown once. All reject with `StoreError`. */
export function createTokens(ports: {
  readonly heldBy: (userId: string) => Promise<SignInDocument>;
  readonly change: (
    userId: string,
    make: (held: SignInDocument) => SignInDocument | undefined,
  ) => Promise<void>;
  readonly clock: Clock;
}) {
  const { heldBy, change, clock } = ports;
  const now = (): string => clock().toISOString();

  return {
    /** The new token, or why there is none. */
    async make({ person, place }: Session, wanted: string): Promise<{ token: string } | { refused: string }> {
      const name = toSingleLine(wanted);
      if (name === '' || name.length > tokenNameMaxChars)
        return { refused: `Give it a name of 1 to ${tokenNameMaxChars} characters.` };
      const token = newSecret(person.id);
      let refused: string | undefined;
      await change(person.id, (held) => {
        refused =
          held.tokens.length >= mostTokens
            ? `You have ${mostTokens} tokens, which is the most: revoke one first.`
            : held.tokens.some((each) => each.name === name)
              ? 'You have a token of this name: give it another one, or revoke that.'
              : undefined;
        if (refused !== undefined) return undefined;
        const { channelId } = place;
        const made = { name, hash: hashOf(token), personName: person.name, channelId, madeAt: now() };
        return { ...held, tokens: [...held.tokens, made] };
      });
      return refused === undefined ? { token } : { refused };
    },
    /** By its name; resolves with whether there was one. */
    async revoke(userId: string, name: string): Promise<boolean> {
      let isRevoked = false;
      await change(userId, (held) => {
        const tokens = held.tokens.filter((each) => each.name !== name);
        isRevoked = tokens.length < held.tokens.length;
        return isRevoked ? { ...held, tokens } : undefined;
      });
      return isRevoked;
    },
    /** A person's tokens and the last calls by them. */
    list: heldBy,
    /** `undefined` for a token that does not hold, whatever the reason. */
    async find(token: string): Promise<HeldToken | undefined> {
      const userId = personIn(token);
      const hash = hashOf(token);
      const found = (await heldBy(userId)).tokens.find((each) => each.hash === hash);
      return found && { ...found, userId };
    },
    /** Keeps that the token was used; resolves with whether it still holds: otherwise nothing may be told. */
    async noteCall({ userId, hash, name }: HeldToken, tool: string, hits: number): Promise<boolean> {
      let holds = false;
      await change(userId, (held) => {
        holds = held.tokens.some((each) => each.hash === hash);
        if (!holds) return undefined;
        const at = now();
        return {
          ...held,
          tokens: held.tokens.map((each) => (each.hash === hash ? { ...each, usedAt: at } : each)),
          calls: [...held.calls, { name, tool, at, hits }].slice(-keptCalls),
        };
      });
      return holds;
    },
  };
}

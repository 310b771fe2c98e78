import { z } from 'zod';

const faultTarget = {
  /** Method and path after `/api/v10`, with `*` for any one segment; `*` alone for every request. */
  route: z.string().min(1),
  /** How often; 1 if not said. */
  times: z.int().positive().default(1),
  /** So many requests of the route pass first. */
  after: z.int().nonnegative().default(0),
};
const cdnTarget = {
  /** The name of the file; every file if not said. */
  file: z.string().optional(),
  /** How often; 1 if not said. */
  times: z.int().positive().default(1),
};

/** How things are made to go wrong. */
export const faultInputs = {
  setRateLimits: z.strictObject({ on: z.boolean() }),
  setFault: z.discriminatedUnion('kind', [
    z.strictObject({
      kind: z.literal('429'),
      retryAfterSeconds: z.number().positive().default(1),
      scope: z.enum(['user', 'shared', 'global']).default('user'),
      ...faultTarget,
    }),
    z.strictObject({
      kind: z.literal('status'),
      status: z.int().min(400).max(599),
      code: z.int().default(0),
      message: z.string().default('Set by the sandbox'),
      ...faultTarget,
    }),
    z.strictObject({ kind: z.literal('latency'), milliseconds: z.int().positive(), ...faultTarget }),
    z.strictObject({ kind: z.literal('reset'), ...faultTarget }),
    z.strictObject({ kind: z.literal('lost'), ...faultTarget }),
  ]),
  setCdnFault: z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('redirect'), to: z.url(), ...cdnTarget }),
    z.strictObject({ kind: z.literal('status'), status: z.int().min(400).max(599), ...cdnTarget }),
    z.strictObject({ kind: z.literal('no-length'), ...cdnTarget }),
    z.strictObject({
      kind: z.literal('larger'),
      bytes: z.int().positive(),
      withLength: z.boolean().default(true),
      ...cdnTarget,
    }),
    z.strictObject({ kind: z.literal('slow'), milliseconds: z.int().positive(), ...cdnTarget }),
    z.strictObject({ kind: z.literal('type'), contentType: z.string().min(1), ...cdnTarget }),
    z.strictObject({ kind: z.literal('cut'), ...cdnTarget }),
  ]),
  dropConnection: z.strictObject({
    how: z.enum(['close', 'cut', 'reconnect', 'invalidate']).default('close'),
    /** Whether the session may be resumed; otherwise the resume is answered by op 9. */
    resumable: z.boolean().default(true),
    /** The resume sends so many events again that the client has already had. */
    repeat: z.int().nonnegative().default(0),
  }),
} as const;

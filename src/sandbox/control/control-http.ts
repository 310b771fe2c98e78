import type { FastifyInstance } from 'fastify';
import { z } from 'zod';

import type { On } from '../rest/rest-context.ts';
import { controlInputs } from './control-inputs.ts';
import type { SandboxControl } from './local-control.ts';
import { SandboxError, type ControlCall } from './sandbox-control.ts';

/** The control over HTTP: `POST /sandbox/<method>` with its input as JSON, answered by `{result}` or `{error}`. */
export function controlRoutes(app: FastifyInstance, calls: ReadonlyMap<string, ControlCall>): void {
  app.post<On<'method'>>('/sandbox/:method', async (request, reply) => {
    const call = calls.get(request.params.method);
    if (call === undefined) {
      return reply.code(404).send({ error: `The sandbox has no method ${request.params.method}` });
    }
    try {
      return { result: await call(request.body) };
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return reply.code(error instanceof SandboxError ? 400 : 500).send({ error: message });
    }
  });
}

/** The control of a sandbox in another process, at the address that it printed. */
export function connectSandbox(url: string): SandboxControl {
  const methods = Object.keys(controlInputs).map((method) => [
    method,
    (input: unknown = {}) => callMethod(url, method, input),
  ]);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- both ends are built from the same list of methods
  return Object.fromEntries(methods) as SandboxControl;
}

async function callMethod(url: string, method: string, input: unknown): Promise<unknown> {
  const response = await fetch(new URL(`/sandbox/${method}`, url), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(input),
  });
  const answer = answerSchema.parse(await response.json());
  if ('error' in answer) throw new SandboxError(answer.error);
  return answer.result;
}

/** Without a `result` where a method has none. */
const answerSchema = z.union([z.object({ error: z.string() }), z.object({ result: z.unknown().optional() })]);

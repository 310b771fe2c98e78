import type { FastifyInstance } from 'fastify';

import type { ControlCall } from './control-calls.ts';
import { SandboxError } from './sandbox-error.ts';

interface OnMethod {
  readonly Params: { readonly method: string };
}

/** The control over HTTP: `POST /sandbox/<method>` with its input as JSON, answered by `{result}` or `{error}`. */
export function controlRoutes(app: FastifyInstance, calls: ReadonlyMap<string, ControlCall>): void {
  app.post<OnMethod>('/sandbox/:method', async (request, reply) => {
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

import { Readable } from 'node:stream';

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { findAttachment, isSigned } from '../world/attachments.ts';
import type { Attachment } from '../world/entities.ts';
import type { CdnFault } from './faults.ts';
import type { On, RestContext } from './rest-context.ts';

/** Serves files as Discord's CDN does: without a token, and only while their message is there. */
export function cdnRoutes(app: FastifyInstance, context: RestContext): void {
  app.get<On<'channel' | 'file' | 'name'>>('/attachments/:channel/:file/:name', (request, reply) => {
    const { channel, file, name } = request.params;
    reply.raw.once('close', () => record(request, reply));
    const fault = context.cdnFaults.take(name);
    const found = findAttachment(context.world, channel, file);
    const { pathname, searchParams } = new URL(request.url, 'http://localhost');
    const good = isSigned(pathname, searchParams, context.world.now());
    if (!good || found === undefined || found.name !== name) {
      return reply.code(404).type('text/plain').send('This content is no longer available.');
    }
    reply.type(found.contentType ?? 'application/octet-stream');
    return fault === undefined ? reply.send(found.bytes) : applyCdnFault(fault, found, reply);
  });

  function record(request: FastifyRequest, reply: FastifyReply): void {
    context.downloads.push({
      path: request.url,
      at: context.world.now().toISOString(),
      status: reply.statusCode,
      sentToken: request.headers.authorization !== undefined,
    });
  }
}

function applyCdnFault(fault: CdnFault, { bytes }: Attachment, reply: FastifyReply): FastifyReply {
  if (fault.kind === 'redirect') return reply.redirect(fault.to, 302);
  return reply.send(Readable.from([bytes, Buffer.alloc(Math.max(0, fault.bytes - bytes.length), 'x')]));
}

import { createProposals, type ProposalsOptions } from '../../src/memory/durable/proposals.ts';

/** The real proposals; what they come from is said still. */
export function proposalsOver(ports: Pick<ProposalsOptions, 'durable'> & Partial<ProposalsOptions>) {
  return createProposals({
    modeOf: () => Promise.resolve('ask'),
    textOf: () => Promise.resolve('still'),
    ...ports,
  });
}

import { expect, it } from 'vitest';

import { createCommandOrder } from '../../src/turn/command-order.ts';
import { TurnControl } from '../../src/turn/turn-control.ts';
import { aliceId, bobId, generalId, incoming } from '../support/incoming.ts';

const session = { channelId: generalId, userId: aliceId };

function orderWithGate() {
  const order = createCommandOrder();
  const done: string[] = [];
  const gate: { open: () => void } = { open: () => {} };
  const opened = new Promise<void>((resolve) => {
    gate.open = resolve;
  });
  const slow = order.run(session, async () => {
    await opened;
    done.push('remember');
  });
  const runTurn = order.afterCommands(async ([first]) => {
    done.push(`turn of ${first?.author.name}`);
    await Promise.resolve();
  });
  return { order, done, gate, slow, runTurn };
}

const control = new TurnControl();

it('a command waits for the one before it', async () => {
  const { order, done, gate, slow } = orderWithGate();
  const next = order.run(session, () => Promise.resolve(done.push('show')));
  gate.open();
  await Promise.all([slow, next]);
  expect(done).toEqual(['remember', 'show']);
});

it('a turn begins when the commands before it are answered', async () => {
  const { done, gate, slow, runTurn } = orderWithGate();
  const turn = runTurn([incoming()], control);
  gate.open();
  await Promise.all([slow, turn]);
  expect(done).toEqual(['remember', 'turn of Alice']);
});

it('a turn that was aborted while it waited never begins', async () => {
  const { done, gate, slow, runTurn } = orderWithGate();
  const withdrawn = new TurnControl();
  const turn = runTurn([incoming()], withdrawn);
  withdrawn.end('deleted');
  gate.open();
  await Promise.all([slow, turn]);
  expect(done).toEqual(['remember']);
});

it('other sessions do not wait', async () => {
  const { order, done, gate, slow, runTurn } = orderWithGate();
  await runTurn([incoming({ author: { id: bobId, name: 'Bob', kind: 'human' } })], control);
  await order.run({ ...session, channelId: '200000000000000002' }, () => Promise.resolve(done.push('show')));
  expect(done).toEqual(['turn of Bob', 'show']);
  gate.open();
  await slow;
});

it('a command that fails holds up nothing', async () => {
  const order = createCommandOrder();
  await expect(order.run(session, () => Promise.reject(new Error('the disk')))).rejects.toThrow('the disk');
  await expect(order.run(session, () => Promise.resolve('shown'))).resolves.toBe('shown');
});

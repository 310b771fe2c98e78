import { describe, expect, it } from 'vitest';
import { z } from 'zod';

import { checkedTool, type Tool } from '../../src/core/tool.ts';
import { createDiscordActions } from '../../src/discord/actions/discord-actions.ts';
import { createControlTool } from '../../src/memory/control-tool.ts';
import { createForgetItemTool, createRememberItemTool } from '../../src/memory/durable/tools.ts';
import { createNotebookTools } from '../../src/memory/notebook/tools.ts';
import { createRecallTool } from '../../src/memory/recall/tool.ts';
import { createReadChannelTool } from '../../src/turn/read-channel.ts';
import { aliceContext } from '../model/alice-context.ts';

const unused = JSON.parse('{}');
const tools: readonly Tool[] = [
  ...createNotebookTools(unused, 'UTC'),
  createRecallTool(unused, 5),
  createRememberItemTool(unused),
  createForgetItemTool(unused),
  createControlTool(unused),
  createReadChannelTool(unused),
  ...createDiscordActions(unused).tools,
];

type Form = z.core.JSONSchema._JSONSchema;
type Near = readonly [near: unknown, meant: unknown];

function partsOf(form: Form, onlyRequired = false): [string, Form][] {
  if (typeof form !== 'object') return [];
  const { properties = {}, required = [] } = form;
  return Object.entries(properties).filter(([name]) => !onlyRequired || required.includes(name));
}

function itemsOf(form: Form): Form {
  return typeof form === 'object' && !Array.isArray(form.items) ? (form.items ?? true) : true;
}

function objectOf(form: Form, onlyRequired = false): object {
  return Object.fromEntries(partsOf(form, onlyRequired).map(([name, part]) => [name, inFormOf(part)]));
}

function inFormOf(form: Form): unknown {
  const { type, enum: words } = typeof form === 'object' ? form : {};
  if (type === 'object') return objectOf(form);
  if (type === 'array') return [inFormOf(itemsOf(form)), inFormOf(itemsOf(form))];
  if (type === 'integer') return 3;
  return type === 'boolean' ? true : (words?.at(-1) ?? 'tea');
}

/** What models write beside a form, and what they mean. */
function nearTo(form: Form): readonly Near[] {
  const { type, enum: words, minItems = 0 } = typeof form === 'object' ? form : {};
  const value = inFormOf(form);
  const json = JSON.stringify(value);
  if (type === 'object') {
    const whole = objectOf(form);
    return partsOf(form).flatMap(([name, part]) =>
      nearTo(part).map(([near, meant]): Near => [
        { ...whole, [name]: near },
        { ...whole, [name]: meant },
      ]),
    );
  }
  if (type === 'array') {
    const item = inFormOf(itemsOf(form));
    return minItems > 1 ? [[json, value]] : [[json, value], [item, [item]]]; // prettier-ignore
  }
  if (type === 'integer') return [[json, value]];
  if (type === 'boolean') return [[json, value], [' True ', value]]; // prettier-ignore
  return words === undefined ? [[7, '7']] : [[String(value).toUpperCase(), value]];
}

describe.each(tools.map(({ definition }) => definition))('the arguments of $name', ({ inputSchema }) => {
  let given: unknown;
  const tool = checkedTool({
    name: 'as the tool',
    description: '',
    input: z.fromJSONSchema(inputSchema),
    notDone: 'Not done',
    run(input) {
      given = input;
      return Promise.resolve({ ok: true, text: '' });
    },
  });
  async function read(input: unknown): Promise<unknown> {
    given = undefined;
    await tool.run(input, aliceContext, new AbortController().signal);
    return given;
  }
  const whole = objectOf(inputSchema);
  const least = objectOf(inputSchema, true);

  it('are taken as they stand where they are in form', async () => {
    for (const value of [whole, least]) expect(await read(value)).toEqual(value);
  });

  it('are taken in the forms beside it [M14]', async () => {
    const empty = Object.fromEntries(Object.keys(whole).map((name) => [name, null]));
    const forms = [...nearTo(inputSchema), [JSON.stringify(whole), whole], [{ ...empty, ...least }, least]];
    for (const [near, meant] of forms) expect({ near, is: await read(near) }).toEqual({ near, is: meant });
  });

  it('are refused where they are neither', async () => {
    const isNeeded = Object.keys(least).length > 0;
    for (const value of [7, 'tea', [], ...(isNeeded ? [null, {}] : [])])
      expect(await read(value)).toBeUndefined();
  });
});

import type { ModelFeature } from '../../src/core/model.ts';
import type { ModelAnswer } from './model-answer.ts';
import type { MessagesBody, ModelScript } from './model-server.ts';

/** Whether a request, as it came over the wire, has a feature. */
export const isIn: Readonly<Record<ModelFeature, (body: MessagesBody) => boolean>> = {
  'structured output': ({ output_config: config }) => config?.format !== undefined,
  'hour-long cache': (body) => marksIn(body).some((mark) => 'ttl' in mark),
  'cache marks': (body) => marksIn(body).length > 0,
  tools: (body) => body.tools !== undefined || hasBlock(body, 'tool_use') || hasBlock(body, 'tool_result'),
  thinking: (body) => body.output_config?.effort !== undefined || hasBlock(body, 'thinking'),
  pictures: (body) => hasBlock(body, 'image'),
  documents: (body) => hasBlock(body, 'document'),
};

function hasBlock({ messages = [] }: MessagesBody, type: string): boolean {
  return messages.some(({ content }) => content.some((block) => block.type === type));
}

function marksIn({ system = [], messages = [] }: MessagesBody): readonly object[] {
  const blocks = [...system, ...messages.flatMap(({ content }) => content)];
  return blocks.flatMap(({ cache_control: mark }) =>
    typeof mark === 'object' && mark !== null ? [mark] : [],
  );
}

export type Refusals = Partial<Readonly<Record<ModelFeature, ModelAnswer>>>;

/** What a server tells that it refuses of a request: the first of those that it refuses, in their order. */
export function refusedOf(refusals: Refusals, body: MessagesBody): ModelFeature | undefined {
  return Object.keys(refusals)
    .filter((name): name is ModelFeature => name in isIn)
    .find((name) => isIn[name](body));
}

/** A server that refuses some features, and otherwise answers by the script. */
export function refusing(refusals: Refusals, script: ModelScript): ModelScript {
  return (body, index) => {
    const refused = refusedOf(refusals, body);
    return (refused === undefined ? undefined : refusals[refused]) ?? script(body, index);
  };
}

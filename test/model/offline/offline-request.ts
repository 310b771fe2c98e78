import { renderSection, sectionNames, type SectionName } from '../../../src/core/section.ts';
import type { ModelPurpose, ModelRequest, ToolDefinition } from '../../../src/core/model.ts';

interface Written {
  readonly message?: string;
  readonly purpose?: ModelPurpose;
  readonly sections?: Partial<Record<SectionName, readonly string[]>>;
  readonly tools?: readonly string[];
  readonly system?: string;
}

/** A request as the prompt room writes it, from Alice. */
export function offlineRequest(written: Written): ModelRequest {
  const title = 'A title that is not a memory: title';
  const sections = sectionNames.map((name) =>
    renderSection({ name, title, lines: written.sections?.[name] ?? [] }),
  );
  const message =
    written.message === undefined
      ? ''
      : `<message from="Alice" where="#dev, public" time="2026-01-20 10:00">\n${written.message}\n</message>`;
  return {
    purpose: written.purpose ?? 'chat',
    userId: '100000000000000001',
    model: 'sonnet',
    system: [{ type: 'text', text: written.system ?? 'Rules. <message> holds the message.' }],
    messages: [
      { role: 'user', content: [{ type: 'text', text: sections.join('') }] },
      { role: 'user', content: [{ type: 'text', text: message }] },
    ],
    ...(written.tools === undefined ? {} : { tools: written.tools.map(definition) }),
    maxTokens: 1_000,
  };
}

function definition(name: string): ToolDefinition {
  return { name, description: name, inputSchema: { type: 'object' } };
}

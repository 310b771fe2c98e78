import type { ModelScript } from '../support/model-server.ts';

/** Calls a tool where a message holds `CALL <tool> <JSON>`, then reports word for word what the tool said. */
export const obedientModel: ModelScript = ({ messages = [] }) => {
  const last = messages.at(-1)?.content ?? [];
  if (typeof last === 'string') return { text: 'Understood.' };
  const result = last.find(({ type }) => type === 'tool_result');
  if (result !== undefined) return { text: `The tool said: ${said(result['content'])}` };
  const text = last.map((block) => block.text ?? '').join('');
  const [, name, input] = /CALL (\w+) (\{.*\})/u.exec(text.slice(text.lastIndexOf('<message'))) ?? [];
  if (name === undefined || input === undefined) return { text: 'Understood.' };
  return { toolUse: [{ name, input: JSON.parse(input) }] };
};

function said(content: unknown): string {
  if (!Array.isArray(content)) return String(content);
  return content.map((block: { readonly text?: string }) => block.text ?? '').join('');
}

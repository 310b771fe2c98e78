/** Names in angle brackets that chat templates of common models give a meaning. */
const named =
  'start_of_turn|end_of_turn|start_of_image|end_of_image|start_function_call|end_function_call|bos|eos|pad|unk|mask|sop|eop|s|think|seed:think|tool_calls?|tool_response|tools|function_calls?|fim_(?:prefix|middle|suffix)|unused\\d+|extra_id_\\d+|reserved_\\d+';

/**
 * A mark of a chat template, such as `<|im_start|>`, `<｜User｜>`, `<end_of_turn>`, `</s>`, `<<SYS>>` or `[INST]`: from models' published
 * templates. Bars with white space inside, as in code, are none.
 */
const mark = String.raw`<[|｜][^\s<>]{1,64}>|<[^\s<>|｜]{1,64}[|｜]>|</?(?:${named})>|<</?SYS>>|\[/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|THINK|ARGS|IMG|gMASK)\]|\]~!?b[\][]`;

export const templateMark = new RegExp(mark, 'gu');

/** Breaks up the marks in a text that a model is given, so that its server reads none of them as its own [M12]. */
export function withMarksBroken(text: string): string {
  return text.replace(templateMark, (found) => `${found.charAt(0)} ${found.slice(1)}`);
}

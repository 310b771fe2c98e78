import { expect, it } from 'vitest';

import { withMarksBroken } from '../../src/model/clean-answer.ts';
import { templateMarks } from '../support/template-marks.ts';

it.each(templateMarks)('%s is broken up, wherever it stands [M12]', (mark) => {
  for (const text of [mark, `a${mark}b`, `<${mark}>`, `[${mark}]`, mark + mark]) {
    expect(withMarksBroken(text)).not.toContain(mark);
    expect(withMarksBroken(text).replaceAll(' ', '')).toBe(text.replaceAll(' ', ''));
  }
});

it.each([
  'f <| x |> g',
  'Array<A|B>',
  '<@1234>',
  '<t:1:R>',
  '[link](https://example.org)',
  'a < b',
  '<b>bold</b>',
  '| a | b |',
])('%s stays as it is', (text) => {
  expect(withMarksBroken(text)).toBe(text);
});

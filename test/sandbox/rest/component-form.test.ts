import { describe, expect, it } from 'vitest';

import { parseMessageForm } from '../../../src/sandbox/rest/message-form.ts';

const button = { type: 2, style: 1, label: 'Go', custom_id: 'go' };
const link = { type: 2, style: 5, label: 'See', url: 'https://example.org' };
const select = { type: 3, custom_id: 'which', options: [{ label: 'A', value: 'a' }] };

function rowsOf(...rows: object[][]): object[] {
  return rows.map((components) => ({ type: 1, components }));
}

function buttons(count: number, prefix = 'b'): object[] {
  return Array.from({ length: count }, (_, index) => ({ ...button, custom_id: `${prefix}${index}` }));
}

describe('the components of a message', () => {
  it('are up to five rows of up to five buttons or one select, and come out numbered', () => {
    const form = parseMessageForm({ content: 'a', components: rowsOf([button, link], [select]) });
    expect(form.components).toEqual([
      {
        type: 1,
        id: 1,
        components: [
          { ...button, id: 2 },
          { ...link, id: 3 },
        ],
      },
      { type: 1, id: 4, components: [{ ...select, id: 5 }] },
    ]);
    const most = rowsOf(...['a', 'b', 'c', 'd', 'e'].map((prefix) => buttons(5, prefix)));
    expect(parseMessageForm({ components: most }).components).toHaveLength(5);
    expect(parseMessageForm({ content: 'a' }).components).toBeUndefined();
    expect(parseMessageForm({ components: [] }).components).toEqual([]);
    expect(parseMessageForm({ components: null }).components).toEqual([]);
  });

  it.each([
    ['six rows', rowsOf(...['a', 'b', 'c', 'd', 'e', 'f'].map((prefix) => buttons(1, prefix)))],
    ['six buttons in a row', rowsOf(buttons(6))],
    ['an empty row', rowsOf([])],
    ['a button outside of a row', [button]],
    ['one custom id twice', rowsOf([button], [{ ...button, label: 'Again' }])],
    ['an empty custom id', rowsOf([{ ...button, custom_id: '' }])],
    ['a custom id of 101 characters', rowsOf([{ ...button, custom_id: 'x'.repeat(101) }])],
    ['a label of 81 characters', rowsOf([{ ...button, label: 'x'.repeat(81) }])],
    ['a button that shows nothing', rowsOf([{ ...button, label: undefined }])],
    ['a button without custom id', rowsOf([{ ...button, custom_id: undefined }])],
    ['a link with a custom id', rowsOf([{ ...link, custom_id: 'a' }])],
    ['a link to a file', rowsOf([{ ...link, url: 'file:///etc/passwd' }])],
    ['a style that there is not', rowsOf([{ ...button, style: 9 }])],
    ['a select beside a button', rowsOf([select, button])],
    ['a select without options', rowsOf([{ ...select, options: [] }])],
    [
      'a select with one value twice',
      rowsOf([{ ...select, options: [...select.options, ...select.options] }]),
    ],
    [
      'a select of which more must be chosen than there is',
      rowsOf([{ ...select, min_values: 2, max_values: 2 }]),
    ],
  ])('are not %s', (_, components) => {
    expect(() => parseMessageForm({ content: 'a', components })).toThrow(
      expect.objectContaining({ code: 50_035, status: 400 }),
    );
  });

  it('are refused with every wrong field at its place in the form', () => {
    const components = rowsOf([button], [{ ...button, custom_id: '', label: 'x'.repeat(81) }]);
    expect(() => parseMessageForm({ components })).toThrow(
      expect.objectContaining({
        errors: {
          components: {
            1: {
              components: {
                0: {
                  custom_id: { _errors: [expect.objectContaining({ code: 'TOO_SMALL' })] },
                  label: { _errors: [expect.objectContaining({ code: 'TOO_BIG' })] },
                },
              },
            },
          },
        },
      }),
    );
  });
});

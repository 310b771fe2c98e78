import type { Suggestion } from '../sandbox/terminal/guide.ts';
import type { Demonstration } from '../sandbox/terminal/run-terminal-chat.ts';

/** A short conversation in the sandbox: remembered, used, kept private, shown, forgotten. */
export const demonstration: Demonstration = {
  scenes: [
    {
      caption: 'Alice tells it something in #dev …',
      lines: [{ place: '#dev', text: '!memory remember I prefer Rust over Go for command line tools' }],
    },
    {
      caption: '… and it knows it in #general.',
      lines: [{ place: '#general', text: 'which language should I use for my command line tool?' }],
    },
    {
      caption: 'What she says in a DM stays there: in public it does not know it, in the DM it does.',
      lines: [
        { place: '@dm', text: '!memory remember My surprise party is on Friday' },
        { place: '#general', text: 'when is the party?' },
        { place: '@dm', text: 'when is the party?' },
      ],
    },
    {
      caption: 'It shows what it remembers and why; in public only what may be used there.',
      lines: [
        { place: '#general', text: '!memory show' },
        { place: '@dm', text: '!memory show' },
      ],
    },
    {
      caption:
        'From the menu of a message it remembers what she has just said; a slash command it answers to her alone.',
      lines: [
        { place: '#dev', text: 'I always drink green tea while I debug' },
        { place: '#dev', text: '/menu "Remember this" ^2' },
        { place: '#dev', text: '/react 👍' },
        { place: '#general', text: '/memory show' },
      ],
    },
    {
      caption: 'And it forgets when told.',
      lines: [
        { place: '#general', text: '!memory forget Rust' },
        { place: '#general', text: 'which language should I use for my command line tool?' },
      ],
    },
  ],
  ending:
    'That was the demonstration. In a terminal, `npm start` opens a chat of your own; `npm start < messages.txt` takes each line as a message.',
};

/** First steps for newcomers in the terminal; each works with the offline stand-in. */
export const suggestions: readonly Suggestion[] = [
  { lead: 'Tell it something:', line: 'remember that I am allergic to peanuts' },
  { lead: 'Ask in other words:', line: 'what food should I avoid?' },
  { lead: 'See all that it knows:', line: '!memory show' },
];

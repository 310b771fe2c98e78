import type { ModelRequest } from '../../core/model.ts';
import { readRequest, requestText } from './read-request.ts';

/** Keeps the beginning of a profile, as far as the limit that the request states goes, and moves the lines after it to a topic. */
export function composeTrim(request: ModelRequest): string {
  const lines = readRequest(request).sections.get('user_profile') ?? [];
  const [, stated] = /under (\d+) characters/u.exec(requestText(request)) ?? [];
  const limit = Number(stated ?? 0);
  let used = 0;
  const end = lines.findIndex((line) => {
    used += line.length + 1;
    return used > limit;
  });
  const kept = end === -1 ? lines : lines.slice(0, Math.max(1, end));
  const moved = lines.slice(kept.length);
  const topics = moved.length === 0 ? [] : [{ path: 'topics/profile.md', content: moved.join('\n') }];
  return JSON.stringify({ userMd: kept.join('\n'), topics });
}

import type { ApiRequest } from '../../../src/sandbox/rest/rest-context.ts';
import { routePattern } from './faults.ts';

/** A request that the bot made. */
export interface RecordedRequest extends ApiRequest {
  /** ISO 8601, UTC. */
  readonly at: string;
  /** 0 until it is answered, and where it never was. */
  status: number;
}

/** What the bot asked of the API, and which files it fetched. */
export function createRequestLog(now: () => Date) {
  const requests: RecordedRequest[] = [];
  const byRequest = new WeakMap<ApiRequest, RecordedRequest>();
  return {
    add(request: ApiRequest): void {
      const entry = { ...request, at: now().toISOString(), status: 0 };
      byRequest.set(request, entry);
      requests.push(entry);
    },
    answered(request: ApiRequest, status: number): void {
      const entry = byRequest.get(request);
      if (entry !== undefined) entry.status = status;
    },
    calls: {
      /** Oldest first; `path` is that after `/api/v10`, with `*` for any one segment. */
      requests: async (wish: { readonly method?: string; readonly path?: string } = {}) =>
        requests.filter(
          (request) =>
            !isFile(request) &&
            (wish.path === undefined || routePattern(wish.path).test(request.path)) &&
            (wish.method === undefined || wish.method === request.method),
        ),
      /** What counts against a bot at Discord, which shuts it out after 10,000 within ten minutes: 401, 403, and 429. */
      invalidRequests: async () => {
        const found = requests.filter(({ status }) => [401, 403, 429].includes(status));
        return { count: found.length, requests: found };
      },
      /** What was fetched of files, oldest first. */
      downloads: async () =>
        requests.filter(isFile).map(({ path, at, status, headers }) => ({
          path,
          at,
          status,
          /** Whether the bot gave away its token, which files do not need. */
          sentToken: headers.authorization !== undefined,
        })),
    },
  };
}

function isFile({ path }: ApiRequest): boolean {
  return path.startsWith('/attachments/');
}

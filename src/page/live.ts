/** Somebody's open page. */
interface OpenPage {
  readonly write: (text: string) => void;
  readonly close: () => void;
}

const pagesPerPerson = 10;

export type LivePages = ReturnType<typeof createLivePages>;

/** The open pages of each person, which look again when something of theirs changes [Y3]. */
export function createLivePages() {
  const pages = new Map<string, readonly OpenPage[]>();
  return {
    /** The returned function takes the page away. The oldest of too many is closed. */
    add(userId: string, page: OpenPage): () => void {
      const open = [...(pages.get(userId) ?? []), page];
      for (const old of open.slice(0, -pagesPerPerson)) old.close();
      pages.set(userId, open.slice(-pagesPerPerson));
      return () => {
        const left = (pages.get(userId) ?? []).filter((each) => each !== page);
        if (left.length === 0) pages.delete(userId);
        else pages.set(userId, left);
      };
    },
    tell(userId: string): void {
      for (const { write } of pages.get(userId) ?? []) write('data: changed\n\n');
    },
  };
}

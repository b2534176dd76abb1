import { LinkError } from "./errors.ts"
import type { AnyPage } from "./types.ts"

/** Yields the pages of a list, each fetched when it is needed. */
export async function* followPages(
  firstUrl: string,
  getPage: (url: string) => Promise<AnyPage>,
): AsyncGenerator<AnyPage, void, void> {
  let url: string | undefined = firstUrl
  while (url) {
    const page = await getPage(url)
    yield page
    url = page.links.next && toOwnUrl(page.links.next, firstUrl)
  }
}

/** The link, if it leads to the same server: the token must not go anywhere else. */
function toOwnUrl(link: string, firstUrl: string): string {
  const own = new URL(firstUrl)
  const url = URL.canParse(link, own.href) ? new URL(link, own) : undefined
  // Not `origin`: a blob: URL has that of the page that created it.
  if (url?.protocol !== own.protocol || url.host !== own.host) {
    throw new LinkError(
      `Cannot follow the link to the next page "${link}": it does not lead to "${own.origin}"`,
    )
  }
  return own.origin + url.pathname + url.search
}

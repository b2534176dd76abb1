import { LinkError } from "./errors.ts"
import type { AnyPage } from "./types.ts"

/** Follows a list from page to page. Nobody is asked for a page before it is wanted. */
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

/** The link, if it leads to the server that the list is from: the token is meant for no other. */
function toOwnUrl(link: string, firstUrl: string): string {
  const own = new URL(firstUrl)
  const url = URL.canParse(link, own.href) ? new URL(link, own) : undefined
  // Not `origin`: a blob: URL claims that of the page that made it.
  if (url?.protocol !== own.protocol || url.host !== own.host) {
    throw new LinkError(
      `Cannot follow the link to the next page "${link}": it does not lead to "${own.origin}"`,
    )
  }
  return own.origin + url.pathname + url.search
}

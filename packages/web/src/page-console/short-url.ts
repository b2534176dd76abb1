import { pageLimits } from "./page-message.ts"

/** The path of an address of the page's own origin; other addresses as they are. */
export function toShortUrl(address: string): string {
  try {
    const url = new URL(address, document.baseURI)
    const text =
      url.origin === location.origin ? url.pathname + url.search : url.href.replace(/#.*$/, "")
    return text.slice(0, pageLimits.urlCharsMax)
  } catch {
    return address.slice(0, pageLimits.urlCharsMax)
  }
}

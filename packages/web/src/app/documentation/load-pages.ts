/** A page of the documentation of this server. */
export interface DocPage {
  readonly name: string
  readonly title: string
  readonly group: string
  /** Markdown. */
  readonly text: string
}

let loaded: readonly DocPage[] | undefined

/** Fetches all pages, once: they belong to the version of the server, and the search reads them all. */
export async function loadPages(signal: AbortSignal): Promise<readonly DocPage[]> {
  if (loaded) return loaded
  const response = await fetch("/docs/pages.json", { signal, credentials: "omit" })
  if (!response.ok) throw new Error(`Cannot load the documentation: status ${response.status}`)
  const { pages } = (await response.json()) as { readonly pages: readonly DocPage[] }
  loaded = pages
  return pages
}

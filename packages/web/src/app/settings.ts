/** What the server has told the page. */
export interface Settings {
  /** Host and port under which vals have addresses of their own. */
  readonly valsDomain: string
  readonly version: string
  /** Where the worker that knows types is, and the types that it knows. */
  readonly typeWorker: string
  readonly typeLibs: string
  /** What everybody who looks at a page should know. */
  readonly notice: string | null
}

/** Read once: the page stays the one that it was when it was loaded. */
export const settings: Settings = JSON.parse(readMeta("hamlet"))

/**
 * Whether the page is one that others may put into theirs. It stays that: whatever else they could
 * show in it, they may not.
 */
export const isEmbedded: boolean = location.pathname.startsWith("/embed/")

function readMeta(name: string): string {
  return document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? "{}"
}

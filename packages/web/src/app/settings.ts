/** The settings that the server put into the page. */
export interface Settings {
  /** Host and port under which vals have addresses of their own. */
  readonly valsDomain: string
  readonly version: string
  /** The addresses of the type worker and of its libraries. */
  readonly typeWorker: string
  readonly typeLibs: string
  readonly nodeTypes: string
  readonly domTypes: string
  /** The operator's notice for all users. */
  readonly notice: string | null
  /** The name of the OpenID Connect provider; null for none. */
  readonly providerName: string | null
}

/** Read once, when the page is loaded. */
export const settings: Settings = JSON.parse(readMeta("hamlet"))

/** Whether this is the embeddable page. Fixed at load: a frame never shows other pages. */
export const isEmbedded: boolean = location.pathname.startsWith("/embed/")

function readMeta(name: string): string {
  return document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? "{}"
}

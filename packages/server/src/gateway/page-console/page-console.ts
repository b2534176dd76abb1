import { hasPreviewCookie } from "../../shared/cookies.ts"
import type { HeaderRecord } from "../request/request-headers.ts"

/** The script that tells the web app what a page logs, fetches and throws. */
export interface PageScript {
  /** The file name, with a hash of the body. */
  readonly name: string
  readonly body: Uint8Array
}

/** A request of the frame that shows the page of a val beside its code. */
interface FramedRequest {
  /** The headers for the val. */
  readonly headers: HeaderRecord
  /** What a page gets in response. */
  readonly tag: Uint8Array
}

/** Adds the script to pages in the frame of a preview, and serves it. */
export interface PageConsole {
  /**
   * The script, if the path is its own; it belongs to no val, so it is the same at every host name.
   * Undefined at once for the paths of vals.
   */
  serve(method: string, path: string): Promise<Response | undefined> | undefined
  /** Undefined at once for all requests but those of the frame of a preview. */
  recognise(method: string, headers: HeaderRecord): Promise<FramedRequest | undefined> | undefined
}

/** At every val. No val has a route there by chance, since the name of the script has a hash. */
const folder = "/.hamlet/"

/** Creates the console of pages. */
export function createPageConsole(deps: {
  readonly baseUrl: string
  pageScript(): Promise<PageScript>
  onError(error: unknown): void
}): PageConsole {
  const appOrigin = new URL(deps.baseUrl).origin
  // Without the script, pages of vals are shown as they are.
  const find = () =>
    deps.pageScript().catch((error: unknown) => {
      deps.onError(error)
      return undefined
    })
  return {
    serve(method, path) {
      if (method !== "GET" || !path.startsWith(folder)) return undefined
      return find().then((script) =>
        script && path === folder + script.name ? toResponse(script) : undefined,
      )
    },
    recognise(method, headers) {
      if (!isPreviewFrame(method, headers, appOrigin)) return undefined
      return find().then(
        (script) =>
          script && {
            headers: toValHeaders(headers, appOrigin),
            tag: Buffer.from(
              `<script src="${folder}${script.name}" data-app="${appOrigin}"></script>`,
            ),
          },
      )
    },
  }
}

/**
 * Whether a page is loaded by the frame beside its code. That frame alone sends the origin of the app
 * as its referrer. What a link or a form inside the frame leads to is recognised by a cookie, which
 * browsers keep apart for each site that has frames. Browsers leave out the destination over plain
 * http, except on this machine.
 */
function isPreviewFrame(method: string, headers: HeaderRecord, appOrigin: string): boolean {
  const destination = headers["sec-fetch-dest"]
  if (destination !== undefined && destination !== "iframe") return false
  if (isAppReferrer(headers, appOrigin)) return method === "GET"
  return destination !== undefined && method !== "HEAD" && hasPreviewCookie(headers.cookie ?? "")
}

/** The val must not see the referrer, and its page must not be compressed. */
function toValHeaders(headers: HeaderRecord, appOrigin: string): HeaderRecord {
  const { referer, ...others } = headers
  return {
    ...others,
    ...(isAppReferrer(headers, appOrigin) ? {} : { referer }),
    "accept-encoding": "identity",
  }
}

function isAppReferrer({ referer }: HeaderRecord, appOrigin: string): boolean {
  return referer === `${appOrigin}/`
}

function toResponse({ body }: PageScript): Response {
  return new Response(new Uint8Array(body), {
    headers: {
      "content-type": "text/javascript; charset=utf-8",
      "cache-control": "public, max-age=31536000, immutable",
      "cross-origin-resource-policy": "same-origin",
      "x-content-type-options": "nosniff",
    },
  })
}

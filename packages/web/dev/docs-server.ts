import type { DocsPage } from "../src/index.ts"

// The CSP of the real server: nothing is loaded from other origins, and inline scripts and styles
// are blocked.
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** The options of the docs server. */
export interface DocsServerOptions {
  readonly port: number
  readonly page: DocsPage
  /** Handles all other requests. */
  readonly respond: (request: Request) => Response | Promise<Response>
}

/** Serves the page as in production, with a fake API. */
export function startDocsServer(options: DocsServerOptions): Bun.Server<undefined> {
  return Bun.serve({
    hostname: "127.0.0.1",
    port: options.port,
    development: false,
    async fetch(request) {
      const { pathname } = new URL(request.url)
      if (!/^\/docs(\/|$)/.test(pathname)) return await options.respond(request)
      const { html, assets } = options.page
      const asset = assets.get(pathname)
      if (asset)
        return new Response(new Uint8Array(asset.body), {
          headers: { "content-type": asset.contentType },
        })
      if (pathname !== "/docs") return new Response("Not Found", { status: 404 })
      return new Response(html, {
        headers: { "content-type": "text/html; charset=utf-8", "content-security-policy": policy },
      })
    },
  })
}

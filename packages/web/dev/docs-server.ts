import { buildDocsPage, type DocsPage } from "../src/index.ts"

// What the server sends with the page: nothing may come from anywhere else, and no inline script or
// style may run.
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** How the page is served. */
export interface DocsServerOptions {
  readonly port: number
  /** Built anew for each request when absent, so that a change shows on reload. */
  readonly page?: DocsPage
  /** The rest of the server. */
  readonly respond: (request: Request) => Response | Promise<Response>
}

/** Serves the page as in production, with a made-up API behind it. */
export function startDocsServer(options: DocsServerOptions): Bun.Server<undefined> {
  return Bun.serve({
    hostname: "127.0.0.1",
    port: options.port,
    development: false,
    async fetch(request) {
      const { pathname } = new URL(request.url)
      if (!/^\/docs(\/|$)/.test(pathname)) return await options.respond(request)
      const { html, assets } = options.page ?? (await buildDocsPage())
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

import { openApi, type TestApi } from "./api.ts"
import { assertMatchesOpenApi, parseJson } from "./assert-openapi.ts"
import type { OpenDatabase } from "./databases.ts"

/** A request as it arrived at the server. */
export interface LoopbackRequest {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: Headers
}

/**
 * The whole server behind a port of the loopback address, for clients that bring an HTTP of their
 * own.
 */
export interface Loopback {
  readonly api: TestApi
  /**
   * The configured address, at which the server really listens: clients follow the links in its
   * responses.
   */
  readonly baseUrl: string
  /** Every request so far. */
  readonly seen: readonly LoopbackRequest[]
  close(): Promise<void>
}

/** Opens the server on a database and listens; `env` are settings of the operator. */
export async function openLoopback(
  open: OpenDatabase,
  env: Record<string, string> = {},
): Promise<Loopback> {
  const seen: LoopbackRequest[] = []
  let api: TestApi | undefined
  // The port has to be known before the first link is made, so the server listens before there is
  // anything behind it.
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    // A slow machine may need longer for a response than a connection may be idle by default.
    idleTimeout: 0,
    async fetch(request, self): Promise<Response> {
      const { pathname: path, searchParams: query } = new URL(request.url)
      seen.push({ method: request.method, path, query, headers: request.headers })
      if (!api) return new Response("not yet", { status: 503 })
      const address = () => self.requestIP(request)?.address ?? ""
      return checked(request.method, path, await api.hamlet.app.fetch(request, { address }))
    },
  })
  const baseUrl = `http://127.0.0.1:${server.port}`
  const opened = await openApi(open, { HAMLET_BASE_URL: baseUrl, ...env })
  api = opened
  return {
    api: opened,
    baseUrl,
    seen,
    async close() {
      await server.stop(true)
      await opened.close()
    },
  }
}

/**
 * The response itself, or, if the OpenAPI document does not describe it, a response that makes the
 * test fail and explains why.
 */
async function checked(method: string, path: string, response: Response): Promise<Response> {
  const bytes = await response.clone().bytes()
  const text = new TextDecoder().decode(
    response.headers.get("content-encoding") === "gzip" ? Bun.gunzipSync(bytes) : bytes,
  )
  const { status, headers } = response
  try {
    assertMatchesOpenApi(method, path, {
      status,
      headers,
      text,
      json: parseJson({ headers, text }),
    })
    return response
  } catch (error) {
    return Response.json(
      { message: `the response is not as documented: ${error}` },
      { status: 500, headers: { "x-should-retry": "false" } },
    )
  }
}

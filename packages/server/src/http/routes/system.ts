import { toOpenApi } from "@hamlet/contract"
import { AppError } from "../../domain/app-error.ts"
import type { Handlers } from "../call.ts"
import type { HttpDeps } from "../deps.ts"
import type { Metrics } from "../ops/metrics.ts"
import { acceptsEncoding, toScriptSources } from "../pages/page-files.ts"
import { type ApiResponse, content, json } from "../response/api-response.ts"

const docsFolder = "/docs/assets/"

/** Health, metrics, the OpenAPI document and the API reference. */
export function systemHandlers(deps: HttpDeps, metrics: Metrics) {
  let openApi: Uint8Array | undefined
  return {
    getOpenApi: async ({ request }) => {
      openApi ??= new TextEncoder().encode(
        JSON.stringify(toOpenApi({ baseUrl: deps.links.baseUrl, version: deps.version })),
      )
      return gzip(content("application/json; charset=utf-8", openApi), request)
    },
    getDocs: async ({ request }) =>
      content(
        "text/html; charset=utf-8",
        (await deps.docsPage()).html,
        pageHeaders(toScriptSources(deps.links.baseUrl, request, docsFolder)),
      ),
    getHealth: async () => json(200, { status: "ok", version: deps.version }),
    getReadiness: async () => {
      const database = await deps.checkDatabase()
      const { isolation, problem } = deps.runner.status()
      if (problem !== undefined) throw new AppError("sandbox_unavailable", problem)
      return json(200, {
        status: "ok",
        version: deps.version,
        ...database,
        isolation,
        warnings: deps.isolationWarnings(),
      })
    },
    getMetrics: async () => content("text/plain; version=0.0.4; charset=utf-8", metrics.print()),
  } satisfies Partial<Handlers>
}

function pageHeaders(scripts: string): Record<string, string> {
  return {
    "content-security-policy": `default-src 'none'; script-src ${scripts}; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    "referrer-policy": "no-referrer",
  }
}

/** A file of the page at `/docs`. Its name contains a hash of its content. */
export async function docsAsset(
  deps: HttpDeps,
  path: string,
  request: Request,
): Promise<ApiResponse> {
  const asset = (await deps.docsPage()).assets.get(path)
  if (!asset) throw new AppError("route_not_found", `Cannot find ${path}`)
  return gzip(
    content(asset.contentType, asset.body, {
      "cache-control": "public, max-age=31536000, immutable",
    }),
    request,
  )
}

const gzipCache = new WeakMap<Uint8Array, Uint8Array>()

/** Compresses a body that never changes, once, if the client accepts it. */
function gzip(response: ApiResponse, request: Request): ApiResponse {
  const { body } = response
  if (!(body instanceof Uint8Array)) return response
  const headers = { ...response.headers, vary: "accept-encoding" }
  if (!acceptsEncoding(request, "gzip")) return { ...response, headers }
  const compressed = gzipCache.get(body) ?? Bun.gzipSync(new Uint8Array(body))
  gzipCache.set(body, compressed)
  return { ...response, headers: { ...headers, "content-encoding": "gzip" }, body: compressed }
}

import { toOpenApi } from "@hamlet/contract"
import { AppError } from "../../domain/app-error.ts"
import type { Handlers } from "../call.ts"
import type { Nouns } from "../nouns.ts"
import type { Metrics } from "../ops/metrics.ts"
import { serveDocsPage } from "../pages/docs-page.ts"
import { gzip } from "../pages/page-files.ts"
import { content, json } from "../response/api-response.ts"

/** Health, metrics, the OpenAPI document and the API reference. */
export function systemHandlers({ runs, services, api, webhooks }: Nouns, metrics: Metrics) {
  const { version } = api
  let openApi: Uint8Array | undefined
  return {
    getOpenApi: async ({ request }) => {
      openApi ??= new TextEncoder().encode(
        JSON.stringify(toOpenApi({ baseUrl: api.links.baseUrl, version })),
      )
      return gzip(content("application/json; charset=utf-8", openApi), request)
    },
    getDocs: ({ request }) => serveDocsPage(api, request),
    getHealth: async () => json(200, { status: "ok", version }),
    getReadiness: async () => {
      const database = await api.checkDatabase()
      const { isolation, problem } = runs.runner.status()
      if (problem !== undefined) throw new AppError("sandbox_unavailable", problem)
      const warnings = api.isolationWarnings()
      return json(200, { status: "ok", version, ...database, isolation, warnings })
    },
    getMetrics: async () => {
      const depth = await runs.queue.readDepth()
      const mail = await services.readSentMail()
      const events = await webhooks.readSentEvents()
      return content("text/plain; version=0.0.4; charset=utf-8", metrics.print(depth, mail, events))
    },
  } satisfies Partial<Handlers>
}

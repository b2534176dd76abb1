import { toOwnJson } from "@hamlet/kit"
import { AppError } from "../../domain/app-error.ts"
import type { NodeStatus, ServiceStatus } from "../../domain/nodes.ts"
import type { Handlers } from "../call.ts"
import type { Nouns } from "../nouns.ts"
import type { Metrics } from "../ops/metrics.ts"
import { gzip } from "../pages/page-files.ts"
import { serveWebApp } from "../pages/web-app.ts"
import { content, json } from "../response/api-response.ts"

/** Health, metrics, the OpenAPI document and the API reference. */
export function systemHandlers(nouns: Nouns, metrics: Metrics) {
  const { runner, queue, backups, api } = nouns
  const { version } = api
  let openApi: Promise<Uint8Array> | undefined
  const count = () =>
    Promise.all([
      queue.readDepth(),
      api.readSentMail(),
      api.readSentEvents(),
      backups.readAgeMs(),
    ] as const)
  /** Requests at the same time share it: each would take connections to the database otherwise. */
  let counting: ReturnType<typeof count> | undefined
  return {
    getOpenApi: async ({ request }) => {
      openApi ??= createOpenApi(api)
      return gzip(content("application/json; charset=utf-8", await openApi), request)
    },
    getDocs: ({ request }) => serveWebApp(nouns, "/docs", request),
    getHealth: async () => json(200, { status: "ok", version }),
    getReadiness: async () => {
      if (api.isStopping())
        throw new AppError("overloaded", "Cannot take further requests: the server is stopping")
      const database = await api.checkDatabase()
      const node = api.nodeStatus()
      assertWritable(node)
      const { isolation, problem } = runner.status()
      if (problem !== undefined) throw new AppError("sandbox_unavailable", problem)
      const warnings = [
        ...api.isolationWarnings(),
        ...toClockWarnings(node),
        ...toServiceWarnings(api.serviceStatus()),
      ]
      return json(200, { status: "ok", version, ...database, isolation, warnings })
    },
    getMetrics: async () => {
      counting ??= count().finally(() => {
        counting = undefined
      })
      const [depth, mail, events, backupAgeMs] = await counting
      const text = metrics.print({ depth, mail, events, backupAgeMs })
      return content("text/plain; version=0.0.4; charset=utf-8", text)
    },
  } satisfies Partial<Handlers>
}

/** The descriptions are loaded with the first request for them. */
async function createOpenApi({ links, version }: Nouns["api"]): Promise<Uint8Array> {
  const { toOpenApi } = await import("@hamlet/contract/openapi")
  return new TextEncoder().encode(toOwnJson(toOpenApi({ baseUrl: links.baseUrl, version })))
}

/** Throws when the database responds, but did not accept the last renewal of the node's lease. */
function assertWritable({ problem }: NodeStatus): void {
  if (problem === undefined) return
  if (problem instanceof AppError) throw problem
  throw new AppError("database_unavailable", "Cannot renew the lease of this node", {
    cause: problem,
  })
}

/** Warnings and no refusal: all else works, and a restart would not help. */
function toServiceWarnings(services: readonly ServiceStatus[]): readonly string[] {
  return services.flatMap(({ service, problem }) =>
    problem === undefined ? [] : [`${service.use} cannot be used: ${problem}`],
  )
}

function toClockWarnings({ isClockWrong, clockSkewMs }: NodeStatus): readonly string[] {
  if (!isClockWrong) return []
  const seconds = Math.round(Math.abs(clockSkewMs) / 1000)
  return [
    `The clock of this machine is ${seconds} s ${clockSkewMs > 0 ? "ahead of" : "behind"} the database's: set both by NTP, since receivers refuse events that are signed with a wrong time`,
  ]
}

import { type TelemetryAttribute, type telemetryLog, toRunId, type trace } from "@hamlet/contract"
import type { z } from "zod"
import type { LogLine, RunStatus } from "../../../domain/runs/runs.ts"
import type { TelemetryLog, TelemetryQuery, Trace } from "../../../domain/telemetry/telemetry.ts"
import { nanosPerMs, type TimePage, toNanos } from "../../../domain/telemetry/time-pages.ts"
import type { Handlers } from "../../call.ts"
import type { Nouns } from "../../nouns.ts"
import type { ApiResponse } from "../../response/api-response.ts"
import type { Links } from "../../response/links.ts"
import { toLink, writeList } from "../../response/page.ts"

/** Runs and logs in the form of OpenTelemetry. */
export function telemetryHandlers({ telemetry, api: { links } }: Nouns) {
  return {
    listTraces: async ({ caller, query, request }) => {
      const filter = { ...toQuery(query), orderBy: query.order_by }
      const found = await telemetry.listTraces(caller, filter)
      return respondPage(links, request, filter, found, (it) => toTraceView(it, links))
    },
    listTelemetryLogs: async ({ caller, query, request }) => {
      const filter = { ...toQuery(query), runIds: query.trace_ids?.map(toRunId) }
      return respondPage(
        links,
        request,
        filter,
        await telemetry.listLogs(caller, filter),
        toLogView,
      )
    },
  } satisfies Partial<Handlers>
}

interface Query {
  readonly direction: "asc" | "desc"
  readonly limit: number
  readonly start?: bigint | undefined
  readonly end?: bigint | undefined
  readonly branch_ids?: readonly string[] | undefined
  readonly file_id?: string | undefined
}

function toQuery({ branch_ids: branchIds, file_id: fileId, ...page }: Query): TelemetryQuery {
  const { direction, limit, start, end } = page
  return { direction, limit, start, end, branchIds, fileId }
}

/** A client reads where to go on out of the link to the next page. */
async function respondPage<Item>(
  links: Links,
  request: Request,
  { direction }: TelemetryQuery,
  { items, next }: TimePage<Item>,
  toView: (item: Item) => unknown,
): Promise<ApiResponse> {
  const bound = direction === "asc" ? "start" : "end"
  const neighbours = {
    self: toLink(links, request, {}),
    ...(next === undefined ? {} : { next: toLink(links, request, { [bound]: toNanoText(next) }) }),
  }
  return (await writeList(items, toView)).end({ links: neighbours })
}

/** With nanoseconds only where there are any. */
function toNanoText(nanos: bigint): string {
  const text = new Date(Number(nanos / nanosPerMs)).toISOString()
  const rest = nanos % nanosPerMs
  return rest === 0n ? text : text.replace("Z", `${String(rest).padStart(6, "0")}Z`)
}

function toTraceView(it: Trace, links: Links): z.infer<typeof trace> {
  const { run, path, type } = it
  return {
    traceId: toTraceId(run.id),
    name: `${run.source} ${path}`,
    startTimeUnixNano: String(toNanos(run.startedAt)),
    endTimeUnixNano: run.endedAt === null ? "0" : String(toNanos(run.endedAt)),
    attributes: [
      text("val.type", type),
      ...toFileAttributes(it),
      integer("val.version", run.val.version),
      ...toRequestAttributes(it, links),
      ...toHeaderAttributes("http.request.header", it.requestHeaders),
      ...toHeaderAttributes("http.response.header", it.responseHeaders),
    ],
    status: { code: toStatusCode(run.status), message: run.error?.message ?? "" },
  }
}

/** Clients rely on the method and the address of each trace of an http file. */
function toRequestAttributes(it: Trace, links: Links): TelemetryAttribute[] {
  const { run, type } = it
  const { request } = run
  if (request === null && type !== "http") return []
  const isOwn = it.fileId === run.val.id
  const endpoint = isOwn ? links.endpoint(run.val) : links.fileEndpoint(run.val, it.fileId)
  const { method, url } = request ?? { method: "GET", url: endpoint }
  const status = request?.status ?? null
  return [
    text("http.request.method", method),
    text("url.full", url),
    ...(status === null ? [] : [integer("http.response.status_code", status)]),
  ]
}

function toHeaderAttributes(
  prefix: string,
  headers: Trace["requestHeaders"],
): readonly TelemetryAttribute[] {
  return headers.map(([name, value]) => text(`${prefix}.${name.toLowerCase()}`, value))
}

function toLogView(it: TelemetryLog): z.infer<typeof telemetryLog> {
  return {
    traceId: toTraceId(it.runId),
    timeUnixNano: String(it.at),
    severityText: toSeverity(it.line.level),
    body: { stringValue: it.line.message },
    attributes: toFileAttributes(it),
  }
}

function toFileAttributes(it: Pick<Trace, "fileId" | "branchId">): TelemetryAttribute[] {
  return [text("val.file_id", it.fileId), text("val.branch_id", it.branchId)]
}

function toSeverity(level: LogLine["level"]): "stdout" | "stderr" {
  return level === "warn" || level === "error" ? "stderr" : "stdout"
}

/** The codes of OpenTelemetry: unset, ok, error. */
function toStatusCode(status: RunStatus): number {
  return status === "succeeded" ? 1 : status === "queued" || status === "running" ? 0 : 2
}

function toTraceId(runId: string): string {
  return runId.split("-").join("")
}

function text(key: string, value: string): TelemetryAttribute {
  return { key, value: { stringValue: value } }
}

function integer(key: string, value: number): TelemetryAttribute {
  return { key, value: { intValue: String(value) } }
}

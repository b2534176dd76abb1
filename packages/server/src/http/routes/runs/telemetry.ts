import { type TelemetryAttribute, type telemetryLog, toRunId, type trace } from "@hamlet/contract"
import type { PageRoom } from "@hamlet/database/page"
import type { z } from "zod"
import type { LogLine, RunStatus } from "../../../domain/runs/runs.ts"
import type { TelemetryLog, TelemetryQuery, Trace } from "../../../domain/telemetry/telemetry.ts"
import { nanosPerMs, type TimePage, toNanos } from "../../../domain/telemetry/time-pages.ts"
import type { Handlers } from "../../call.ts"
import type { Nouns } from "../../nouns.ts"
import type { ApiResponse } from "../../response/api-response.ts"
import type { Links } from "../../response/links.ts"
import { toLink, type WrittenList, writeList } from "../../response/page.ts"

/** Runs and logs in the form of OpenTelemetry. */
export function telemetryHandlers({ telemetry, api: { links } }: Nouns) {
  return {
    listTraces: async ({ caller, query, request, room }) => {
      const filter = { ...toQuery(query), orderBy: query.order_by }
      const found = await telemetry.listTraces(caller, filter)
      const toTime = ({ run }: Trace) =>
        toNanos(query.order_by === "end_time" ? (run.endedAt ?? 0) : run.startedAt)
      const list = await writeTimes(found.items, (it) => toTraceView(it, links), toTime, room)
      return respondPage(links, request, filter, list, found)
    },
    listTelemetryLogs: async ({ caller, query, request, room }) => {
      // A line may be as long as a log, and a page looks at many logs.
      await room.take()
      const filter = { ...toQuery(query), runIds: query.trace_ids?.map(toRunId) }
      const found = await telemetry.listLogs(caller, filter)
      const list = await writeTimes(found.items, toLogView, ({ at }) => at, room)
      return respondPage(links, request, filter, list, found)
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

/** A list that is cut by time, and where the next page goes on if it ends early. */
interface TimedList<Item> {
  readonly list: WrittenList<Item>
  readonly cutAt: bigint | undefined
}

/** Writes the items. All of one time are on one page, because its links could not tell them apart. */
async function writeTimes<Item>(
  items: readonly Item[],
  toView: (item: Item) => unknown,
  toTime: (item: Item) => bigint,
  room: PageRoom,
): Promise<TimedList<Item>> {
  const list = await writeList(items, toView, room)
  if (!list.isCut) return { list, cutAt: undefined }
  const times = items.map(toTime)
  const isEnd = (count: number) => times[count - 1] !== times[count]
  let count = list.count
  while (count > 0 && !isEnd(count)) count -= 1
  if (count === 0) {
    count = list.count
    while (!isEnd(count)) count += 1
  }
  const whole = count === list.count ? list : await writeList(items.slice(0, count), toView)
  return { list: whole, cutAt: count < items.length ? times[count - 1] : undefined }
}

/** A client reads where to go on out of the link to the next page. */
function respondPage<Item>(
  links: Links,
  request: Request,
  { direction }: TelemetryQuery,
  { list, cutAt }: TimedList<Item>,
  { next }: TimePage<Item>,
): Promise<ApiResponse> {
  const at = cutAt ?? next
  const bound = direction === "asc" ? "start" : "end"
  const neighbours = {
    self: toLink(links, request, {}),
    ...(at === undefined ? {} : { next: toLink(links, request, { [bound]: toNanoText(at) }) }),
  }
  return list.end({ links: neighbours })
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

import { z } from "zod"
import { limits } from "../../limits.ts"
import { idParam, nanoMoment, several } from "../fields.ts"
import { integerParam } from "../inputs.ts"
import { list } from "../lengths.ts"

const idsOf = (item: z.ZodType<string, string>, itemsMax: number) =>
  several.pipe(list(item, itemsMax)).meta({ wire: { type: "array", items: { type: "string" } } })

const telemetryFields = {
  direction: z.enum(["asc", "desc"]).default("desc"),
  limit: integerParam(1, limits.pageItemsMax).default(limits.pageItemsDefault),
  // Both are exclusive. Pages of logs are cut between nanoseconds.
  start: nanoMoment.optional(),
  end: nanoMoment.optional(),
  branch_ids: idsOf(idParam, limits.telemetryBranchesMax).optional(),
  file_id: idParam.optional(),
}

/** The query of a list of traces. */
export const tracesQuery = z.object({
  ...telemetryFields,
  order_by: z.enum(["start_time", "end_time"]).default("start_time"),
})

const traceId = z
  .string()
  .regex(/^[0-9a-f]{32}$/i, "must be 32 hexadecimal digits")
  .transform((value) => value.toLowerCase())

/** The query of a list of log lines. */
export const telemetryLogsQuery = z.object({
  ...telemetryFields,
  trace_ids: idsOf(traceId, limits.telemetryTracesMax).optional(),
})

/** A named value. An integer is a string, because it may have 64 bits. */
const attribute = z
  .object({
    key: z.string(),
    value: z.object({ stringValue: z.string().optional(), intValue: z.string().optional() }),
  })
  .meta({ id: "TelemetryAttribute" })

const nanos = z.string().regex(/^\d+$/)

/** A run as a trace of OpenTelemetry. */
export const trace = z
  .object({
    traceId: z.string(),
    name: z.string(),
    startTimeUnixNano: nanos,
    endTimeUnixNano: nanos,
    attributes: z.array(attribute),
    status: z.object({ code: z.int().min(0).max(2), message: z.string() }),
  })
  .meta({ id: "Trace" })

/** A log line of a run, as a record of OpenTelemetry. */
export const telemetryLog = z
  .object({
    traceId: z.string(),
    timeUnixNano: nanos,
    severityText: z.enum(["stdout", "stderr"]),
    body: z.object({ stringValue: z.string() }),
    attributes: z.array(attribute),
  })
  .meta({ id: "TelemetryLog" })

/** An attribute of a trace or a log line. */
export type TelemetryAttribute = z.infer<typeof attribute>

/** The id of the run of a trace. */
export function toRunId(id: string): string {
  return id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5")
}

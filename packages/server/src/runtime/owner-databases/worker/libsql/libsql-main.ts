// The program of a worker for databases on a libSQL server. It has no network: it turns requests
// into batches for the server to send, and the responses into results.

import type { LibsqlValue } from "../../../../shared/libsql/libsql-server.ts"
import { serveFrames } from "../../../worker-processes/serve-frames.ts"
import { statementLimits } from "../../database-limits.ts"
import {
  type LibsqlCall,
  type LibsqlWorkerReply,
  type LibsqlWorkerSettings,
  mirrorLimits,
  type PlanCall,
  splitMessage,
  toMessage,
} from "../../libsql/libsql-messages.ts"
import { toOutcome } from "../sql-errors.ts"
import { toBatch } from "./plan-batch.ts"
import { readResults } from "./read-results.ts"
import { type Schema, SchemaMirror } from "./schema-mirror.ts"

type Reply = readonly [LibsqlWorkerReply, (string | Uint8Array)?]

const settings = JSON.parse(process.argv[2] ?? "{}") as LibsqlWorkerSettings
const limits = { ...statementLimits, ...mirrorLimits }
/** By database, the one that was used last is the last. */
const mirrors = new Map<string, SchemaMirror>()

await serveFrames((frame) => {
  const { head, bytes } = splitMessage(frame)
  const call = JSON.parse(head) as LibsqlCall
  const [reply, payload = ""] = respond(call, bytes)
  return toMessage(JSON.stringify(reply), Buffer.from(payload))
})

function respond(call: LibsqlCall, bytes: Buffer): Reply {
  if (call.kind === "plan") return plan(call, bytes)
  try {
    return readResults(call, bytes, limits)
  } catch (error) {
    return fail(error, call.bytesMax, undefined)
  }
}

function plan({ request, pagesMax }: PlanCall, schema: Buffer): Reply {
  const { ownerId, valId, mode } = request
  const key = valId ?? ownerId
  if (schema.length > 0) keep(key, new SchemaMirror(toSchema(schema), limits))
  const mirror = mirrors.get(key)
  if (!mirror) return [{ kind: "schema_needed" }]
  keep(key, mirror)
  try {
    const statements = mirror.allow(request)
    const isRead = statements.every((statement) => statement.isRead)
    if (!isRead && pagesMax === undefined) return [{ kind: "room_needed" }]
    const isHeld = !isRead && statements.some(({ hasColumns }) => hasColumns)
    const kinds = statements.map(({ isChange, isInsert }) =>
      isInsert ? "i" : isChange ? "c" : "r",
    )
    const batch = toBatch({
      ...{ statements, isHeld, version: mirror.version },
      pagesMax: isRead ? undefined : pagesMax,
    })
    return [{ kind: "planned", kinds: kinds.join(""), isRead, isHeld }, batch]
  } catch (error) {
    // The tables may have changed since, and another node may have created those that are missing.
    if (schema.length === 0) return [{ kind: "schema_needed" }]
    return fail(error, request.bytesMax ?? 0, mode === "single" ? undefined : mirror.index)
  }
}

function fail(error: unknown, bytesMax: number, index: number | undefined): Reply {
  return [{ kind: "outcome", outcome: toOutcome(error, { folder: "/", bytesMax, index }) }]
}

/** The response to the request for the tables: their version, and their SQL. */
function toSchema(bytes: Buffer): Schema {
  const { results } = JSON.parse(bytes.toString()) as {
    results: { response: { result: { rows: LibsqlValue[][] } } }[]
  }
  const [, version, objects] = results.map(({ response }) => response.result?.rows ?? [])
  return {
    version: toTexts(version?.[0] ?? [])[0] ?? "0",
    objects: (objects ?? []).map((row) => {
      const [type = "", name = "", sql = ""] = toTexts(row)
      return { type, name, sql }
    }),
  }
}

function toTexts(row: readonly LibsqlValue[]): readonly string[] {
  return row.map((value) => ("value" in value ? String(value.value) : ""))
}

/** Forgets the one that was not used for longest, if there are too many. */
function keep(key: string, mirror: SchemaMirror): void {
  const former = mirrors.get(key)
  if (former && former !== mirror) former.stop()
  mirrors.delete(key)
  mirrors.set(key, mirror)
  const [oldest = ""] = mirrors.keys()
  if (mirrors.size <= settings.mirrorsMax) return
  mirrors.get(oldest)?.stop()
  mirrors.delete(oldest)
}

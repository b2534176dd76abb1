// The program of a worker for databases on a libSQL server. It has no network: it turns requests
// into batches for the server to send, and the responses into results.

import { RecentMap } from "@hamlet/kit"
import { serveRequests } from "@hamlet/sandbox/worker"
import { statementLimits } from "../../database-limits.ts"
import {
  knownLimits,
  type LibsqlCall,
  type LibsqlWorkerReply,
  type LibsqlWorkerSettings,
  mirrorLimits,
  type PlanCall,
} from "../../libsql/libsql-messages.ts"
import type { LibsqlValue } from "../../libsql-protocol/libsql-server.ts"
import type { SqlOutcome, SqlRequest } from "../../owner-databases.ts"
import { toOutcome } from "../sql-errors.ts"
import { type BoundStatement, planBatch } from "./plan-batch.ts"
import { readResults, unexpectedMessage } from "./read-results.ts"
import { type Schema, SchemaMirror } from "./schema-mirror.ts"

type Reply = readonly [LibsqlWorkerReply, ...Uint8Array[]]

const settings = JSON.parse(process.argv[2] ?? "{}") as LibsqlWorkerSettings
const limits = { ...statementLimits, ...mirrorLimits }
/** By database. The one that was not used for longest is forgotten, if there are too many. */
const mirrors = new RecentMap<string, SchemaMirror>(settings.mirrorsMax, {
  onDrop: (mirror) => mirror.stop(),
})

const unexpected: SqlOutcome = {
  kind: "unavailable",
  message: unexpectedMessage,
}

await serveRequests(respond)

function respond(call: LibsqlCall, bytes: Buffer): Reply {
  if (call.kind === "plan") return plan(call, bytes)
  return readResults(call, () => JSON.parse(bytes.toString()), limits)
}

function plan({ request, pagesMax }: PlanCall, schema: Buffer): Reply {
  const { ownerId, valId, mode } = request
  const key = valId ?? ownerId
  const tables = schema.length === 0 ? undefined : toSchema(schema)
  if (tables === "invalid") return [{ kind: "outcome", outcome: unexpected }]
  if (tables) mirrors.set(key, new SchemaMirror(tables, limits))
  const mirror = mirrors.get(key)
  if (!mirror) return [{ kind: "schema_needed" }]
  try {
    const statements = mirror.allow(request)
    const { version, hasLateChecks, isDoneTableTheirs } = mirror
    const isRecorded = request.idempotent !== undefined && !isDoneTableTheirs
    const planned = planBatch({ statements, version, pagesMax, isRecorded })
    if (!planned) return [{ kind: "room_needed" }]
    const [plan, batch] = planned
    const compiled = toCompiled(request, statements)
    return [{ ...plan, hasLateChecks, isDoneTableTheirs, compiled }, Buffer.from(batch)]
  } catch (error) {
    // The tables may have changed since, and another node may have created those that are missing.
    if (schema.length === 0) return [{ kind: "schema_needed" }]
    return fail(error, request.bytesMax ?? 0, mode === "single" ? undefined : mirror.index)
  }
}

/** What the server may keep: nothing that depends on a definition before it. */
function toCompiled({ statements: sent }: SqlRequest, statements: readonly BoundStatement[]) {
  const chars = sent.reduce((sum, { sql }) => sum + sql.length, 0)
  const parameters = statements.reduce((sum, each) => sum + each.parameters.length, 0)
  const isDefined = statements.some(({ isRead, isChange }) => !isRead && !isChange)
  if (isDefined || chars > knownLimits.charsMax || parameters > knownLimits.parametersMax)
    return undefined
  return statements.map(({ text, parameters, hasColumns, isRead, isChange, isInsert }) => ({
    text,
    parameters,
    hasColumns,
    isRead,
    isChange,
    isInsert,
  }))
}

function fail(error: unknown, bytesMax: number, index: number | undefined): Reply {
  return [{ kind: "outcome", outcome: toOutcome(error, { folder: "/", bytesMax, index }) }]
}

/** The response to the request for the tables: their version, and their SQL. */
function toSchema(bytes: Buffer): Schema | "invalid" {
  try {
    const { results } = JSON.parse(bytes.toString()) as {
      results: { response: { result: { rows: LibsqlValue[][] } } }[]
    }
    const [, version, objects] = results.map(({ response }) => response.result?.rows ?? [])
    const [number = ""] = toTexts(version?.[0] ?? [])
    if (!/^\d{1,19}$/.test(number)) return "invalid"
    return {
      version: number,
      objects: (objects ?? []).map((row) => {
        const [type = "", name = "", sql = ""] = toTexts(row)
        return { type, name, sql }
      }),
    }
  } catch {
    return "invalid"
  }
}

function toTexts(row: readonly LibsqlValue[]): readonly string[] {
  return row.map((value) => ("value" in value ? String(value.value) : ""))
}

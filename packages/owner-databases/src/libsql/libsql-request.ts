import { type IdempotentRequest, isJsonText, parseJson } from "@hamlet/kit"
import { toRequestJson } from "../database-messages.ts"
import { toNamespace } from "../libsql-protocol/libsql-registry.ts"
import type { DatabaseHome, SentSqlRequest, SqlStatement } from "../owner-databases.ts"
import { listArgs } from "../worker/bind-args.ts"
import { type BoundStatement, planBatch, toKinds } from "../worker/libsql/plan-batch.ts"
import type { KnowableRequest, KnownRequest } from "./known-statements.ts"
import { knownLimits, type LibsqlWorkerReply, type ReadCall } from "./libsql-messages.ts"

/** A request that waits or runs. Its JSON may be megabytes, and is made once. */
export interface Request extends DatabaseHome, KnowableRequest {
  readonly bytesMax: number
  readonly idempotent: IdempotentRequest | undefined
  readonly json: string
  /** Whether it was sent together with others, and has to be sent by itself now. */
  isAlone: boolean
}

/** A short request is read here too, because its statements may be known. */
export function readRequest(request: SentSqlRequest & { readonly bytesMax: number }): Request {
  const { ownerId, valId, mode, canWrite, bytesMax, idempotent } = request
  const home = valId === undefined ? { ownerId } : { ownerId, valId }
  const json = toRequestJson(request)
  return {
    ...home,
    namespace: toNamespace(home),
    bytesMax,
    idempotent,
    json,
    isAlone: false,
    isSingle: mode === "single",
    isReader: mode === "read" || !canWrite,
    statements: json.length > knownLimits.jsonBytesMax ? undefined : readStatements(request),
  }
}

function readStatements({ statements }: SentSqlRequest): readonly SqlStatement[] | undefined {
  const read: readonly SqlStatement[] = isJsonText(statements)
    ? parseJson(statements.json, knownLimits.jsonBytesMax)
    : statements
  const chars = read.reduce((sum, { sql }) => sum + sql.length, 0)
  return chars > knownLimits.charsMax ? undefined : read
}

/** Plans a request of known statements. Undefined if a worker has to say what is wrong. */
export function planKnown(
  known: KnownRequest,
  request: Request,
  pagesMax: number | undefined,
): readonly [LibsqlWorkerReply, string] | undefined {
  const statements = bindKnown(known, request)
  if (!statements) return undefined
  const { version } = known
  const isRecorded = request.idempotent !== undefined && !known.isDoneTableTheirs
  return planBatch({ statements, version, pagesMax, isRecorded }) ?? [{ kind: "room_needed" }, ""]
}

/** Requests to one database as one batch, and how to read the results of each. */
export interface PlannedGroup {
  readonly namespace: string
  readonly isRead: boolean
  readonly batch: string
  readonly calls: readonly ReadCall[]
}

/**
 * Plans requests of the same kind to one database. Undefined if they have to be planned one by one.
 * Without `pagesMax` no change may be among them.
 */
export function planTogether(
  requests: readonly Request[],
  known: readonly (KnownRequest | undefined)[],
  pagesMax: number | undefined,
): PlannedGroup | undefined {
  const [{ namespace }] = requests as [Request]
  const version = known[0]?.version ?? ""
  const statements: BoundStatement[] = []
  const calls: ReadCall[] = []
  for (const [index, request] of requests.entries()) {
    const found = known[index]
    const bound = found?.version === version ? bindKnown(found, request) : undefined
    if (!bound) return undefined
    statements.push(...bound)
    const { isSingle, bytesMax } = request
    calls.push({ kind: "read", kinds: toKinds(bound), isSingle, bytesMax })
  }
  const planned = planBatch({ statements, version, pagesMax })
  if (!planned) return undefined
  const [{ isRead }, batch] = planned
  return { namespace, isRead, batch, calls }
}

/** The statements with their values; undefined if some are missing. */
function bindKnown(
  { statements }: KnownRequest,
  { statements: sent = [] }: Request,
): readonly BoundStatement[] | undefined {
  try {
    return statements.map((known, index) => ({
      ...known,
      values: listArgs(known.parameters, sent[index]?.args ?? []),
    }))
  } catch {
    return undefined
  }
}

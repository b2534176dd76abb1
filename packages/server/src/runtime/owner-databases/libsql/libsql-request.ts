import type { SentSqlRequest, SqlStatement } from "../../../domain/owner-databases.ts"
import type { StorageHome } from "../../../domain/storage-home.ts"
import { parseJson } from "../../../shared/hostile-input/bounded.ts"
import { isJsonText } from "../../../shared/json-text.ts"
import { toNamespace } from "../../../shared/libsql/libsql-registry.ts"
import { toRequestJson } from "../database-messages.ts"
import { listArgs } from "../worker/bind-args.ts"
import { type BoundStatement, planBatch } from "../worker/libsql/plan-batch.ts"
import type { KnowableRequest, KnownRequest } from "./known-statements.ts"
import { knownLimits, type LibsqlWorkerReply, type ReadCall } from "./libsql-messages.ts"

/** A request that waits or runs. Its JSON may be megabytes, and is made once. */
export interface Request extends StorageHome, KnowableRequest {
  readonly bytesMax: number
  readonly json: string
  /** Whether it was sent together with others, and has to be sent by itself now. */
  isAlone: boolean
}

/** A short request is read here too, because its statements may be known. */
export function readRequest(request: SentSqlRequest & { readonly bytesMax: number }): Request {
  const { ownerId, valId, mode, canWrite, bytesMax } = request
  const home = valId === undefined ? { ownerId } : { ownerId, valId }
  const json = toRequestJson(request)
  return {
    ...home,
    ...{ namespace: toNamespace(home), bytesMax, json, isAlone: false },
    ...{ isSingle: mode === "single", isReader: mode === "read" || !canWrite },
    statements: json.length > knownLimits.jsonBytesMax ? undefined : readStatements(request),
  }
}

function readStatements({ statements }: SentSqlRequest): readonly SqlStatement[] {
  return isJsonText(statements) ? parseJson(statements.json, knownLimits.jsonBytesMax) : statements
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
  return planBatch({ statements, version, pagesMax }) ?? [{ kind: "room_needed" }, ""]
}

/** Reads of one database as one batch, and how to read the results of each. */
export interface PlannedReads {
  readonly namespace: string
  readonly batch: string
  readonly calls: readonly ReadCall[]
}

/** Plans quick reads of one database. Undefined if they have to be planned one by one. */
export function planTogether(
  requests: readonly Request[],
  known: readonly (KnownRequest | undefined)[],
): PlannedReads | undefined {
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
    calls.push({ kind: "read", kinds: bound.map(() => "r").join(""), isSingle, bytesMax })
  }
  // Without room for a write, so that a write could not be among them.
  const [, batch] = planBatch({ statements, version, pagesMax: undefined }) ?? []
  return batch === undefined ? undefined : { namespace, batch, calls }
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

import { isJsonText, toOwnJson } from "@hamlet/kit"
import type { WorkerOutcome } from "@hamlet/sandbox"
import type { DatabaseHome, SentSqlRequest, SqlOutcome, SqlRequest } from "./owner-databases.ts"
import type { DatabaseSettings } from "./worker/open-connection.ts"

/** What a database process gets when it starts. */
export interface DatabaseProcessSettings extends DatabaseSettings {
  readonly folder: string
  /** The number of databases that the process keeps open. */
  readonly openMax: number
  /** The number of databases that the vals of one user may have. */
  readonly databasesMax: number
}

/** What a database process is asked for. */
export interface DatabaseRequest extends SqlRequest {
  /** Whether the database is created if it does not exist. */
  readonly mayCreate: boolean
}

/** There is no such database, and it may not be created. */
export interface MissingDatabase {
  readonly kind: "missing"
}

/** Its response. The JSON of results follows, which the server forwards without parsing it. */
export type DatabaseResponse =
  | { readonly kind: "done" }
  | Exclude<SqlOutcome, { readonly kind: "done" }>
  | MissingDatabase

/** The JSON of a request. Statements that came as JSON are inserted as they are. */
export function toRequestJson({
  statements,
  ...rest
}: SentSqlRequest & Partial<Pick<DatabaseRequest, "mayCreate">>): string {
  if (!isJsonText(statements)) return toOwnJson({ ...rest, statements })
  return `${toOwnJson(rest).slice(0, -1)},"statements":${statements.json}}`
}

/** Ids are made by the server, and become names of files and of namespaces. */
const idPattern = /^[0-9a-f-]{36}$/

/** Throws if an id is not an id, which is a mistake of ours. */
export function assertIds(
  { ownerId, valId = ownerId }: DatabaseHome,
  verb: "find" | "delete" = "find",
): void {
  for (const id of [ownerId, valId])
    if (!idPattern.test(id))
      throw new Error(`Cannot ${verb} the database of "${id}": this is not an id`)
}

export const endingOutcome: SqlOutcome = {
  kind: "unavailable",
  message: "the server is about to end",
}

/** The outcome of a request to which a worker has not responded. */
export function toFailedOutcome(
  outcome: Exclude<WorkerOutcome, { readonly kind: "responded" }>,
  msMax: number,
  memoryBytesMax: number,
): SqlOutcome {
  if (outcome.kind === "overloaded") return outcome
  if (outcome.kind === "stopped") return endingOutcome
  const { kind, isStarted, message = "its process did not start" } = outcome
  if (!isStarted) return { kind: "unavailable", message }
  const reasons = {
    timed_out: `it took longer than ${msMax / 1000} s`,
    out_of_memory: `it took more than ${memoryBytesMax} bytes of memory`,
    crashed: "the process that ran it ended",
  }
  return { kind: "failed", message: `interrupted: ${reasons[kind]}` }
}

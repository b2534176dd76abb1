import type { SentSqlRequest, SqlRequest } from "../../domain/owner-databases.ts"
import type { StorageHome } from "../../domain/storage-home.ts"
import { toOwnJson } from "../../shared/hostile-input/bounded.ts"
import { isJsonText } from "../../shared/json-text.ts"
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

// A request is the JSON of a DatabaseRequest. A response is one of these letters, and JSON.

/** The results follow. The server forwards their JSON without parsing it. */
export const doneMark = "d"
/** Another SqlOutcome follows, or MissingDatabase. */
export const outcomeMark = "o"

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
  { ownerId, valId = ownerId }: StorageHome,
  verb: "find" | "delete" = "find",
): void {
  for (const id of [ownerId, valId])
    if (!idPattern.test(id))
      throw new Error(`Cannot ${verb} the database of "${id}": this is not an id`)
}

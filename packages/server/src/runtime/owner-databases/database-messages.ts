import type { DatabaseSettings } from "./worker/open-connection.ts"

/** What a database process gets when it starts. */
export interface DatabaseProcessSettings extends DatabaseSettings {
  readonly folder: string
  /** The number of databases that the process keeps open. */
  readonly openMax: number
  /** The number of databases that the vals of one user may have. */
  readonly databasesMax: number
}

// A request is the JSON of a SqlRequest. A response is one of these letters, and JSON.

/** The results follow. The server forwards their JSON without parsing it. */
export const doneMark = "d"
/** Another SqlOutcome follows. */
export const outcomeMark = "o"

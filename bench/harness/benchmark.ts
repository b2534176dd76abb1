import type { Table } from "./report.ts"

/** One thing that can be measured. */
export interface Benchmark {
  readonly name: string
  /** Part of what is measured when nothing is named. */
  readonly isQuick: boolean
  run(context: Context): Promise<readonly Table[]>
}

/** What the person who measures has chosen. */
export interface Context {
  /** A PostgreSQL server on which we may make databases. Without one, only SQLite is measured. */
  readonly postgresUrl: string | undefined
  /** Growth takes long: it can be measured on PostgreSQL alone. */
  readonly isPostgresOnly: boolean
  /** How many vals the large world has. */
  readonly vals: number
  /** Where seeded databases stay for the next time; without it they are removed. */
  readonly keepDir: string | undefined
  say(text: string): void
}

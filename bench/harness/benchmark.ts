import type { Table } from "./report.ts"

/** A benchmark. */
export interface Benchmark {
  readonly name: string
  /** Whether it runs when no names are given. */
  readonly isQuick: boolean
  run(context: Context): Promise<readonly Table[]>
}

/** The options of the command line. */
export interface Context {
  /** A PostgreSQL server on which we may create databases. Without one, only SQLite is measured. */
  readonly postgresUrl: string | undefined
  /** Growth takes long: it can be measured on PostgreSQL only. */
  readonly isPostgresOnly: boolean
  /** The number of vals in the large world. */
  readonly vals: number
  /** The folder that keeps seeded databases for the next time; without it they are removed. */
  readonly keepDir: string | undefined
  report(text: string): void
}

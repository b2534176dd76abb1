import { type Backoff, decodePercent } from "@hamlet/kit"
import { SQL } from "bun"
import { searchDefaults } from "../searches.ts"

export const postgresDefaults = {
  ...searchDefaults,
  /**
   * Connections of this process, readers and writers together. Two more are for notices and for urgent
   * statements.
   */
  connectionsMax: 10,
  connectMsMax: 3_000,
  /** How long a write waits for its turn, and then for a connection. */
  waitMsMax: 10_000,
  statementMsMax: 10_000,
  lockMsMax: 5_000,
  /**
   * How long an urgent statement may take. A node renews its lease with two of them: they and a beat are
   * over before the lease is.
   */
  urgentMsMax: 1_500,
  /**
   * How long the server waits for the next statement of a transaction. Shorter than `lockMsMax`: those
   * that wait for a lock get it when the node that holds it is paused or cut off. A script waits for
   * nothing but the database, and is repeated.
   */
  idleInTransactionMsMax: 3_000,
  /**
   * How long to wait for a result after the time-out of the server, before the connection is
   * closed.
   */
  silenceMsMax: 2_000,
  /** How long a statement or a lock of a patient write may take. */
  patientMsMax: 86_400_000,
  /**
   * Attempts at a transaction that conflicts with others, and at a query whose connection breaks.
   */
  attemptsMax: 5,
  /** Any time from 0 on, so that transactions that conflicted do not collide again. */
  repeatBackoff: { firstMs: 5, factor: 2, delayMsMax: 100, jitter: 1 } satisfies Backoff,
  readsMax: 10_000,
  writesMax: 10_000,
  /** Writes of one owner that wait. */
  ownerWritesMax: 1_000,
  /** The part of the connections for writes that the writes of one owner may have. */
  ownerShare: 0.8,
  /** How long stopping waits for reads in flight. */
  stopMsMax: 5_000,
}

export type PostgresLimits = Readonly<typeof postgresDefaults>

export interface ClientOptions {
  readonly url: URL
  readonly connectionsMax: number
  readonly limits: PostgresLimits
  readonly isReadonly: boolean
}

export function createClient({ url, connectionsMax, limits, isReadonly }: ClientOptions): SQL {
  const database = decodePercent(url.pathname.slice(1), 1_000)
  return new SQL(url.href, {
    adapter: "postgres",
    max: connectionsMax,
    connectionTimeout: limits.connectMsMax / 1_000,
    // Otherwise the environment variable PGDATABASE would override the address.
    ...(database === "" ? {} : { database }),
    connection: {
      application_name: "hamlet",
      // Acknowledged means durable, whatever the server's default is.
      synchronous_commit: "on",
      default_transaction_isolation: "read committed",
      default_transaction_read_only: isReadonly ? "on" : "off",
      statement_timeout: limits.statementMsMax,
      lock_timeout: limits.lockMsMax,
      idle_in_transaction_session_timeout: limits.idleInTransactionMsMax,
      timezone: "UTC",
      // Our statements are short: compiling one takes longer than running it.
      jit: "off",
      // PostgreSQL would plan a statement anew each time it runs where the values promise fewer rows
      // than average: up to 4 ms for a join of nine tables that takes 0.1 ms.
      plan_cache_mode: "force_generic_plan",
      // Each of our statements reads rows from an index in order, joins the related rows of each,
      // and stops at its limit. Where the statistics show few rows, the planner would rather scan,
      // hash or sort a whole table. But statistics are stale exactly when something has become busy, are
      // missing in a database that was just filled, and the plan for all values only uses averages.
      enable_seqscan: "off",
      enable_hashjoin: "off",
      enable_mergejoin: "off",
      random_page_cost: "1.1",
    },
  })
}

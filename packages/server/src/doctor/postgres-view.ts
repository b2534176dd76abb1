import { openPostgres } from "@hamlet/database/postgres"
import type { DatabaseView, Sighting } from "./database-view.ts"
import { about, type Findings, toReason, toSize } from "./finding.ts"
import { doctorLimits as limits } from "./limits.ts"

const check = about("database")

/** Inspects a PostgreSQL database over read-only connections. */
export async function lookAtPostgres(url: string, connectionsMax: number): Promise<Sighting> {
  try {
    const db = await openPostgres(url, { connectionsMax: 2, attemptsMax: 1 })
    const view: DatabaseView = { ...db, hasOwnClock: true }
    try {
      return { findings: await judge(view, connectionsMax), view }
    } catch (error) {
      await view.stop()
      throw error
    }
  } catch (error) {
    const mend =
      "check HAMLET_DATABASE_URL, and that PostgreSQL 14 or newer runs there and lets this user in"
    return { findings: check.failure(toReason(error), mend), view: undefined }
  }
}

interface Facts {
  readonly version: string
  readonly bytes: number
  readonly connectionsMax: number
  readonly connectionsUsed: number
  readonly canCreate: boolean
}

async function judge(view: DatabaseView, connectionsMax: number): Promise<Findings> {
  const [facts] = await view.read<Facts>`
    select current_setting('server_version') as version, pg_database_size(current_database())::float8 as bytes,
      current_setting('max_connections')::integer as connections_max,
      (select count(*) from pg_stat_activity where backend_type = 'client backend')::integer as connections_used,
      has_schema_privilege(current_schema(), 'create') as can_create`
  const latencyMs = await measureLatency(view)
  if (!facts) return check.failure("PostgreSQL answers with nothing", "restart it")
  const { version, bytes, connectionsMax: most, connectionsUsed: used } = facts
  const found = `PostgreSQL ${version}, ${toSize(bytes)}, answers in ${latencyMs.toFixed(1)} ms, ${used} of ${most} connections in use`
  if (!facts.canCreate)
    return check.failure(
      `${found}; this user may not create tables`,
      "grant create on its schema, or make the user the database's owner",
    )
  if (used + connectionsMax > most)
    return check.warning(
      `${found}, and a server takes ${connectionsMax}`,
      "raise max_connections, or lower HAMLET_DATABASE_CONNECTIONS_MAX",
    )
  if (latencyMs > limits.latencyMsMax)
    return check.warning(found, "put the database nearer to the server")
  return check.fine(found)
}

/** The median. */
async function measureLatency(view: DatabaseView): Promise<number> {
  const samples: number[] = []
  for (let sample = 0; sample < limits.latencySamples; sample++) {
    const startMs = performance.now()
    await view.read`select 1`
    samples.push(performance.now() - startMs)
  }
  return samples.sort((one, other) => one - other)[Math.floor(samples.length / 2)] ?? 0
}

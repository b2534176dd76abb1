import { migrate } from "@hamlet/database"
import { openPostgres } from "@hamlet/database/postgres"
import { SQL } from "bun"
import { migrations } from "../../packages/server/src/storage/migrations/index.ts"
import { createRunStore } from "../../packages/server/src/storage/runs/runs.ts"
import type { Benchmark } from "../harness/benchmark.ts"
import { withPostgresDatabases } from "../harness/databases.ts"
import { atMost, type Cell } from "../harness/report.ts"
import { percentile } from "../harness/stats.ts"

const limits = {
  runsPerVal: 5,
  /** Processes that migrate and are killed at a random moment, before one may finish. */
  kills: 5,
  /** How long one may work before it is killed. */
  killMsMax: 3_000,
  calmMs: 5_000,
  waitMsMax: 500,
}
const migrationVersion = 43
const user = "00000001-0000-7000-8000-000000000001"
const val = "00000002-0000-7000-8000-000000000001"
const everything = { error: undefined, sources: undefined, since: undefined, until: undefined }

/** How long others wait while the table of runs is partitioned, with kills in between. */
export const migration: Benchmark = {
  name: "migration",
  isQuick: false,
  async run({ postgresUrl, vals, report }) {
    if (postgresUrl === undefined) return []
    return withPostgresDatabases(postgresUrl, ["migration"], async (urls) => [
      await measure(urls.migration, vals * limits.runsPerVal, report),
    ])
  },
}

async function measure(url: string, count: number, report: (text: string) => void) {
  const db = await openPostgres(url)
  await migrate(
    db,
    migrations.filter(({ version }) => version < migrationVersion),
  )
  const server = new SQL(url, { adapter: "postgres", max: 1, connection: { jit: "off" } })
  for (const statement of seedStatements(count)) await server.unsafe(statement)
  report(`migration: ${count.toLocaleString("en")} runs are there`)
  const load = startLoad(createRunStore(db), server)
  await Bun.sleep(limits.calmMs)
  const before = load.take()
  for (let kill = 0; kill < limits.kills; kill += 1) {
    const child = spawnMigration(url)
    await Promise.race([Bun.sleep(Math.random() * limits.killMsMax), child.exited])
    child.kill("SIGKILL")
    await child.exited
  }
  const startedMs = performance.now()
  const exitCode = await spawnMigration(url).exited
  const seconds = (performance.now() - startedMs) / 1_000
  const during = load.take()
  await Bun.sleep(limits.calmMs)
  const after = load.take()
  const { written, lockMs } = await load.stop()
  const [found] =
    await server`select count(*)::int as count from runs where account_id = ${user} and version = 2`
  await server.close()
  await db.stop()
  if (exitCode !== 0 || found.count !== written)
    throw new Error(`Cannot migrate: ${found.count} of ${written} runs are there, exit ${exitCode}`)
  const bar = atMost(lockMs, limits.waitMsMax, " ms")
  return {
    title: `migration: ${count.toLocaleString("en")} runs become a partition, with ${limits.kills} kills and reads and writes of runs meanwhile`,
    columns: ["", "requests", "failed", "p50, ms", "longest, ms", "longest lock, ms", "s", "bar"],
    rows: [
      toRow("before", before),
      [...toRow("with kills", during).slice(0, 5), lockMs.toFixed(0), seconds.toFixed(1), bar],
      toRow("after", after),
    ],
  }
}

/** A process, since only that can be killed. */
function spawnMigration(url: string) {
  const program = new URL("./migrate-database.ts", import.meta.url).pathname
  return Bun.spawn([process.execPath, program, url], { stdout: "ignore", stderr: "inherit" })
}

interface Taken {
  readonly times: readonly number[]
  readonly failed: number
}

function toRow(name: string, { times, failed }: Taken): Cell[] {
  const cells = [percentile(times, 50).toFixed(1), percentile(times, 100).toFixed(0)]
  return [name, String(times.length), String(failed), ...cells, "", "", ""]
}

/** Writes and lists runs, and watches how long any statement waits for a table. */
function startLoad(runs: ReturnType<typeof createRunStore>, server: SQL) {
  let isOn = true
  let times: number[] = []
  let failed = 0
  let written = 0
  let lockMs = 0
  const repeat = async (request: () => Promise<unknown>) => {
    while (isOn) {
      const startedMs = performance.now()
      await request().catch(() => {
        failed += 1
      })
      times.push(performance.now() - startedMs)
      await Bun.sleep(2)
    }
  }
  const write = async () => {
    const at = Date.now()
    await runs.record([
      {
        id: Bun.randomUUIDv7(),
        valId: val,
        version: 2,
        accountId: user,
        ownerId: user,
        parentId: null,
        source: "api",
        status: "succeeded",
        startedAt: at,
        endedAt: at,
        error: null,
        request: null,
        args: [],
        returnValue: null,
        logs: [],
        logsTruncated: false,
      },
    ])
    written += 1
  }
  const page = { limit: 20, offset: 0 }
  const loops = [
    repeat(write),
    repeat(write),
    repeat(() => runs.listOfAccount(user, everything, page)),
    repeat(() => runs.listOfVal(val, undefined, everything, page)),
    (async () => {
      while (isOn) {
        const [row] = await server`
          select coalesce(max(extract(epoch from clock_timestamp() - waitstart) * 1000), 0)::float8 as ms from pg_locks where not granted and locktype = 'relation'`
        lockMs = Math.max(lockMs, row.ms)
        await Bun.sleep(5)
      }
    })(),
  ]
  return {
    take(): Taken {
      const taken = { times, failed }
      times = []
      failed = 0
      return taken
    },
    async stop() {
      isOn = false
      await Promise.all(loops)
      return { written, lockMs }
    },
  }
}

/** Runs of 30 days, of 2,000 users with ten vals each, with a line of log. */
function seedStatements(count: number): readonly string[] {
  const toId = (kind: number, number: string) =>
    `('0000000${kind}-0000-7000-8000-' || lpad(to_hex(${number}), 12, '0'))::uuid`
  const [users, vals, days] = [2_000, 20_000, 30]
  const valId = toId(2, `1 + i % ${vals}`)
  const ownerId = toId(1, `1 + i % ${users}`)
  return [
    `insert into users (id, username, username_key, created_at) select ${toId(1, "i")}, 'user' || i, 'user' || i, 1 from generate_series(1, ${users}) i`,
    `insert into vals (id, owner_id, name, name_key, privacy, created_at, updated_at)
      select ${toId(2, "i")}, ${toId(1, `1 + (i - 1) % ${users}`)}, 'val' || i, 'val' || i, 'public', 1, 1 from generate_series(1, ${vals}) i`,
    `insert into runs (id, val_id, version, account_id, owner_id, source, status, started_at, ended_at, request, logs, last_line, bytes)
      select (lpad(to_hex(at), 12, '0') || '7' || substr(md5(i::text), 1, 3) || '8' || substr(md5(i::text), 4, 15))::uuid,
        ${valId}, 1, ${ownerId}, ${ownerId}, case i % 10 when 0 then 'interval' else 'http' end,
        case i % 50 when 1 then 'failed' else 'succeeded' end, at, at + 20, '{"method":"GET","url":"https://user1-val1.example.com/' || i || '","status":200}',
        '[{"at":"2026-01-01T00:00:00.000Z","level":"log","message":"hello ' || i || '"}]', 'hello ' || i, 700
      from (select i, (extract(epoch from now()) * 1000)::bigint - ${days} * 86400000::bigint + i * (${days} * 86400000::bigint / ${count}) as at
        from generate_series(1, ${count}) i) numbers`,
    "insert into run_responses (run_id, response) select id, '{}' from runs where source = 'http'",
    "vacuum (analyze)",
    "checkpoint",
  ]
}

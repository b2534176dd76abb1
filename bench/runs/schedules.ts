import type { Item, Output } from "@hamlet/contract/client"
import { createClient } from "@hamlet/contract/client"
import type { Benchmark, Context } from "../harness/benchmark.ts"
import { createPostgresDatabase } from "../harness/databases.ts"
import { type Program, startBare, startServer } from "../harness/program.ts"
import { atMost, type Cell } from "../harness/report.ts"
import { createScratchFolder } from "../harness/scratch.ts"
import { percentile } from "../harness/stats.ts"

const limits = {
  schedules: 1_000,
  perUser: 100,
  /** Requests at the same time while the schedules are set. */
  atOnce: 16,
  /** Until the first due time: setting all schedules must take less. */
  leadMs: 45_000,
  waitMs: 180_000,
  p99MsMax: 1_000,
}
const token = "a-token-of-the-first-user-for-benchmarks"
const settings = {
  HAMLET_USER: "ada",
  HAMLET_TOKEN: token,
  HAMLET_LOG_LEVEL: "none",
  HAMLET_PUBLIC: "no",
}

/** How late the runs of schedules start when many are due together. */
export const schedules: Benchmark = {
  name: "schedules",
  isQuick: false,
  async run(context) {
    const rows: Cell[][] = []
    rows.push(await measureIdle(context, "SQLite", undefined))
    if (context.postgresUrl !== undefined) {
      const database = await createPostgresDatabase(context.postgresUrl, "schedules")
      try {
        rows.push(await measureIdle(context, "PostgreSQL", database.url))
      } finally {
        await database.drop()
      }
    }
    rows.push(await measureSandboxes(context, "spread over a minute", 60))
    rows.push(await measureSandboxes(context, "in the same second", 1))
    const title = `schedules: from the due time to the start of the code, ${limits.schedules} schedules of ${limits.schedules / limits.perUser} users, each with a val of its own`
    const columns = ["due", "vals", "database", "p50, ms", "p99, ms", "last, ms", "bar"]
    return [{ title, columns, rows }]
  },
}

/** All in the same second, on a server whose runs return at once. */
async function measureIdle(
  context: Context,
  name: string,
  databaseUrl: string | undefined,
): Promise<Cell[]> {
  const program = await startBare("idle-node.ts", {
    ...settings,
    HAMLET_DATA_DIR: createScratchFolder(),
    ...(databaseUrl === undefined ? {} : { HAMLET_DATABASE_URL: databaseUrl }),
  })
  try {
    const delays = await measure(program, 1)
    return toRow(context, ["in the same second", "none, runs return at once", name], delays, true)
  } finally {
    await program.stop()
  }
}

/** On the real server with SQLite; the vals have never run, so that each needs a new process. */
async function measureSandboxes(context: Context, due: string, seconds: number): Promise<Cell[]> {
  const program = await startServer({
    dataDir: createScratchFolder(),
    settings: { ...settings, HAMLET_ISOLATION: "bubblewrap" },
  })
  try {
    const delays = await measure(program, seconds)
    return toRow(context, [due, "in sandboxes", "SQLite"], delays, seconds > 1)
  } finally {
    await program.stop()
  }
}

function toRow(
  context: Context,
  labels: readonly [string, string, string],
  delays: readonly number[],
  hasBar: boolean,
): Cell[] {
  const [p50, p99, last] = [50, 99, 100].map((percent) => percentile(delays, percent))
  context.report(`schedules, ${labels.join(", ")}: p50 ${p50} ms, p99 ${p99} ms, last ${last} ms`)
  const bar = hasBar ? atMost(p99 ?? Number.NaN, limits.p99MsMax, " ms") : ""
  return [...labels, ...[p50, p99, last].map((ms) => (ms ?? Number.NaN).toFixed(0)), bar]
}

type Client = ReturnType<typeof createClient>

interface Scheduled {
  readonly client: Client
  readonly valId: string
}

/** The delay of each schedule in milliseconds; their due times are spread over `seconds`. */
async function measure(program: Program, seconds: number): Promise<readonly number[]> {
  const baseUrl = program.url.replace("localhost", "127.0.0.1")
  const admin = createClient({ baseUrl, token })
  const scheduled: Scheduled[] = []
  for (let user = 0; user < limits.schedules / limits.perUser; user++) {
    const { token: own } = await admin.createUser({ username: `user${user}` })
    const client = createClient({ baseUrl, token: own })
    const names = Array.from({ length: limits.perUser }, (_, index) => `val${index}`)
    await forEachOne(names, async (name) => {
      const code = `// ${user} ${name}\nexport default ({ scheduledAt }) => scheduledAt.getTime()`
      const { id: valId } = await client.saveVal({ name, code, type: "interval" })
      scheduled.push({ client, valId })
    })
  }
  const first = Math.ceil((Date.now() + limits.leadMs) / 1_000) * 1_000
  const dueOf = (index: number) => first + (index % seconds) * 1_000
  await forEachOne([...scheduled.entries()], async ([index, { client, valId }]) => {
    await client.putSchedule({ val_id: valId, cron: toCron(dueOf(index)) })
  })
  if (Date.now() > first) throw new Error("Cannot measure: the schedules were set too late")
  await Bun.sleep(first + seconds * 1_000 - Date.now())
  const runs = await Promise.all(
    scheduled.map((one, index) => findRun(one, dueOf(index) + limits.waitMs)),
  )
  return runs.map((run, index) => Date.parse(run.runStartAt) - dueOf(index))
}

/** A cron expression that is due then, and not again for a year. */
function toCron(at: number): string {
  const date = new Date(at)
  const time = [date.getUTCSeconds(), date.getUTCMinutes(), date.getUTCHours()]
  return [...time, date.getUTCDate(), date.getUTCMonth() + 1, "*"].join(" ")
}

/** The run of the schedule, once it has ended. */
async function findRun({ client, valId }: Scheduled, until: number): Promise<Item<"listValRuns">> {
  while (Date.now() < until) {
    const { data }: Output<"listValRuns"> = await client.listValRuns({ val_id: valId })
    const [run, other] = data
    if (other !== undefined) throw new Error("Cannot measure: a schedule has two runs")
    if (run?.status === "succeeded") return run
    if (run !== undefined && run.runEndAt !== null)
      throw new Error(`Cannot measure: a run ${run.status}: ${run.error?.message}`)
    await Bun.sleep(1_000)
  }
  throw new Error("Cannot measure: a schedule has no run")
}

async function forEachOne<T>(items: readonly T[], work: (item: T) => Promise<unknown>) {
  const rest = items.values()
  const workers = Array.from({ length: limits.atOnce }, async () => {
    for (const item of rest) await work(item)
  })
  await Promise.all(workers)
}

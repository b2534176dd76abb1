import { createClient, type Item, type Output } from "@hamlet/contract/client"
import type { Benchmark, Context } from "../harness/benchmark.ts"
import { chooseLimits, isBrief } from "../harness/brief.ts"
import { withPostgresDatabases } from "../harness/databases.ts"
import { type Program, startBare, startServer } from "../harness/program.ts"
import { atMost, type Cell } from "../harness/report.ts"
import { createScratchFolder } from "../harness/scratch.ts"
import { percentile } from "../harness/stats.ts"
import { firstUser, token } from "./hamlet.ts"

const full = {
  schedules: 1_000,
  perUser: 100,
  /**
   * Requests at the same time while the schedules are set. On a busy machine the server refuses
   * writes that wait for a connection of PostgreSQL for seconds.
   */
  atOnce: 4,
  /** Until the first due time: setting all schedules must take less. */
  leadMsMin: 30_000,
  waitMs: 900_000,
  askMs: 2_000,
  p99MsMax: 1_000,
  /** Until the last of them starts, when all need a process at once. */
  crowdMsMax: 15_000,
}
const limits = chooseLimits(full, {
  schedules: 2,
  perUser: 1,
  leadMsMin: 6_000,
  askMs: 100,
})
const settings = { ...firstUser, HAMLET_PUBLIC: "no" }

/** How late the runs of schedules start when many are due together. */
export const schedules: Benchmark = {
  name: "schedules",
  isQuick: false,
  async run(context) {
    const rows: Cell[][] = []
    // A brief run does not wait for a minute.
    for (const measureOn of isBrief ? [measureIdle] : [measureIdle, measureSandboxes]) {
      rows.push(await measureOn(context, "SQLite", undefined))
      if (context.postgresUrl === undefined) continue
      const row = await withPostgresDatabases(context.postgresUrl, ["schedules"], (urls) =>
        measureOn(context, "PostgreSQL", urls.schedules),
      )
      rows.push(row)
    }
    rows.push(await measureCrowd(context))
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
    return toRow(context, ["in the same second", "none, runs return at once", name], delays)
  } finally {
    await program.stop()
  }
}

/** Spread over a minute, on the real server. */
async function measureSandboxes(
  context: Context,
  name: string,
  databaseUrl: string | undefined,
): Promise<Cell[]> {
  const delays = await withSandboxes(databaseUrl, (program) => measure(program, 60))
  return toRow(context, ["spread over a minute", "in sandboxes", name], delays)
}

/** All in the same second: how long the machine takes to start so many processes. */
async function measureCrowd(context: Context): Promise<Cell[]> {
  const delays = await withSandboxes(undefined, (program) => measure(program, 1))
  const row = toRow(context, ["in the same second", "in sandboxes", "SQLite"], delays)
  return [...row.slice(0, -1), atMost(percentile(delays, 100), limits.crowdMsMax, " ms")]
}

/** The real server; the vals have never run, so that each needs a new process. */
async function withSandboxes<T>(
  databaseUrl: string | undefined,
  work: (program: Program) => Promise<T>,
): Promise<T> {
  const program = await startServer({
    dataDir: createScratchFolder(),
    databaseUrl,
    settings: { ...settings, HAMLET_ISOLATION: "bubblewrap" },
  })
  try {
    return await work(program)
  } finally {
    await program.stop()
  }
}

function toRow(
  context: Context,
  labels: readonly [string, string, string],
  delays: readonly number[],
): Cell[] {
  const [p50, p99, last] = [50, 99, 100].map((percent) => percentile(delays, percent))
  context.report(`schedules, ${labels.join(", ")}: p50 ${p50} ms, p99 ${p99} ms, last ${last} ms`)
  const bar = atMost(p99 ?? Number.NaN, limits.p99MsMax, " ms")
  return [...labels, ...[p50, p99, last].map((ms) => (ms ?? Number.NaN).toFixed(0)), bar]
}

type Client = ReturnType<typeof createClient>

/** A user whose vals all have a schedule. */
interface Owner {
  readonly client: Client
  readonly valIds: readonly string[]
}

/** The delay of each schedule in milliseconds; their due times are spread over `seconds`. */
async function measure(program: Program, seconds: number): Promise<readonly number[]> {
  const baseUrl = program.url.replace("localhost", "127.0.0.1")
  const savedMs = performance.now()
  const owners = await addOwners(baseUrl)
  // On a busy machine both take long.
  const leadMs = limits.leadMsMin + 2 * (performance.now() - savedMs)
  const first = Math.ceil((Date.now() + leadMs) / 1_000) * 1_000
  const scheduled = owners.flatMap(({ client, valIds }) =>
    valIds.map((valId) => ({ client, valId })),
  )
  const dueAt = new Map(
    scheduled.map(({ valId }, index) => [valId, first + (index % seconds) * 1_000]),
  )
  await forEachOne(scheduled, async ({ client, valId }) => {
    await client.putSchedule({ val_id: valId, cron: toCron(dueAt.get(valId) ?? first) })
  })
  if (Date.now() > first) throw new Error("Cannot measure: the schedules were set too late")
  await Bun.sleep(first + seconds * 1_000 - Date.now())
  const until = Date.now() + limits.waitMs
  const runs = (await Promise.all(owners.map((owner) => findRuns(owner, until)))).flat()
  return runs.map((run) => Date.parse(run.runStartAt) - (dueAt.get(run.val.id) ?? Number.NaN))
}

async function addOwners(baseUrl: string): Promise<readonly Owner[]> {
  const admin = createClient({ baseUrl, token })
  const owners: Owner[] = []
  for (let user = 0; user < limits.schedules / limits.perUser; user++) {
    const { token: own } = await admin.createUser({ username: `user${user}` })
    const client = createClient({ baseUrl, token: own })
    const names = Array.from({ length: limits.perUser }, (_, index) => `val${index}`)
    const valIds: string[] = []
    await forEachOne(names, async (name) => {
      const code = `// ${user} ${name}\nexport default ({ scheduledAt }) => scheduledAt.getTime()`
      valIds.push((await client.saveVal({ name, code, type: "interval" })).id)
    })
    owners.push({ client, valIds })
  }
  return owners
}

/** A cron expression that is due then, and not again for a year. */
function toCron(at: number): string {
  const date = new Date(at)
  const time = [date.getUTCSeconds(), date.getUTCMinutes(), date.getUTCHours()]
  return [...time, date.getUTCDate(), date.getUTCMonth() + 1, "*"].join(" ")
}

/** The runs of an owner's schedules, once they have ended. It asks seldom, since asking takes time too. */
async function findRuns(
  { client, valIds }: Owner,
  until: number,
): Promise<readonly Item<"listMyRuns">[]> {
  while (Date.now() < until) {
    const { data }: Output<"listMyRuns"> = await client.listMyRuns({ limit: limits.perUser })
    const failed = data.find((run) => run.runEndAt !== null && run.status !== "succeeded")
    if (failed !== undefined)
      throw new Error(`Cannot measure: a run ${failed.status}: ${failed.error?.message}`)
    if (data.length === valIds.length && data.every((run) => run.runEndAt !== null)) {
      if (new Set(data.map((run) => run.val.id)).size === valIds.length) return data
      throw new Error("Cannot measure: a schedule has two runs")
    }
    await Bun.sleep(limits.askMs)
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

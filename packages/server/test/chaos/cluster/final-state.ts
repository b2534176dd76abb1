import { type Client, createClient } from "@hamlet/contract/client"
import { sql } from "@hamlet/database"
import { openAgain } from "../../support/databases.ts"
import { limitConcurrency } from "../../support/limit-concurrency.ts"
import { proxyNames } from "../../support/proxies/start-proxy.ts"
import { chosenToken } from "../../support/server-fixture.ts"
import { parseCode, type Vals } from "./clients.ts"
import type { Cluster } from "./cluster.ts"
import type { EndedRun, FinalState, History } from "./history.ts"

/** How long runs that are still open may go on before the end is read. */
const endMsMax = 60_000
const rowsPerPage = 1_000
const requestsMax = 8

/** Reads everything that the clients have written, when no fault goes on. */
export async function readFinalState(
  cluster: Cluster,
  history: History,
  vals: Vals,
): Promise<FinalState> {
  const { proxy } = cluster
  const client = createClient({
    baseUrl: `https://${proxyNames.api}`,
    token: chosenToken,
    fetch: (url, init) => proxy.fetch(proxyNames.api, url.slice(url.indexOf("/v")), init),
  })
  const { dueTimes, untilMs } = await readDueTimes(client, vals)
  const runs = await readRuns(client, vals.queued, history)
  const versions = new Map<string, readonly string[]>()
  for (const [id, name] of vals.registers) versions.set(name, await readVersions(client, id))
  const blobs = history.operations.flatMap((operation) =>
    operation.kind === "put" && operation.item.startsWith("blob ") ? [operation.item] : [],
  )
  return {
    versions,
    runs,
    dueTimes,
    items: [
      ...(await readBlobs(client, blobs)),
      ...(await readRows(client)),
      ...(await readNames(client.items("listMyLikes"))).map((name) => `like ${name}`),
      ...(await readNames(client.items("listMyVals")))
        .filter((name) => name.startsWith("liked"))
        .map((name) => `val ${name}`),
    ],
    effects: cluster.effects.counts,
    scheduledRuns: await readScheduledRuns(cluster.postgresUrl, untilMs),
    outages: cluster.outages,
  }
}

async function readNames(list: AsyncIterable<{ readonly name: string }>): Promise<string[]> {
  return (await Array.fromAsync(list)).map(({ name }) => name)
}

async function readVersions(client: Client, val_id: string): Promise<readonly string[]> {
  const { version: last } = await client.getVal({ val_id })
  const numbers = Array.from({ length: last }, (_, index) => index + 1)
  return mapSome(numbers, async (version) =>
    parseCode((await client.getVersion({ val_id, version })).code ?? ""),
  )
}

/** Finds the blobs that are there with the right content. */
async function readBlobs(client: Client, items: readonly string[]): Promise<readonly string[]> {
  const found = await mapSome(items, async (item) => {
    const key = item.slice("blob ".length)
    const content = await client.getBlob({ key }).then(
      (it) => it.text(),
      () => undefined,
    )
    return content === key ? [item] : []
  })
  return found.flat()
}

async function readRows(client: Client): Promise<readonly string[]> {
  const found: string[] = []
  for (;;) {
    const statement = `select word from rows_put order by rowid limit ${rowsPerPage} offset ${found.length}`
    const { rows } = await client.executeSql({ statement })
    found.push(...rows.map(([word]) => `row ${word}`))
    if (rows.length < rowsPerPage) return found
  }
}

/**
 * The runs of the queue, when all have ended or should have. A run was queued when a client knew of it;
 * one whose response was lost may have been queued later, so it counts from when its code began.
 */
async function readRuns(
  client: Client,
  val_id: string,
  { operations }: History,
): Promise<readonly EndedRun[]> {
  const acknowledgedMs = new Map<string, number>()
  for (const operation of operations)
    if (operation.kind === "enqueue" && operation.run !== undefined)
      acknowledgedMs.set(operation.run, performance.timeOrigin + operation.respondedMs)
  const deadlineMs = performance.now() + endMsMax
  let runs = await Array.fromAsync(client.items("listValRuns", { val_id }))
  while (runs.some(({ runEndAt }) => runEndAt === null) && performance.now() < deadlineMs)
    runs = await Array.fromAsync(client.items("listValRuns", { val_id }))
  return mapSome(runs, async ({ id: run_id }) => {
    const run = await client.getRun({ run_id })
    const [word] = run.args as [string]
    return {
      id: run_id,
      word,
      status: run.status,
      attempt: run.attempt,
      queuedMs: acknowledgedMs.get(run_id) ?? Date.parse(run.runStartAt),
      endedMs: run.runEndAt === null ? undefined : Date.parse(run.runEndAt),
    }
  })
}

/** The due times of all schedules up to a moment. */
async function readDueTimes(client: Client, { schedules }: Vals) {
  const dueTimes: string[] = []
  const untilMs = new Map<string, number>()
  for (const [val_id, { firstMs, everyMs }] of schedules) {
    const { nextAt } = await client.getSchedule({ val_id })
    const endMs = Date.parse(nextAt[0] ?? "")
    untilMs.set(val_id, endMs)
    for (let ms = firstMs; ms < endMs; ms += everyMs) dueTimes.push(`${val_id} ${ms}`)
    await client.putSchedule({ val_id, isPaused: true })
  }
  return { dueTimes, untilMs }
}

interface ScheduledRow {
  readonly id: string
  readonly valId: string
  readonly input: string
  readonly status: string
  readonly attempt: number
  readonly endedAt: number | null
}

/** From the database, since no route shows the due time of a run. */
async function readScheduledRuns(
  url: string,
  untilMs: ReadonlyMap<string, number>,
): Promise<readonly EndedRun[]> {
  const db = await openAgain({ url })
  try {
    const rows = await db.read<ScheduledRow>(
      sql`select id, val_id, input, status, attempt, ended_at from runs where source = 'interval'`,
    )
    return rows.flatMap((row) => {
      const { scheduledAt } = JSON.parse(row.input) as { scheduledAt: number }
      if (scheduledAt >= (untilMs.get(row.valId) ?? 0)) return []
      const { id, status, attempt, endedAt } = row
      return {
        id,
        status,
        attempt,
        word: `${row.valId} ${scheduledAt}`,
        queuedMs: scheduledAt,
        endedMs: endedAt ?? undefined,
      }
    })
  } finally {
    await db.stop()
  }
}

function mapSome<Item, Result>(
  items: readonly Item[],
  map: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const limited = limitConcurrency(requestsMax)
  return Promise.all(items.map((item) => limited(() => map(item))))
}

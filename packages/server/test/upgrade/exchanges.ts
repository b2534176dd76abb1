import { expect } from "bun:test"
import { ApiError, type Client, createClient } from "@hamlet/contract/client"
import { waitUntil } from "@hamlet/kit/testing"
import { chosenToken } from "../support/server-fixture.ts"

/** A node, as clients see it. */
export interface Peer {
  readonly client: Client
  /** Requests a val of the first user at its address. */
  requestVal(name: string): Promise<string>
}

/** `toHost` gives the host name of a val. No request is repeated. */
export function toPeer(baseUrl: string, toHost: (val: string) => string): Peer {
  return {
    client: createClient({ baseUrl, token: chosenToken, retriesMax: 0 }),
    async requestVal(name) {
      const response = await fetch(baseUrl, { headers: { host: toHost(name) } })
      const text = await response.text()
      return response.ok ? text : `${response.status} ${text}`
    },
  }
}

/** How long a run in the queue may take on a busy machine. */
const queueMsMax = 120_000

/** Vals that all exchanges use. */
export interface Stage {
  /** Returns its argument. */
  readonly worker: string
  /** Runs every two seconds, and returns when it was due. */
  readonly ticker: string
}

export async function setStage({ client }: Peer): Promise<Stage> {
  const { id: worker } = await client.createVal({
    name: "worker",
    code: "export default (word) => word",
    privacy: "public",
  })
  const code = "export default ({ scheduledAt }) => scheduledAt"
  const { id: ticker } = await client.createVal({ name: "ticker", code, type: "interval" })
  await client.putSchedule({ val_id: ticker, cron: "*/2 * * * * *", overlap: "allow" })
  await client.executeSql({ statement: "create table words (word text)" })
  return { worker, ticker }
}

/** One node writes, and the other one reads it, continues with it, or does the work. */
type Exchange = (writer: Peer, reader: Peer, word: string, stage: Stage) => Promise<void>

/** Exchanges that start no process. */
export const quickExchanges: Readonly<Record<string, Exchange>> = {
  async save({ client }, reader, word) {
    const { id: val_id } = await client.createVal({ name: word, code: "1", privacy: "public" })
    expect((await reader.client.getVal({ val_id })).code).toBe("1")
    await reader.client.createVersion({ val_id, code: "2" })
    await client.createVersion({ val_id, code: "3" })
    expect(await reader.client.getVal({ val_id })).toMatchObject({ code: "3", version: 3 })
  },
  async files({ client }, reader, word) {
    const { id: val_id } = await client.createVal({ name: word, code: "1" })
    const change = (by: Client, path: string, ifMatch: number) =>
      by.changeFiles({ val_id, changes: [{ path, content: word }] }, { ifMatch })
    await change(client, "a.ts", 1)
    expect(await change(reader.client, "b.ts", 2)).toMatchObject({ version: 3 })
  },
  async search({ client }, reader, word) {
    const { id } = await client.createVal({ name: word, code: "1", privacy: "public" })
    // A machine that is too busy for a search says so.
    const found = await waitUntil(() =>
      reader.client.searchVals({ query: word }).catch((error: unknown) => {
        if (!(error instanceof ApiError) || error.code !== "search_timed_out") throw error
        return undefined
      }),
    )
    expect(found.data.map((val) => val.id)).toEqual([id])
  },
  async social({ client }, reader, word) {
    const { id: val_id } = await client.createVal({ name: word, code: "1", privacy: "public" })
    await client.likeVal({ val_id })
    await client.createComment({ val_id, comment: word })
    expect(await reader.client.getVal({ val_id })).toMatchObject({ likeCount: 1 })
    const { data } = await reader.client.listComments({ val_id })
    expect(data.map(({ comment }) => comment)).toEqual([word])
    await reader.client.unlikeVal({ val_id })
    expect(await client.getVal({ val_id })).toMatchObject({ likeCount: 0 })
  },
  async blob({ client }, reader, word) {
    await client.putBlob({ key: word, content: word })
    expect(await new Response((await reader.client.getBlob({ key: word })).body).text()).toBe(word)
    await reader.client.deleteBlob({ key: word })
  },
  async sqlite({ client }, reader, word) {
    const args = [word]
    await client.executeSql({ statement: { sql: "insert into words values (?)", args } })
    const sql = "select word from words where word = ?"
    const { rows } = await reader.client.executeSql({ statement: { sql, args } })
    expect(rows).toEqual([[word]])
  },
  async schedule({ client }, reader, word) {
    const { id: val_id } = await client.createVal({ name: word, code: "1", type: "interval" })
    const { nextAt } = await client.putSchedule({ val_id, cron: "0 0 1 1 *" })
    expect(await reader.client.getSchedule({ val_id })).toMatchObject({ nextAt })
    await reader.client.deleteSchedule({ val_id })
  },
  async token({ client }, reader, word) {
    const { id } = await client.createToken({ name: word, scopes: ["user:read"] })
    const { data } = await reader.client.listTokens()
    expect(data.some((token) => token.id === id)).toBe(true)
    await reader.client.revokeToken({ token_id: id })
  },
}

/** Exchanges that run vals. */
const runExchanges: Readonly<Record<string, Exchange>> = {
  async run({ client }, reader, word, { worker: val_id }) {
    const { id: run_id, ...run } = await client.createRun({ val_id, args: [word] })
    expect(run).toMatchObject({ status: "succeeded", returnValue: word })
    expect(await untilEnded(reader.client, run_id)).toMatchObject({ returnValue: word })
    const { data } = await reader.client.listValRuns({ val_id, limit: 100 })
    expect(data.some(({ id }) => id === run_id)).toBe(true)
  },
  async queue({ client }, reader, word, { worker: val_id }) {
    const { id: run_id } = await client.createRun({ val_id, args: [word] }, { respondAsync: true })
    expect(await untilEnded(reader.client, run_id)).toMatchObject({
      status: "succeeded",
      returnValue: word,
      attempt: 1,
    })
  },
  async request(writer, reader, word) {
    const code = (it: string) => `export default () => new Response("${it} " + Deno.env.get("OWN"))`
    const { id: val_id } = await writer.client.createVal({
      name: word,
      code: code("first"),
      type: "http",
      privacy: "public",
    })
    await writer.client.putValSecret({ val_id, name: "OWN", value: word })
    expect(await reader.requestVal(word)).toBe(`first ${word}`)
    await writer.client.createVersion({ val_id, code: code("second") })
    expect(await reader.requestVal(word)).toBe(`second ${word}`)
  },
  async webhook({ client }, reader, word, { worker: targetValId }) {
    const { id: valId } = await client.createVal({ name: word, code: "1" })
    const events = ["val.saved" as const]
    const { id: webhook_id } = await client.createWebhook({ targetValId, valId, events })
    await reader.client.createVersion({ val_id: valId, code: "2" })
    await waitUntil(
      async () =>
        (await reader.client.listDeliveries({ webhook_id, status: "delivered" })).data.length === 1,
      { msMax: queueMsMax },
    )
    await client.deleteWebhook({ webhook_id })
  },
}

export const allExchanges = { ...quickExchanges, ...runExchanges }

let words = 0

/** Does all of the exchanges at once, in each of the directions. */
export async function exchange(
  exchanges: Readonly<Record<string, Exchange>>,
  directions: readonly (readonly [writer: Peer, reader: Peer])[],
  stage: Stage,
): Promise<void> {
  const doing = directions.flatMap(([writer, reader]) =>
    Object.entries(exchanges).map(([name, exchange]) => {
      words += 1
      return exchange(writer, reader, `${name}${words}`, stage)
    }),
  )
  await Promise.all(doing)
}

/** Waits for a run of the schedule that starts after now, and asserts that no due time has two. */
export async function expectTicks({ client }: Peer, { ticker: val_id }: Stage): Promise<void> {
  const now = Date.now()
  const runs = await waitUntil(
    async () => {
      const { data } = await client.listValRuns({ val_id, limit: 50 })
      return data.some(({ runStartAt }) => Date.parse(runStartAt) > now) ? data : undefined
    },
    { msMax: queueMsMax },
  )
  const ended = await Promise.all(runs.map(({ id }) => untilEnded(client, id)))
  expect(ended.map(({ status }) => status)).toEqual(runs.map(() => "succeeded"))
  expect(new Set(ended.map((run) => run.returnValue)).size).toBe(runs.length)
}

function untilEnded(client: Client, run_id: string) {
  return waitUntil(
    async () => {
      const run = await client.getRun({ run_id })
      return run.runEndAt === null ? undefined : run
    },
    { msMax: queueMsMax },
  )
}

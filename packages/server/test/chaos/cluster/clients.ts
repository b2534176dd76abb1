import { waitUntil } from "@hamlet/kit/testing"
import { toValHost } from "../../support/proxies/proxied-node.ts"
import type { ApiCaller } from "./api-caller.ts"
import type { Effects } from "./effects.ts"
import type { History } from "./history.ts"

/** Between two operations of a client: the machine is to be kept busy by faults, not by load. */
const pauseMs = 100
const lookMs = 300
/** Runs of a client that have not ended. A further one waits. */
const openRunsMax = 10
/** The value in the response of a val that is read at its address. */
const toCode = (value: string) => `export default () => new Response("${value}")`
export const parseCode = (code: string) => /"([^"]+)"/.exec(code)?.[1] ?? code
/** The seconds between due times. A minute is a multiple of each, so that cron does not stumble. */
const periods = [2, 3, 5]

/** The vals that the clients use. */
export interface Vals {
  /** Registers: their names by id. */
  readonly registers: ReadonlyMap<string, string>
  readonly queued: string
  /** By the id of its val: the first due time of each schedule, and the time between two of them. */
  readonly schedules: ReadonlyMap<string, { readonly firstMs: number; readonly everyMs: number }>
}

/** Creates the vals, schedules and tables before the first fault. */
export async function createVals(caller: ApiCaller, effects: Effects): Promise<Vals> {
  const create = async (name: string, type: string, code: string): Promise<string> => {
    const body = { name, type, code, privacy: "public" }
    return mustHave(await caller.call("POST", "/v1/vals", { body })).json.id
  }
  const registers = new Map<string, string>()
  for (const name of ["first", "second"])
    registers.set(await create(name, "http", toCode(`${name}-0`)), name)
  const work = `export default async (word) => { ${effects.toCode("word")}; return word }`
  const queued = await create("queued", "script", work)
  const schedules = new Map<string, { firstMs: number; everyMs: number }>()
  for (const seconds of periods) {
    const word = effects.toCode('id + " " + new Date(scheduledAt).getTime()')
    const code = (id: string) =>
      `const id = "${id}"\nexport default async ({ scheduledAt }) => { ${word} }`
    const id = await create(`every${seconds}`, "interval", "export default () => 0")
    const path = `/v1/vals/${id}`
    mustHave(await caller.call("POST", `${path}/versions`, { body: { code: code(id) } }))
    const body = { cron: `*/${seconds} * * * * *`, overlap: "allow" }
    const { json } = mustHave(await caller.call("PUT", `${path}/schedule`, { body }))
    schedules.set(id, { firstMs: Date.parse(json.nextAt[0]), everyMs: seconds * 1_000 })
  }
  const statement = "create table if not exists rows_put (word text)"
  // The first statement creates the database, which may take too long on a busy machine.
  await waitUntil(
    async () => await caller.call("POST", "/v1/sqlite/execute", { body: { statement } }),
  )
  return { registers, queued, schedules }
}

function mustHave<Found>(found: Found | undefined): Found {
  if (found === undefined) throw new Error("a request failed before the first fault")
  return found
}

/** Clients that write, read and record what they see, until they are stopped. */
export class Clients {
  readonly #caller: ApiCaller
  readonly #history: History
  readonly #vals: Vals
  readonly #random: () => number
  readonly #working: Promise<unknown>
  /** Why a client has ended early: a mistake of the test. */
  #error: unknown
  #isStopped = false
  #words = 0

  constructor(caller: ApiCaller, history: History, vals: Vals, random: () => number) {
    this.#caller = caller
    this.#history = history
    this.#vals = vals
    this.#random = random
    const registers = [...vals.registers.keys()]
    const clients = [
      ...registers.map((id) => () => this.#save(id)),
      ...registers.map((id) => () => this.#read(id)),
      () => this.#putBlob(),
      () => this.#putRow(),
      () => this.#putLike(),
    ]
    this.#working = Promise.all([
      ...clients.map((work) => this.#repeat(work)),
      this.#queueRuns(() => this.#enqueue(0)),
      this.#queueRuns(() => this.#enqueueUntilAcknowledged()),
      this.#queueRuns(() => this.#enqueue(2)),
    ]).catch((error: unknown) => {
      this.#error = error
    })
  }

  /** Waits until so many more operations have succeeded. */
  async more(operations: number): Promise<void> {
    const wanted = this.#caller.counts.answered + operations
    await waitUntil(
      () => {
        if (this.#error !== undefined) throw this.#error
        return this.#caller.counts.answered >= wanted
      },
      { msMax: 300_000, what: `${operations} operations` },
    )
  }

  /** Waits for all responses, and for the end of all runs. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#working
    if (this.#error !== undefined) throw this.#error
  }

  async #repeat(work: () => Promise<void>): Promise<void> {
    while (!this.#isStopped) {
      await work()
      await Bun.sleep(pauseMs * (0.5 + this.#random()))
    }
  }

  #newWord(kind: string): string {
    this.#words += 1
    return `${kind}-${this.#words}`
  }

  async #save(id: string): Promise<void> {
    const val = this.#vals.registers.get(id) ?? ""
    const value = this.#newWord(val)
    const invokedMs = performance.now()
    const path = `/v1/vals/${id}/versions`
    const answer = await this.#caller.call("POST", path, { body: { code: toCode(value) } })
    this.#history.add({ kind: "save", val, value, version: answer?.json.version, invokedMs })
    await this.#readApi(id, val)
    await this.#readWeb(val)
  }

  async #read(id: string): Promise<void> {
    const val = this.#vals.registers.get(id) ?? ""
    if (this.#random() < 0.5) await this.#readApi(id, val)
    else await this.#readWeb(val)
  }

  async #readApi(id: string, val: string): Promise<void> {
    const invokedMs = performance.now()
    const answer = await this.#caller.call("GET", `/v1/vals/${id}`)
    if (!answer) return
    this.#history.add({ kind: "read", val, value: parseCode(answer.json.code), invokedMs })
  }

  /** The response of the val itself, for which a node has caches and a process. */
  async #readWeb(val: string): Promise<void> {
    const invokedMs = performance.now()
    const answer = await this.#caller.send(toValHost(val), "/", {}, { method: "GET" })
    if (answer) this.#history.add({ kind: "read", val, value: answer.text, invokedMs })
  }

  async #putBlob(): Promise<void> {
    const word = this.#newWord("blob")
    const path = `/v1/blob/${word}`
    await this.#put(`blob ${word}`, () => this.#caller.call("POST", path, { body: word }))
    await this.#get(`blob ${word}`, async () => {
      const answer = await this.#caller.call("GET", path, { alsoStatus: 404 })
      return answer && answer.text === word
    })
  }

  async #putRow(): Promise<void> {
    const word = this.#newWord("row")
    const execute = (sql: string) =>
      this.#caller.call("POST", "/v1/sqlite/execute", {
        body: { statement: { sql, args: [word] } },
      })
    await this.#put(`row ${word}`, () => execute("insert into rows_put values (?)"))
    await this.#get(`row ${word}`, async () => {
      const answer = await execute("select word from rows_put where word = ?")
      return answer && answer.json.rows.length > 0
    })
  }

  /** A new val, which is an item too, and a like of it. */
  async #putLike(): Promise<void> {
    const name = this.#newWord("liked").replace("-", "")
    const body = { name, code: "export default 1", privacy: "public" }
    let id = ""
    await this.#put(`val ${name}`, async () => {
      const answer = await this.#caller.call("POST", "/v1/vals", { body })
      id = answer?.json.id ?? ""
      return answer
    })
    if (id === "") return
    await this.#put(`like ${name}`, () => this.#caller.call("PUT", `/v1/vals/${id}/like`))
    await this.#get(`like ${name}`, async () => {
      const answer = await this.#caller.call("GET", `/v1/vals/${id}/like`)
      return answer?.json.liked
    })
  }

  async #put(item: string, send: () => Promise<unknown>): Promise<void> {
    const invokedMs = performance.now()
    const isAcknowledged = (await send()) !== undefined
    this.#history.add({ kind: "put", item, isAcknowledged, invokedMs })
  }

  async #get(item: string, find: () => Promise<boolean | undefined>): Promise<void> {
    const invokedMs = performance.now()
    const isFound = await find()
    if (isFound !== undefined) this.#history.add({ kind: "get", item, isFound, invokedMs })
  }

  /** Queues runs, and watches each until it has ended. */
  async #queueRuns(enqueue: () => Promise<string | undefined>): Promise<void> {
    const open = new Set<Promise<void>>()
    await this.#repeat(async () => {
      const run = await enqueue()
      if (run === undefined) return
      const watching = this.#watch(run).finally(() => open.delete(watching))
      open.add(watching)
      if (open.size >= openRunsMax) await Promise.race(open)
    })
    await Promise.all(open)
  }

  async #enqueue(retries: number): Promise<string | undefined> {
    const word = this.#newWord("run")
    return await this.#sendRun(word, { args: [word], retries }, {})
  }

  /** Repeats the request with one key, until it is acknowledged: there must be one run. */
  async #enqueueUntilAcknowledged(): Promise<string | undefined> {
    const word = this.#newWord("once")
    for (;;) {
      const run = await this.#sendRun(word, { args: [word] }, { "idempotency-key": word })
      if (run !== undefined || this.#isStopped) return run
      await Bun.sleep(pauseMs)
    }
  }

  async #sendRun(
    word: string,
    body: object,
    more: Readonly<Record<string, string>>,
  ): Promise<string | undefined> {
    const invokedMs = performance.now()
    const path = `/v1/vals/${this.#vals.queued}/runs`
    const headers = { prefer: "respond-async", ...more }
    const answer = await this.#caller.call("POST", path, { body, headers })
    const run: string | undefined = answer?.json.id
    this.#history.add({ kind: "enqueue", word, run, invokedMs })
    return run
  }

  async #watch(run: string): Promise<void> {
    let isOpen = true
    while (isOpen) {
      await Bun.sleep(lookMs)
      const invokedMs = performance.now()
      const answer = await this.#caller.call("GET", `/v1/runs/${run}`)
      if (!answer) continue
      const { status, runEndAt } = answer.json
      this.#history.add({ kind: "look", run, status, invokedMs })
      isOpen = runEndAt === null
    }
  }
}

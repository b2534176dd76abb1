import { expect } from "bun:test"
import { createVal, type ModelVal } from "./model.ts"
import { type Chance, chooseStep, type Step } from "./steps.ts"
import { type Call, compareVal, learnBranches, readSummary, summarize } from "./views.ts"

/** A request that got no response: the server was killed before it, after it, or in between. */
export class NoResponse extends Error {}

/** Makes random steps on one val after another, each with a model of what it must be. */
export class Writer {
  readonly #name: string
  readonly #username: string
  readonly #chance: Chance
  readonly #stepsPerVal: number
  #val: ModelVal | undefined
  #vals = 0
  #steps = 0
  /** A step or the name of a val that the server has not acknowledged. */
  #open: Step | { readonly created: string; readonly code: string | undefined } | undefined
  readonly #finished: ModelVal[] = []
  /** The last requests, for the message of a failure. */
  readonly log: string[] = []

  constructor(name: string, username: string, chance: Chance, stepsPerVal: number) {
    this.#name = name
    this.#username = username
    this.#chance = chance
    this.#stepsPerVal = stepsPerVal
  }

  /** How many steps without a response were done, and how many were not. */
  readonly unanswered = { done: 0, notDone: 0 }

  /** How many vals were compared as a whole, and are not changed any more. */
  get finishedCount(): number {
    return this.#finished.length
  }

  /** Makes one step. Fails with `NoResponse` when the server does not respond. */
  async step(call: Call): Promise<void> {
    if (this.#val && this.#steps >= this.#stepsPerVal) {
      await this.compare(call, () => true)
      this.#finished.push(this.#val)
      this.#val = undefined
    }
    const val = this.#val
    if (!val) {
      await this.#create(call)
      return
    }
    this.#steps += 1
    const step = chooseStep(this.#chance, val)
    this.#open = step
    const { status, text } = await this.#send(call, step.method, step.path, step.body)
    if (!step.statuses.includes(status))
      throw new Error(`the status is not one of ${step.statuses}: ${status} ${text}`)
    this.#open = undefined
    this.#val = step.after
    if (step.after.branches.some(({ identity }) => identity.id === undefined))
      await learnBranches(call, step.after)
  }

  /** Compares all that can be read of the val with its model. */
  async compare(call: Call, isRead: (version: number, newest: number) => boolean): Promise<void> {
    if (this.#val) await compareVal(call, this.#username, this.#val, isRead)
  }

  /** Compares the vals that are not changed any more: all of them, or one at random. */
  async compareFinished(call: Call, random?: () => number): Promise<void> {
    const one = random && this.#finished[Math.floor(random() * this.#finished.length)]
    const some = random ? (one ? [one] : []) : this.#finished
    for (const val of some)
      await compareVal(call, this.#username, val, (version, newest) => version === newest)
  }

  /** Finds out whether the open step was done. It must be there as a whole, or not at all. */
  async settle(call: Call): Promise<void> {
    const open = this.#open
    this.#open = undefined
    if (open === undefined) return
    if ("created" in open) {
      const found = await call("GET", `/v2/alias/vals/${this.#username}/${open.created}`)
      expect([200, 404]).toContain(found.status)
      if (found.status === 200) this.#val = createVal(found.json.id, open.created, open.code)
      return
    }
    const before = this.#val
    if (!before) return
    const summary = await readSummary(call, before)
    const isDone = JSON.stringify(summary) === JSON.stringify(summarize(open.after))
    if (!isDone) expect(summary).toEqual(summarize(before))
    this.#log(isDone ? "it was done" : "it was not done")
    this.unanswered[isDone ? "done" : "notDone"] += 1
    this.#val = isDone ? open.after : before
  }

  async #create(call: Call): Promise<void> {
    const created = `${this.#name}${++this.#vals}`
    const isEmpty = this.#chance.random() < 0.5
    const code = isEmpty ? undefined : `// ${this.#chance.word()}`
    this.#steps = 0
    this.#open = { created, code }
    const response = isEmpty
      ? await this.#send(call, "POST", "/v2/vals", { name: created, privacy: "public" })
      : await this.#send(call, "POST", "/v1/vals", { name: created, privacy: "public", code })
    expect(response.status).toBe(isEmpty ? 201 : 200)
    this.#open = undefined
    this.#val = createVal(response.json.id, created, code)
  }

  async #send(call: Call, method: string, path: string, body: unknown) {
    this.#log(`${method} ${decodeURIComponent(path)} ${JSON.stringify(body) ?? ""}`)
    const response = await call(method, path, body)
    this.#log(`  ${response.status}`)
    return response
  }

  #log(line: string): void {
    this.log.push(line)
    if (this.log.length > 120) this.log.shift()
  }
}

/** Runs something of a writer; a failure shows what the writer did last. */
export async function explained<Result>(
  writer: Writer,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof NoResponse) throw error
    throw new Error(`${error}\nafter\n${writer.log.join("\n")}`)
  }
}

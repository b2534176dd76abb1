import { randomUUID } from "node:crypto"
import { waitUntil } from "@hamlet/kit/testing"
import type { AttackServer, SavedVal } from "../attacks/support/attack-server.ts"

/** What came of the requests so far. */
export interface Tally {
  /** Exactly what the val says. */
  good: number
  /** Refused or broken off, and plainly so. */
  broken: number
  /** Anything else: another request's response, half of one, or an unexpected status. */
  readonly wrong: string[]
}

const clients = 8
/** Long enough not to come in one piece. */
const bodyLines = 4_000

/** Responds with its own name and the word of the request, in several ways. */
export function toEchoCode(name: string): string {
  return `export default async function (request, ...rest) {
  if (!(request instanceof Request)) return "${name} was called with " + request
  const url = new URL(request.url)
  const word = url.searchParams.get("word")
  const line = "${name} says " + word + "\\n"
  console.log(line)
  if (url.pathname === "/slow") await new Promise((resolve) => setTimeout(resolve, Math.random() * 100))
  if (url.pathname !== "/long") return new Response(line + (await request.text()))
  let left = ${bodyLines}
  return new Response(new ReadableStream({ pull(controller) { if (left-- === 0) controller.close(); else controller.enqueue(new TextEncoder().encode(line)) } }))
}
`
}

/** Clients that send requests continuously, also when the server is killed. */
export class Load {
  readonly tally: Tally = { good: 0, broken: 0, wrong: [] }
  /** Runs that the API reported as done, with their return values. They must never be lost. */
  readonly acknowledged = new Map<string, string>()
  readonly #server: AttackServer
  readonly #vals: readonly SavedVal[]
  readonly #random: () => number
  #isPaused = false
  #isStopped = false
  #busy = 0
  readonly #working: Promise<unknown>

  constructor(server: AttackServer, vals: readonly SavedVal[], random: () => number) {
    this.#server = server
    this.#vals = vals
    this.#random = random
    this.#working = Promise.all(Array.from({ length: clients }, () => this.#work()))
  }

  get count(): number {
    return this.tally.good + this.tally.broken + this.tally.wrong.length
  }

  /** Waits until so many more have been answered. */
  async more(answers: number): Promise<void> {
    const wanted = this.count + answers
    await waitUntil(() => this.count >= wanted, { msMax: 180_000 })
  }

  /** Stops sending, and waits for all responses. */
  async pause(): Promise<void> {
    this.#isPaused = true
    await waitUntil(() => this.#busy === 0, { msMax: 180_000 })
  }

  resume(): void {
    this.#isPaused = false
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#working
  }

  async #work(): Promise<void> {
    while (!this.#isStopped) {
      if (this.#isPaused) {
        await Bun.sleep(5)
        continue
      }
      this.#busy++
      try {
        await this.#ask()
      } finally {
        this.#busy--
      }
    }
  }

  async #ask(): Promise<void> {
    const val = this.#vals[Math.floor(this.#random() * this.#vals.length)]
    if (!val) throw new Error("there are no vals")
    const word = randomUUID()
    try {
      const problem =
        this.#random() < 0.2 ? await this.#call(val, word) : await this.#visit(val, word)
      if (problem === "broken") await this.#noteBroken()
      else if (problem === undefined) this.tally.good++
      else this.tally.wrong.push(`${val.name} ${word}: ${problem}`)
    } catch {
      // The connection was refused or closed: no wrong response was given.
      await this.#noteBroken()
    }
  }

  /** Pauses, so that a busy machine does not only refuse. */
  async #noteBroken(): Promise<void> {
    this.tally.broken++
    await Bun.sleep(5)
  }

  async #visit(val: SavedVal, word: string): Promise<string | undefined> {
    const path = ["/", "/slow", "/long"][Math.floor(this.#random() * 3)] ?? "/"
    const body = path === "/slow" ? `${word} as a body` : undefined
    const options = body === undefined ? {} : { method: "POST", body }
    const { status, text } = await this.#server.request(val, {
      path: `${path}?word=${word}`,
      ...options,
    })
    if (status === 502 || status === 503) return "broken"
    const line = `${val.name} says ${word}\n`
    const right = path === "/long" ? line.repeat(bodyLines) : `${line}${body ?? ""}`
    return status === 200 && text === right
      ? undefined
      : `${status} ${text.length} ${text.slice(0, 300)}`
  }

  async #call(val: SavedVal, word: string): Promise<string | undefined> {
    const { status, json, text } = await this.#server.call("POST", `/v1/vals/${val.id}/runs`, {
      as: val.owner,
      body: { args: [word] },
    })
    if (status === 503) return "broken"
    if (status !== 200) return `${status} ${text.slice(0, 300)}`
    if (json.status === "crashed") return "broken"
    const right = `${val.name} was called with ${word}`
    if (json.status !== "succeeded" || json.returnValue !== right)
      return `${status} ${text.slice(0, 1000)}`
    this.acknowledged.set(json.id, right)
    return undefined
  }
}

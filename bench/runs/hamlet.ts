import { type Program, startServer } from "../harness/program.ts"
import { createScratchFolder } from "../harness/scratch.ts"
import { waitUntil } from "./ask.ts"

const limits = { runsPageMax: 100 }
const token = "a-token-of-the-first-user-for-benchmarks"
const authorization = { authorization: `Bearer ${token}`, "content-type": "application/json" }

/** The real server with SQLite and sandboxes, which we know through HTTP only. */
export interface Hamlet {
  readonly program: Program
  /** Makes a val, or its next version. It is saved and has not run. */
  putVal(name: string, code: string): Promise<BenchVal>
  status(): Promise<RunnerStatus>
  /** Waits until so many started processes are waiting for vals. */
  waitForPool(ready: number): Promise<void>
  /** Waits until a val has so many runs on record, and fails if it does not get them or gets more. */
  assertRuns(val: BenchVal, count: number): Promise<void>
  stop(): Promise<void>
}

/** A val, and where it answers. */
export interface BenchVal {
  readonly id: string
  readonly name: string
  /** To be sent as the header: the name need not resolve. */
  readonly host: string
}

/** What `/readyz` says about the sandboxes. */
export interface RunnerStatus {
  readonly isolation: string
  readonly processes: number
  readonly ready: number
  readonly runs: number
}

/** Bubblewrap is asked for, so that a server that cannot have it does not start. Logs are off; all other settings are the default. */
export async function startHamlet(settings: Readonly<Record<string, string>> = {}): Promise<Hamlet> {
  const fixed = { HAMLET_USER: "ada", HAMLET_TOKEN: token, HAMLET_LOG_LEVEL: "none", HAMLET_ISOLATION: "bubblewrap" }
  const program = await startServer({ dataDir: createScratchFolder(), settings: { ...fixed, ...settings } })
  const ask = (path: string, init?: RequestInit) => askApi(toLoopback(program.url), path, init)
  return {
    program: { ...program, url: toLoopback(program.url) },
    async putVal(name, code) {
      const body = JSON.stringify({ name, code, type: "http", privacy: "public" })
      const val = (await ask("/v1/vals", { method: "PUT", body })) as { id: string; links: { endpoint: string } }
      return { id: val.id, name, host: new URL(val.links.endpoint).host }
    },
    status: async () => toStatus(await ask("/readyz")),
    async waitForPool(ready) {
      await waitUntil(`${ready} processes to be ready`, async () => toStatus(await ask("/readyz")).ready >= ready)
    },
    async assertRuns(val, count) {
      const countRuns = async () => {
        const { data } = (await ask(`/v1/vals/${val.id}/runs?limit=${limits.runsPageMax}`)) as { data: readonly unknown[] }
        return data.length
      }
      await waitUntil(`${count} runs of ${val.name}`, async () => (await countRuns()) >= count)
      const found = await countRuns()
      if (found !== count) throw new Error(`Cannot trust the figures: ${val.name} was asked ${count} times and has ${found} runs`)
    },
    stop: () => program.stop(),
  }
}

async function askApi(url: string, path: string, init?: RequestInit): Promise<unknown> {
  const response = await fetch(url + path, { ...init, headers: authorization })
  if (!response.ok) throw new Error(`Cannot measure: ${path} answered ${response.status} ${await response.text()}`)
  return response.json()
}

function toStatus(readiness: unknown): RunnerStatus {
  const { sandbox } = readiness as { sandbox?: RunnerStatus }
  if (sandbox === undefined) throw new Error("Cannot measure: /readyz says nothing about sandboxes")
  return sandbox
}

/** Looking up localhost is not what we measure. */
function toLoopback(url: string): string {
  const address = new URL(url)
  address.hostname = "127.0.0.1"
  return address.origin
}

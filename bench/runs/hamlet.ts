import { createClient } from "@hamlet/contract/client"
import { isBrief } from "../harness/brief.ts"
import { type Program, type ServerData, startServer } from "../harness/program.ts"
import { createScratchFolder } from "../harness/scratch.ts"
import { waitUntil } from "./request.ts"

const limits = { runsPageMax: 100, settledMs: 250 }
/** The token of the first user of each server. */
export const token = "a-token-of-the-first-user-for-benchmarks"
/** The settings of a server with that user, and without a log. */
export const firstUser = {
  HAMLET_USER: "ada",
  HAMLET_TOKEN: token,
  HAMLET_LOG_LEVEL: "none",
}
const authorization = { authorization: `Bearer ${token}`, "content-type": "application/json" }

/** The real server with SQLite and sandboxes, used through HTTP only. */
export interface Hamlet {
  readonly program: Program
  /** The token of the first user. */
  readonly token: string
  /** Saves a val, or its next version, without running it. */
  putVal(name: string, code: string): Promise<BenchVal>
  /** Adds files to a val, in one version. */
  putFiles(val: BenchVal, files: readonly { path: string; content: string }[]): Promise<void>
  /** Sends a request to the API as the first user. The response may be an error. */
  send(path: string, init?: RequestInit): Promise<Response>
  /** The state of the lockfile of its first version. */
  lockState(val: BenchVal): Promise<string>
  /** The isolation of the sandboxes. */
  readonly isolation: string
  status(): Promise<RunnerStatus>
  /**
   * Waits until at least this many processes are ready, and no more are being started.
   */
  waitForPool(ready: number): Promise<void>
  /**
   * Waits until a val has this many recorded runs, and fails if there are fewer or more.
   */
  assertRuns(val: BenchVal, count: number): Promise<void>
  stop(): Promise<void>
}

/** A val and its host name. */
export interface BenchVal {
  readonly id: string
  readonly name: string
  /** For the host header: the name need not resolve. */
  readonly host: string
}

/** The processes of vals, from `/metrics`. */
export interface RunnerStatus {
  /** Processes with a val, and those that are being started. */
  readonly bound: number
  readonly ready: number
  readonly running: number
}

type Settings = Readonly<Record<string, string>>

/** Allows what any benchmark needs, whichever ports it has. */
const sharedSettings: Settings = {
  HAMLET_EGRESS_ALLOW: "localhost",
  HAMLET_EGRESS_SOCKET_PORTS: "1-65535",
  HAMLET_EGRESS_MB_PER_MINUTE: "none",
}
let shared: Promise<Hamlet> | undefined

/**
 * A server with these settings, of another version if there is a folder. Benchmarks that are only tried share one, since its start takes most
 * of their time.
 */
export async function startHamlet(settings: Settings = {}, folder?: string): Promise<Hamlet> {
  if (!isBrief) return startOwnHamlet(settings, { folder })
  shared ??= startOwnHamlet(sharedSettings)
  return { ...(await shared), stop: async () => {} }
}

/** Stops the server that benchmarks have shared, if any. */
export async function stopSharedHamlet(): Promise<void> {
  await (await shared)?.stop()
}

/**
 * Bubblewrap is required, so that the server does not start without it. Logs are off; all other
 * settings have their defaults.
 */
export async function startOwnHamlet(
  settings: Settings,
  place: Pick<ServerData, "core" | "folder" | "preload"> = {},
): Promise<Hamlet> {
  const program = await startServer({
    dataDir: createScratchFolder(),
    settings: { ...firstUser, HAMLET_ISOLATION: "bubblewrap", ...settings },
    ...place,
  })
  const url = toLoopback(program.url)
  const client = createClient({ baseUrl: url, token })
  const send: Hamlet["send"] = (path, init) =>
    fetch(url + path, { ...init, headers: authorization })
  const status = async () => toStatus(await (await send("/metrics")).text())
  const { isolation } = (await (await send("/readyz")).json()) as { isolation: string }
  return {
    program: { ...program, url },
    token,
    async putVal(name, code) {
      const { id, links } = await client.saveVal({ name, code, type: "http", privacy: "public" })
      return { id, name, host: new URL(links.endpoint ?? "").host }
    },
    async putFiles(val, files) {
      await client.changeFiles({ val_id: val.id, changes: [...files] })
    },
    send,
    lockState: async ({ id }) => (await client.getVersionLock({ val_id: id, version: 1 })).state,
    isolation,
    status,
    async waitForPool(wanted) {
      const ready = isBrief ? 1 : wanted
      await waitUntil(`${ready} processes to be ready`, async () => {
        const before = await status()
        if (before.ready < ready) return false
        await Bun.sleep(limits.settledMs)
        const after = await status()
        return after.ready === before.ready && after.bound === before.bound
      })
    },
    async assertRuns(val, count) {
      const countRuns = async () => {
        const page = { val_id: val.id, limit: limits.runsPageMax }
        return (await client.listValRuns(page)).data.length
      }
      await waitUntil(`${count} runs of ${val.name}`, async () => (await countRuns()) >= count)
      const found = await countRuns()
      if (found !== count)
        throw new Error(
          `Cannot trust the figures: ${val.name} got ${count} requests and has ${found} runs`,
        )
    },
    stop: () => program.stop(),
  }
}

function toStatus(metrics: string): RunnerStatus {
  const read = (name: string, state: string) => {
    const value = new RegExp(`^${name}\\{state="${state}"\\} (\\d+)$`, "m").exec(metrics)?.[1]
    if (value === undefined) throw new Error(`Cannot measure: /metrics has no ${name} ${state}`)
    return Number(value)
  }
  return {
    bound: read("hamlet_val_processes", "bound"),
    ready: read("hamlet_val_processes", "ready"),
    running: read("hamlet_val_runs", "running"),
  }
}

/** Avoids the name lookup of localhost, which is not measured. */
function toLoopback(url: string): string {
  const address = new URL(url)
  address.hostname = "127.0.0.1"
  return address.origin
}

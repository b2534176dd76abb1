import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { raw } from "@hamlet/database"
import { openPostgres } from "@hamlet/database/postgres"
import { PrivatePostgres } from "@hamlet/database/testing"
import { waitUntil } from "@hamlet/kit/testing"
import { type LibsqlProcess, startLibsql } from "@hamlet/owner-databases/testing"
import { RuntimeFolder } from "@hamlet/sandbox"
import { countDescriptors } from "../../freeze/loop-meter.ts"
import { HamletProcess } from "../../support/processes/hamlet-process.ts"
import { proxiedNode } from "../../support/proxies/proxied-node.ts"
import { type StartedProxy, startProxy } from "../../support/proxies/start-proxy.ts"
import { Effects } from "./effects.ts"
import type { Period } from "./history.ts"
import { Network } from "./network.ts"

export const nodeCount = 3
const port = 8080
/** A busy machine starts nodes slowly, three at a time. */
const readyMsMax = 300_000
const readyzMsMax = 5_000
const filesMax = 1_024
const sandboxEndMsMax = 60_000

/** Three nodes, each on a network of its own, behind HAProxy, with PostgreSQL and a libSQL server. */
export class Cluster implements AsyncDisposable {
  readonly network = new Network(nodeCount)
  readonly effects: Effects
  readonly #folder: string
  readonly #nodes: HamletProcess[] = []
  readonly #formerNodes: HamletProcess[] = []
  /** While the database was away, or all nodes. */
  readonly outages: Period[] = []
  #postgres: PrivatePostgres | undefined
  #libsql: LibsqlProcess | undefined
  #proxy: StartedProxy | undefined

  static async start(postgresBinaries: string): Promise<Cluster> {
    const cluster = new Cluster(await mkdtemp(join(tmpdir(), "hamlet-cluster-")))
    try {
      await cluster.#start(postgresBinaries)
      return cluster
    } catch (error) {
      await cluster[Symbol.asyncDispose]()
      throw error
    }
  }

  private constructor(folder: string) {
    this.#folder = folder
    this.effects = new Effects(this.network.hostAddress("back"))
  }

  async #start(postgresBinaries: string): Promise<void> {
    const host = this.network.hostAddress("back")
    this.#postgres = await PrivatePostgres.create(postgresBinaries, host)
    this.#libsql = await startLibsql(host)
    // The first one migrates.
    for (let node = 0; node < nodeCount; node += 1) {
      this.startNode(node)
      if (node === 0) await this.untilReady(node)
    }
    for (let node = 1; node < nodeCount; node += 1) await this.untilReady(node)
    const nodes = Array.from({ length: nodeCount }, (_, node) => this.#addressOf(node))
    this.#proxy = await startProxy("haproxy", nodes)
  }

  get proxy(): StartedProxy {
    if (!this.#proxy) throw new Error("the proxy was not started")
    return this.#proxy
  }

  get postgresUrl(): string {
    return this.#postgres?.url ?? ""
  }

  node(index: number): HamletProcess {
    const node = this.#nodes[index]
    if (!node) throw new Error(`there is no node ${index}`)
    return node
  }

  /** The logs of all nodes, also of those that were killed. */
  get logs(): string {
    return [...this.#formerNodes, ...this.#nodes].map(({ stderr }) => stderr).join("")
  }

  startNode(index: number): void {
    const address = this.network.nodeAddress(index, "front")
    const former = this.#nodes[index]
    if (former) this.#formerNodes.push(former)
    this.#nodes[index] = new HamletProcess({
      args: ["serve"],
      prefix: this.network.prefix(index),
      cwd: this.#folder,
      env: {
        ...proxiedNode,
        ...this.#libsql?.env,
        HAMLET_DATABASE_URL: this.postgresUrl,
        HAMLET_DATABASE_CONNECTIONS_MAX: "6",
        HAMLET_HOST: address,
        HAMLET_PORT: String(port),
        HAMLET_DATA_DIR: this.#dataDir(index),
        HAMLET_EGRESS_ALLOW: this.effects.host,
        HAMLET_PROCESSES_READY: "1",
        HAMLET_PROCESSES_READY_MAX: "2",
        HAMLET_LOG_LEVEL: "warn",
        // A busy machine is no fault of the cluster.
        HAMLET_SQLITE_SECONDS_MAX: "60",
        HAMLET_RUNS_KEPT_PER_VAL: "1000000",
      },
    })
  }

  /** Waits until the node says that it can serve. */
  async untilReady(index: number): Promise<void> {
    await waitUntil(
      () => {
        const { stdout, stderr, exitCode } = this.node(index)
        // One that finds no database when it starts ends, and a service manager starts it again.
        if (exitCode === 1 && stderr.startsWith("Cannot use the database")) this.startNode(index)
        else if (exitCode !== null)
          throw new Error(`node ${index} has ended with ${exitCode}:\n${stdout}${stderr}`)
        return this.#isReady(index)
      },
      { msMax: readyMsMax, what: `node ${index} to be ready`, seen: () => this.logs.slice(-2_000) },
    )
  }

  /** Waits for all nodes. Returns when the first one was ready. */
  async untilAllReady(): Promise<number> {
    const readyMs: number[] = []
    const wait = async (node: number) => {
      await this.untilReady(node)
      readyMs.push(Date.now())
    }
    await Promise.all(Array.from({ length: nodeCount }, (_, node) => wait(node)))
    return Math.min(...readyMs)
  }

  async #isReady(index: number): Promise<boolean> {
    const signal = AbortSignal.timeout(readyzMsMax)
    try {
      return (await fetch(`http://${this.#addressOf(index)}/readyz`, { signal })).ok
    } catch {
      return false
    }
  }

  async restartPostgres(mode: "fast" | "immediate", downMs: number): Promise<void> {
    const fromMs = Date.now()
    await this.#postgres?.stop(mode)
    await Bun.sleep(downMs)
    await this.#postgres?.start()
    this.outages.push({ fromMs, toMs: Date.now() })
  }

  /** For a while, PostgreSQL runs and accepts no connections to the database. */
  async refuseConnections(downMs: number): Promise<void> {
    const url = Object.assign(new URL(this.postgresUrl), { pathname: "/template1" }).href
    const admin = await openPostgres(url)
    const allow = (isAllowed: boolean) =>
      admin.write(function* () {
        yield raw(`alter database postgres allow_connections ${isAllowed}`)
        yield raw(
          "select pg_terminate_backend(pid) from pg_stat_activity where datname = 'postgres'",
        )
      })
    const fromMs = Date.now()
    await allow(false)
    await Bun.sleep(downMs)
    await allow(true)
    this.outages.push({ fromMs, toMs: Date.now() })
    await admin.stop()
  }

  /** For a while, the node can open no more files and sockets than it has. Returns how many. */
  async exhaustFiles(index: number, ms: number): Promise<number> {
    const { pid } = this.node(index)
    const files = countDescriptors(pid)
    limitFiles(pid, files)
    await Bun.sleep(ms)
    limitFiles(pid, filesMax)
    return files
  }

  async restartLibsql(signal: "SIGKILL" | "SIGTERM", downMs: number): Promise<void> {
    await this.#libsql?.kill(signal)
    await Bun.sleep(downMs)
    await this.#libsql?.start()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#proxy?.[Symbol.asyncDispose]()
    await Promise.all(this.#nodes.map((node) => node.stop()))
    for (let node = 0; node < this.#nodes.length; node += 1) {
      const folder = await RuntimeFolder.create(this.#dataDir(node), sandboxEndMsMax)
      folder.stop()
    }
    await this.#libsql?.[Symbol.asyncDispose]()
    await this.#postgres?.remove()
    await this.effects[Symbol.asyncDispose]()
    this.network[Symbol.dispose]()
    await rm(this.#folder, { recursive: true })
  }

  #addressOf(index: number): string {
    return `${this.network.nodeAddress(index, "front")}:${port}`
  }

  #dataDir(index: number): string {
    return join(this.#folder, String(index))
  }
}

function limitFiles(pid: number, files: number): void {
  const { exitCode } = Bun.spawnSync(["prlimit", "--pid", String(pid), `--nofile=${files}:`])
  if (exitCode !== 0) throw new Error(`Cannot limit the files of process ${pid}`)
}

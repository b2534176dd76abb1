import { fileURLToPath } from "node:url"
import { findDeno } from "../../../scripts/find-deno.ts"
import { createEgress, createResolver, type Surroundings } from "./compose-outside.ts"
import type { Config } from "./config.ts"
import type { DependencyResolver } from "./domain/modules/lockfiles.ts"
import { noOwnerDatabases, type SqlOutcome, type SqlRequest } from "./domain/owner-databases.ts"
import { DatabasePool } from "./runtime/owner-databases/database-pool.ts"
import { runnerLimits } from "./runtime/processes/runner-limits.ts"
import { Supervisor } from "./runtime/processes/supervisor.ts"
import type { EgressListener } from "./runtime/sandbox/egress-listener.ts"
import { listIsolationWarnings } from "./runtime/sandbox/isolation-advice.ts"
import { sandboxLimits } from "./runtime/sandbox/sandbox-limits.ts"
import { type IsolationReport, Sandboxes } from "./runtime/sandbox/sandboxes.ts"

/** What runs vals, put together. */
export interface Runtime {
  readonly supervisor: Supervisor
  readonly resolver: DependencyResolver
  /**
   * What everybody has to know about the isolation; empty before the start, and where all is well.
   */
  isolationWarnings(): readonly string[]
  /**
   * Whether the isolation is so weak, without anybody having chosen it, that it is for one person's
   * own code only.
   */
  isForOneUser(): boolean
  /** Prepares the machine, unless that has been done, and gets processes ready. */
  start(): Promise<IsolationReport>
  stop(): Promise<void>
}

/** The heap is a part of the memory; the rest is for buffers and the program itself. */
const heapShare = 0.5

/**
 * Puts together what runs vals. The machine is prepared when the first process is wanted: a program
 * that is only there to change a key, or a test of the API, starts none.
 */
export function composeRuntime(config: Config, surroundings: Surroundings): Runtime {
  let preparing: Promise<Sandboxes> | undefined
  let report: IsolationReport | undefined
  const { onError, onAvailability } = surroundings
  const isChosen = config.isolation === "deno"
  const egress = createEgress(config, surroundings)
  const prepare = () => {
    // What is missing may be there the next time.
    preparing ??= createSandboxes(config, (path) => egress.open(path), onError).catch(
      (error: unknown) => {
        preparing = undefined
        throw error
      },
    )
    return preparing
  }
  const supervisor = new Supervisor({
    launch: async (isAwaited) => (await prepare()).launch(isAwaited),
    hurry: () => void preparing?.then((sandboxes) => sandboxes.hurry()).catch(() => {}),
    isolation: () => report?.level ?? config.isolation,
    limits: { ...toRunnerLimits(config), runsAtOnceOf: surroundings.runsAtOnceOf },
    // That the machine cannot be prepared is told by the start itself, once.
    onAvailability: (problem) => {
      if (report !== undefined) onAvailability(problem)
    },
  })
  const resolver = createResolver(config, egress, prepare, onError)
  return {
    supervisor,
    resolver,
    isolationWarnings: () => (report ? listIsolationWarnings(report, isChosen) : []),
    isForOneUser: () => report?.level === "deno" && !isChosen,
    async start() {
      report = (await prepare()).report
      supervisor.start()
      return report
    },
    async stop() {
      await Promise.all([supervisor.stop(), resolver.stop()])
      const sandboxes = await preparing?.catch(() => undefined)
      await sandboxes?.stop()
      await egress.stop()
    },
  }
}

function createSandboxes(
  config: Config,
  openEgress: (path: string) => EgressListener,
  onError: (error: unknown) => void,
): Promise<Sandboxes> {
  const { valMemoryBytesMax, valScratchBytesMax } = config.runs
  const limits = {
    ...sandboxLimits,
    memoryBytesMax: valMemoryBytesMax,
    heapBytesMax: Math.floor(valMemoryBytesMax * heapShare),
    scratchBytesMax: valScratchBytesMax,
    fileBytesMax: valScratchBytesMax,
  }
  return Sandboxes.create(
    {
      isolation: config.isolation,
      dataDir: config.dataDir,
      baseUrl: config.baseUrl,
      importHosts: ["esm.town", ...config.formerBaseUrls.map((url) => new URL(url).host)],
      limits,
      denoPath: findDeno(),
      guestPath: fileURLToPath(import.meta.resolve("@hamlet/guest/main")),
      openEgress,
    },
    onError,
  )
}

/** The databases of users, which are in that folder; undefined where there can be none. */
export function openOwnerDatabases(
  { databaseUrl, storage, isolation }: Config,
  folder: string | undefined,
  db: { ping(): Promise<void> },
  onError: (error: unknown) => void,
) {
  if (folder === undefined) return { ...noOwnerDatabases, stop: () => Promise.resolve() }
  const isShared = databaseUrl !== undefined
  const { sqliteBytesMax: bytesMax, sqliteMsMax: msMax } = storage
  const onWeak = (message: string) => onError(new Error(message))
  const pool = new DatabasePool({ folder, bytesMax, msMax, isShared, isolation, onWeak })
  return {
    async run(request: SqlRequest): Promise<SqlOutcome> {
      // They are in the same folder as the database: if that is gone, what they acknowledge is gone
      // too.
      if (!isShared) await db.ping()
      return await pool.run(request)
    },
    sizeOf: (ownerId: string) => pool.sizeOf(ownerId),
    remove: (ownerId: string) => pool.remove(ownerId),
    stop: () => pool.stop(),
  }
}

function toRunnerLimits({ runs }: Config) {
  return {
    ...runnerLimits,
    runMsMax: runs.runMsMax,
    runsPerValMax: runs.perValMax,
    runsPerAccountMax: runs.perAccountMax,
    readyMin: runs.processesReady,
    readyMax: runs.processesReadyMax,
    launchesMax: navigator.hardwareConcurrency,
    processesMax: runs.processesMax,
    processesPerAccountMax: runs.processesPerAccountMax,
    memoryBytesMax: runs.processesMemoryBytesMax,
    idleMsMax: runs.idleMsMax,
    processMsMax: runs.processMsMax,
    cpuMsMax: runs.valCpuMsMax,
  }
}

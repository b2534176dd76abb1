import { fileURLToPath } from "node:url"
import type { Config } from "./config.ts"
import { findDeno } from "./runtime/find-deno.ts"
import { runnerLimits } from "./runtime/runner-limits.ts"
import { sandboxLimits } from "./runtime/sandbox/sandbox-limits.ts"
import { type IsolationReport, Sandboxes } from "./runtime/sandbox/sandboxes.ts"
import { Supervisor } from "./runtime/supervisor.ts"

/** What runs vals, put together. */
export interface Runtime {
  readonly supervisor: Supervisor
  /** Prepares the machine, unless that has been done, and gets processes ready. */
  start(): Promise<IsolationReport>
  stop(): Promise<void>
}

/** The heap is a part of the memory; the rest is for buffers and the program itself. */
const heapShare = 0.5

/**
 * Puts together what runs vals. The machine is prepared when the first process is wanted: a program that is only there to change a key, or a
 * test of the API, starts none.
 */
export function composeRuntime(config: Config, onError: (error: unknown) => void): Runtime {
  let preparing: Promise<Sandboxes> | undefined
  let report: IsolationReport | undefined
  const prepare = () => {
    preparing ??= createSandboxes(config, onError)
    return preparing
  }
  const supervisor = new Supervisor({
    launch: async () => (await prepare()).launch(),
    isolation: () => report?.level ?? config.isolation,
    limits: toRunnerLimits(config),
    onError,
  })
  return {
    supervisor,
    async start() {
      report = (await prepare()).report
      supervisor.start()
      return report
    },
    async stop() {
      await supervisor.stop()
      const sandboxes = await preparing?.catch(() => undefined)
      await sandboxes?.stop()
    },
  }
}

function createSandboxes(config: Config, onError: (error: unknown) => void): Promise<Sandboxes> {
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
      importHosts: ["esm.town"],
      limits,
      denoPath: findDeno(),
      guestPath: fileURLToPath(import.meta.resolve("@hamlet/guest/main")),
    },
    onError,
  )
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
    memoryBytesMax: runs.processesMemoryBytesMax,
    idleMsMax: runs.idleMsMax,
    processMsMax: runs.processMsMax,
    cpuMsMax: runs.valCpuMsMax,
  }
}

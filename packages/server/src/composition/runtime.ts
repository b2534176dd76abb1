import {
  type EgressListener,
  type EgressPaths,
  Emitter,
  type IsolationReport,
  listIsolationWarnings,
  type ProgramModule,
  runnerLimits,
  Sandboxes,
  type SandboxSource,
  Supervisor,
  sandboxLimits,
  toModuleType,
} from "@hamlet/sandbox"
import { findDeno } from "../../../../scripts/find-deno.ts"
import type { Config } from "../config/config.ts"
import { isModulePath } from "../domain/modules/graph/version-files.ts"
import { SandboxedFormatter } from "../runtime/formatter/sandboxed-formatter.ts"
import { createWebhookClient } from "../runtime/webhooks/webhook-client.ts"
import type { Limits } from "./accounts.ts"
import { createEgress, createResolver, type OwnServers } from "./egress.ts"
import type { Foundation } from "./foundation.ts"

/** The share of a process's memory for the JavaScript heap. Buffers and Deno take the rest. */
const heapShare = 0.5

/**
 * Creates what runs vals and fetches their packages. It prepares the machine when the first process is
 * needed: rotating a key or an API test needs none.
 */
export function createRuntime(foundation: Foundation, limits: Limits, own: OwnServers) {
  const { config, log, onErrorOf } = foundation
  let preparing: Promise<Sandboxes> | undefined
  let report: IsolationReport | undefined
  const isChosen = config.isolation === "deno"
  const egress = createEgress(foundation, limits, own)
  const prepare = () => {
    // A later attempt may succeed, for example after bubblewrap was installed.
    preparing ??= createSandboxes(
      config,
      (paths) => egress.open(paths),
      (modules) => emitter.noteLoaded(modules),
      onErrorOf("sandboxes"),
    ).catch((error: unknown) => {
      preparing = undefined
      throw error
    })
    return preparing
  }
  const emitter = new Emitter(async () => preparing, onErrorOf("transpiler"))
  const source: SandboxSource = {
    launch: async (isAwaited) => (await prepare()).launch(isAwaited),
    hurry: () => void preparing?.then((sandboxes) => sandboxes.hurry()).catch(() => {}),
    isolation: () => report?.level ?? config.isolation,
    transpile: (ownerId, texts) =>
      emitter.add(
        texts
          .filter(({ path }) => isModulePath(path))
          .map(({ path, code }) => ({ url: path, code, type: toModuleType(path), ownerId })),
      ),
    onAvailability(problem) {
      // The start itself reports that the machine cannot be prepared.
      if (report === undefined) return
      if (problem === undefined) log.info("sandboxes_available")
      else log.error("sandboxes_unavailable", { problem })
    },
  }
  const runnerLimits = {
    ...toRunnerLimits(config),
    runsAtOnceOf: (accountId: string) => limits.quotas.find(accountId)?.runsAtOnce,
  }
  const supervisor = new Supervisor(source, runnerLimits, limits.budgets)
  const resolver = createResolver(config, egress, prepare, onErrorOf("packages"))
  const formatter = new SandboxedFormatter(prepare, onErrorOf("formatter"))
  return {
    supervisor,
    resolver,
    formatter,
    /** Sends requests to the URLs of webhooks. */
    webhookClient: createWebhookClient({
      policy: egress.routePolicy,
      takeBytes: limits.allowances.takeBytes,
    }),
    /** What users must know about weak isolation. Empty before the start. */
    isolationWarnings: (): readonly string[] =>
      report ? listIsolationWarnings(report, isChosen) : [],
    /** The isolation is weak and the operator has not chosen it: one user may run their own code. */
    isForOneUser: () => report?.level === "deno" && !isChosen,
    /** Prepares the machine, once, and starts processes for the pool. */
    async start(): Promise<IsolationReport> {
      report = (await prepare()).report
      supervisor.start()
      return report
    },
    async stop() {
      await Promise.all([supervisor.stop(), resolver.stop(), formatter.stop(), emitter.stop()])
      const sandboxes = await preparing?.catch(() => undefined)
      await sandboxes?.stop()
      await egress.stop()
    },
  }
}

function createSandboxes(
  config: Config,
  openEgress: (paths: EgressPaths) => EgressListener,
  onMissingEmits: (modules: readonly ProgramModule[]) => void,
  onError: (error: unknown) => void,
): Promise<Sandboxes> {
  const { processWaitMsMax, valMemoryBytesMax, valScratchBytesMax } = config.runs
  const limits = {
    ...sandboxLimits,
    startMsMax: processWaitMsMax,
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
      ca: config.egress.ca,
      openEgress,
      onMissingEmits,
    },
    onError,
  )
}

function toRunnerLimits({ runs }: Config) {
  return {
    ...runnerLimits,
    runMsMax: runs.runMsMax,
    waitMsMax: runs.processWaitMsMax,
    runsPerGroupMax: runs.perValMax,
    runsPerAccountMax: runs.perAccountMax,
    readyMin: runs.processesReady,
    readyMax: runs.processesReadyMax,
    processesMax: runs.processesMax,
    processesPerAccountMax: runs.processesPerAccountMax,
    memoryBytesMax: runs.processesMemoryBytesMax,
    idleMsMax: runs.idleMsMax,
    processMsMax: runs.processMsMax,
    cpuMsMax: runs.valCpuMsMax,
  }
}

import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { exampleCode } from "@hamlet/guest/example"
import { guestScript, workerStarter } from "@hamlet/guest/protocol"
import { Refused, Watchdog } from "@hamlet/kit"
import { EmitFolder } from "../emits/emit-folder.ts"
import type { ProgramModule } from "../program/program-module.ts"
import { bundleGuest, bundleProgram } from "./bundle-program.ts"
import { Cgroups } from "./cgroups/cgroups.ts"
import { CodeCache } from "./code-cache.ts"
import { ControlScheduler } from "./control/control-scheduler.ts"
import type { EgressListener, EgressPaths } from "./egress-listener.ts"
import { isRoot, listIsolations, type WantedIsolation } from "./launch/isolation.ts"
import { runTool, type ToolJob, type ToolOutcome } from "./launch/tool-run.ts"
import { PackageFolders } from "./packages/package-folders.ts"
import { insideCa, type ProgramParts, systemFiles } from "./profiles/program-profile.ts"
import type { Tool } from "./profiles/tool-profile.ts"
import { RuntimeFolder } from "./runtime-folder.ts"
import { Sandbox, type SandboxHost, type SandboxSpec } from "./sandbox.ts"
import type { SandboxLimits } from "./sandbox-limits.ts"
import { createSeccompFilter } from "./seccomp/seccomp-filter.ts"
import { findStartProblem } from "./start-problem.ts"
import { chooseUserRange, pickUser, type UserRange } from "./user-range.ts"

/** How sandboxes are configured. */
export interface SandboxOptions {
  readonly isolation: WantedIsolation
  /** All servers of a data folder share one temporary folder. Sandboxes never see the data. */
  readonly dataDir: string
  /** The address of the modules of programs. */
  readonly baseUrl: string
  /** Further hosts whose modules may be imported, with the port if it is not the default. */
  readonly importHosts: readonly string[]
  readonly limits: SandboxLimits
  readonly denoPath: string
  /** A program in the place of the guest, with Workers that start as they are: for tests. */
  readonly guestPath?: string
  /** Certificates, in PEM, of authorities that programs trust in addition to the default ones. */
  readonly ca?: string | undefined
  readonly openEgress?: ((paths: EgressPaths) => EgressListener) | undefined
  /** Gets the modules that a process will transpile. */
  readonly onMissingEmits?: ((modules: readonly ProgramModule[]) => void) | undefined
  /** False to ignore control groups, so that tests can act like machines without them. */
  readonly usesCgroups?: boolean
  /** False to leave what killed servers have left behind, as the doctor does. */
  readonly sweeps?: boolean
}

/** The isolation of programs in force. */
export interface IsolationReport {
  readonly level: "bubblewrap" | "deno"
  /** Sentences for the operator. */
  readonly details: readonly string[]
}

type OnError = (error: unknown) => void
type Start = Pick<SandboxSpec, "stderr" | "isHurried" | "isCompiling">

/** The least time between two launches whose only purpose is to read why launches fail. */
const explainMs = 10_000

/** Starts sandboxes, and ends those that are alive when it stops. */
export class Sandboxes {
  readonly report: IsolationReport
  readonly #folder: RuntimeFolder
  readonly #host: SandboxHost
  readonly #users: UserRange | undefined
  readonly #alive = new Set<Sandbox>()
  readonly #starting = new Set<Sandbox>()
  readonly #tools = new Set<Promise<unknown>>()
  /** Sandboxes that are being created. */
  readonly #creating = new Set<Promise<unknown>>()
  readonly #stopping = new AbortController()
  /** The sandbox with which the isolation was tried. The first launch returns it. */
  #first: Sandbox | undefined
  #compileTimer: Timer | undefined
  #launched = 0
  #hurries = 0
  #explainAtMs = 0

  /** Use `create`, which finds out what works on this machine. */
  constructor(
    folder: RuntimeFolder,
    host: SandboxHost,
    users: UserRange | undefined,
    reasons: readonly string[],
  ) {
    this.#folder = folder
    this.#host = host
    this.#users = users
    const { level, details } = host.isolation
    this.report = { level, details: [...details, ...host.cgroups.details, ...reasons] }
  }

  /**
   * Prepares the machine: removes what killed servers left, bundles the guest, and tries which
   * isolation works.
   */
  static async create(options: SandboxOptions, onError: OnError): Promise<Sandboxes> {
    const folder = await RuntimeFolder.create(
      options.dataDir,
      options.limits.endMsMax,
      options.sweeps ?? true,
    )
    // Other processes bundle, while this one tries control groups and looks for programs.
    const scripts = bundleScripts(options.guestPath)
    scripts.catch(() => {})
    const cgroups = await Cgroups.create(
      folder.name,
      options.limits,
      (path) => folder.noteGroup(path),
      options.usesCgroups ?? true,
    )
    try {
      return await choose(options, folder, cgroups, scripts, onError)
    } catch (error) {
      await cgroups.stop()
      folder.stop()
      throw error
    }
  }

  /**
   * Starts a process. Resolves when its guest can be given a program; a failed start leaves nothing
   * behind. Unless a run waits for it, it starts at low priority until `hurry` is called, and its
   * guest warms up.
   */
  async launch(isAwaited = true): Promise<Sandbox> {
    const first = this.#first
    this.#first = undefined
    if (first && this.#alive.has(first)) return first
    try {
      return await this.#start({ stderr: "ignore", isHurried: isAwaited }, isAwaited)
    } catch (error) {
      throw this.#stopping.signal.aborted ? error : await this.#explain(error)
    }
  }

  /** Gives normal priority to the sandboxes that are starting: a run waits for one. */
  hurry(): void {
    this.#hurries++
    for (const sandbox of this.#starting) sandbox.setPriority("normal")
  }

  /** The JavaScript of programs that processes get. Undefined if they transpile everything. */
  get emits(): EmitFolder | undefined {
    return this.#host.emits
  }

  /** Writes a program where sandboxes can read it. Returns its path. */
  addProgram(name: string, code: string): string {
    return this.#folder.write(name, code)
  }

  /** Runs a tool on untrusted input, isolated in the same way as a program. */
  async runTool(job: ToolJob): Promise<ToolOutcome> {
    const signal = AbortSignal.any([job.signal, this.#stopping.signal])
    const run = runTool(this.#host, this.#nextSpec(), {
      ...job,
      tool: this.#toReachable(job.tool),
      signal,
    })
    this.#tools.add(run)
    try {
      return await run
    } finally {
      this.#tools.delete(run)
    }
  }

  /** Ends everything. */
  async stop(): Promise<void> {
    clearTimeout(this.#compileTimer)
    this.#stopping.abort()
    await Promise.allSettled([...this.#tools, ...this.#creating])
    await this.#stopSandboxes()
    this.#host.watchdog.stop()
    this.#host.scheduler.stop()
    this.#host.codeCache?.stop()
    // A group that remains is listed in the folder, so that the next server removes it.
    if (await this.#host.cgroups.stop()) this.#folder.stop()
    else
      this.#host.onError(
        new Error("Cannot remove the control groups of the sandboxes: a process is still in one"),
      )
  }

  /** Starts one sandbox to see whether it works. Returns why not, as a sentence. */
  async try(): Promise<string | undefined> {
    try {
      this.#first = await this.#start({ stderr: "ignore", isHurried: false }, true)
      this.#compileTimer = setTimeout(
        () => void this.#makeCodeCache(),
        this.#host.limits.compileDelayMs,
      ).unref()
      return undefined
    } catch {
      // Once more, to read what it writes to standard error.
      const failed = await this.#startToRead().catch((error: unknown) => error)
      await this.#stopSandboxes()
      if (failed instanceof Sandbox) return "it does not work every time"
      return failed instanceof Error ? failed.message : String(failed)
    }
  }

  /**
   * In the background, after the start of the server: it takes as much CPU time as four sandboxes.
   * Those that start before compile for themselves.
   */
  async #makeCodeCache(): Promise<void> {
    const { codeCache, example, limits, onError } = this.#host
    if (!codeCache) return
    let sandbox: Sandbox | undefined
    try {
      const start = { stderr: "ignore", isHurried: false, isCompiling: true } as const
      sandbox = await this.#start(start, false)
      sandbox.setPriority("patient")
      await codeCache.fill(sandbox, example.url, limits.startMsMax)
    } catch (error) {
      if (!this.#stopping.signal.aborted) onError(error)
    }
    if (sandbox) await this.#stopSandbox(sandbox)
  }

  /**
   * The error in words for the operator. When its reason is unknown, starts a sandbox to read what
   * it writes to standard error.
   */
  async #explain(error: unknown): Promise<unknown> {
    const problem = findStartProblem(error, this.#host.isolation.programs)
    if (problem !== undefined)
      return new Refused("sandbox_unavailable", `Cannot start a sandbox: ${problem}`, {
        cause: error,
      })
    if (performance.now() < this.#explainAtMs) return error
    this.#explainAtMs = performance.now() + explainMs
    const second = await this.#startToRead().catch((failure: unknown) => failure)
    if (second instanceof Sandbox) await this.#stopSandbox(second)
    return second instanceof Refused ? second : error
  }

  #toReachable(tool: Tool): Tool {
    if (!this.#host.isolation.hasOwnUser || "command" in tool) return tool
    const helpers = Object.entries(tool.helpers).map(([name, path]) => [
      name,
      this.#folder.share(path),
    ])
    return { ...tool, helpers: Object.fromEntries(helpers) }
  }

  async #stopSandboxes(): Promise<void> {
    await Promise.all([...this.#alive].map((sandbox) => sandbox.stop()))
  }

  #startToRead(): Promise<Sandbox> {
    return this.#start({ stderr: "pipe", isHurried: false }, true)
  }

  async #start(start: Start, isAwaited: boolean): Promise<Sandbox> {
    const hurries = this.#hurries
    const sandbox = await this.#create(start)
    this.#starting.add(sandbox)
    if (!isAwaited && hurries === this.#hurries) sandbox.setPriority("patient")
    const { startMsMax } = this.#host.limits
    const deadline = setTimeout(
      () => void sandbox.stop("killed", `it was not ready after ${startMsMax} ms`),
      startMsMax,
    )
    try {
      await sandbox.warm
      sandbox.setPriority("normal")
      void sandbox.exited.then(() => this.#stopSandbox(sandbox))
      return sandbox
    } catch (error) {
      const stderr = await sandbox.readErrors()
      await sandbox.stop()
      this.#alive.delete(sandbox)
      throw stderr === ""
        ? error
        : new Refused("sandbox_unavailable", `Cannot start a sandbox: ${stderr.split("\n")[0]}`, {
            cause: error,
          })
    } finally {
      clearTimeout(deadline)
      this.#starting.delete(sandbox)
    }
  }

  async #create(start: Start): Promise<Sandbox> {
    if (this.#stopping.signal.aborted) throw stopping()
    const created = Sandbox.create(this.#host, { ...this.#nextSpec(), ...start })
    this.#creating.add(created)
    try {
      const sandbox = await created
      this.#alive.add(sandbox)
      if (!this.#stopping.signal.aborted) return sandbox
      await this.#stopSandbox(sandbox)
      throw stopping()
    } finally {
      this.#creating.delete(created)
    }
  }

  #nextSpec(): Omit<SandboxSpec, keyof Start> {
    const id = `s${++this.#launched}`
    return {
      id,
      path: join(this.#folder.path, id),
      uid: this.#users && pickUser(this.#users, this.#launched),
    }
  }

  async #stopSandbox(sandbox: Sandbox): Promise<void> {
    await sandbox.stop()
    this.#alive.delete(sandbox)
  }
}

function stopping(): Refused {
  return new Refused("sandbox_unavailable", "Cannot start a sandbox: the server is stopping")
}

/** Tries one isolation after the other, the strongest first. */
async function choose(
  options: SandboxOptions,
  folder: RuntimeFolder,
  cgroups: Cgroups,
  scripts: ReturnType<typeof bundleScripts>,
  onError: OnError,
): Promise<Sandboxes> {
  const filter = createSeccompFilter("deno")
  const filterPath = filter ? folder.write("filter", filter) : "/dev/null"
  const { baseUrl, limits } = options
  // The sandboxes of a server that runs as root are other users.
  const denoPath = isRoot ? folder.share(options.denoPath) : options.denoPath
  const example = { url: `${baseUrl}/v/example`, code: exampleCode }
  const { isolations, missing } = listIsolations(denoPath, options.isolation, filter !== undefined)
  const [guest, worker] = await scripts
  const programParts: ProgramParts = {
    guestPath: folder.write("guest.js", guestScript.mainModule),
    compilerPath: folder.write(
      "guest-compiler.js",
      guestScript.beforeCompiling + guestScript.mainModule,
    ),
    scriptPath: folder.write("guest-script.js", guest),
    systemFiles: writeSystemFiles(folder, {
      ...systemFiles,
      ...(options.ca !== undefined && { [insideCa]: options.ca }),
      ...(worker !== undefined && { [workerStarter]: worker }),
    }),
    importHosts: [new URL(baseUrl).host, ...options.importHosts],
    exampleUrl: example.url,
    limits,
  }
  const reasons = [...missing]
  for (const isolation of isolations) {
    const users = isolation.hasOwnUser ? chooseUserRange() : undefined
    if (isolation.hasOwnUser && !users) {
      reasons.push("the server is root in a user namespace that has no unused user ids")
      continue
    }
    const host: SandboxHost = {
      limits,
      example,
      programParts,
      isolation,
      cgroups,
      filterPath,
      onError,
      watchdog: new Watchdog(limits.watchMs, limits.watchedMax),
      packageFolders: new PackageFolders(join(folder.path, "files")),
      scheduler: new ControlScheduler(),
      openEgress: options.openEgress,
      emits: isolation.bubblewrap
        ? new EmitFolder(join(folder.path, "emits"), baseUrl, options.onMissingEmits ?? (() => {}))
        : undefined,
      codeCache: isolation.bubblewrap && new CodeCache(join(folder.path, "code")),
    }
    const unused = reasons.map((reason) => `not used: ${reason}`)
    const sandboxes = new Sandboxes(folder, host, users, unused)
    const failure = await sandboxes.try()
    if (failure === undefined) return sandboxes
    reasons.push(`${isolation.level} (${isolation.details[0]}): ${failure}`)
  }
  throw new Refused(
    "sandbox_unavailable",
    `Cannot isolate programs with "${options.isolation}": ${reasons.join("; ")}`,
  )
}

/** The guest and what starts Workers in it; a program in the place of the guest has no such Workers. */
function bundleScripts(guestPath: string | undefined) {
  return Promise.all([
    bundleGuest(guestPath ?? findGuest("main")),
    guestPath === undefined ? bundleProgram(findGuest("worker")) : undefined,
  ])
}

function findGuest(name: "main" | "worker"): string {
  return fileURLToPath(import.meta.resolve(`@hamlet/guest/${name}`))
}

function writeSystemFiles(
  folder: RuntimeFolder,
  files: Readonly<Record<string, string>>,
): ProgramParts["systemFiles"] {
  return Object.entries(files).map(([inside, content]) => ({
    inside,
    outside: folder.write(`system${inside.replaceAll("/", "-")}`, content),
  }))
}

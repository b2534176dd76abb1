import { join } from "node:path"
import { exampleCode } from "@hamlet/guest/example"
import { AppError } from "../../domain/app-error.ts"
import { Cgroups } from "./cgroups/cgroups.ts"
import { stackMap } from "./commands/bubblewrap-command.ts"
import { bundleProgram } from "./commands/bundle-program.ts"
import type { Tool } from "./commands/tool-command.ts"
import { ControlScheduler } from "./control/control-scheduler.ts"
import type { EgressListener } from "./egress-listener.ts"
import { type Isolation, listIsolations } from "./isolation.ts"
import { runTool, type ToolJob, type ToolOutcome } from "./launch/tool-run.ts"
import { Watchdog } from "./launch/watchdog.ts"
import { RuntimeFolder } from "./runtime-folder.ts"
import { Sandbox, type SandboxHost, type SandboxSpec } from "./sandbox.ts"
import type { SandboxLimits } from "./sandbox-limits.ts"
import { createSystemCallFilter } from "./seccomp/system-call-filter.ts"
import { findStartProblem } from "./start-problem.ts"
import { chooseUserRange, pickUser, type UserRange } from "./user-range.ts"

/** How sandboxes are to be. */
export interface SandboxOptions {
  /** `auto` takes the best that works on this machine. */
  readonly isolation: "auto" | "bubblewrap" | "deno"
  /** Only to have one temporary folder for all servers of it: nothing in a sandbox ever sees it. */
  readonly dataDir: string
  /** Where the modules of vals are. */
  readonly baseUrl: string
  /** Hosts, with their port if it is not the usual one, whose modules may be imported as well. */
  readonly importHosts: readonly string[]
  readonly limits: SandboxLimits
  readonly denoPath: string
  /** The guest's main file. */
  readonly guestPath: string
  readonly openEgress?: ((path: string) => EgressListener) | undefined
  /**
   * False to do without control groups even where there are some: how it is on other machines can
   * then be tried here.
   */
  readonly usesCgroups?: boolean
  /** False for whoever only looks: what a dead server has left stays where it is. */
  readonly sweeps?: boolean
}

/** What stands between vals and this machine. */
export interface IsolationReport {
  readonly level: "bubblewrap" | "deno"
  /** Sentences for the operator. */
  readonly details: readonly string[]
}

type OnError = (error: unknown) => void

/** The least time between two sandboxes that are started to find out why others are not. */
const explainMs = 10_000

/** Starts sandboxes, and knows all that are alive. */
export class Sandboxes {
  readonly report: IsolationReport
  readonly #folder: RuntimeFolder
  readonly #host: SandboxHost
  readonly #users: UserRange | undefined
  readonly #living = new Set<Sandbox>()
  readonly #starting = new Set<Sandbox>()
  readonly #tools = new Set<Promise<unknown>>()
  /** Sandboxes that are not there yet. */
  readonly #pending = new Set<Promise<unknown>>()
  readonly #stopping = new AbortController()
  /** The one with which the isolation was tried; the first that is asked for gets it. */
  #first: Sandbox | undefined
  #launched = 0
  #hurries = 0
  #explainAtMs = 0
  #isStopped = false

  private constructor(
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
   * Prepares the machine: sweeps what a killed server left, bundles the guest, and tries which
   * isolation works.
   */
  static async create(options: SandboxOptions, onError: OnError): Promise<Sandboxes> {
    const folder = await RuntimeFolder.create(
      options.dataDir,
      options.limits.endMsMax,
      options.sweeps ?? true,
    )
    const cgroups = await Cgroups.create(
      folder.name,
      options.limits,
      (path) => folder.noteGroup(path),
      options.usesCgroups ?? true,
    )
    try {
      return await choose(options, folder, cgroups, onError, (...parts) => new Sandboxes(...parts))
    } catch (error) {
      await cgroups.stop()
      folder.stop()
      throw error
    }
  }

  /**
   * Starts a process; resolves when its guest is warm. One that fails to become so leaves nothing
   * behind. It stays out of the way of others, until `hurry`, unless somebody waits for it.
   */
  async launch(isAwaited = true): Promise<Sandbox> {
    const first = this.#first
    this.#first = undefined
    if (first && this.#living.has(first)) return first
    try {
      return await this.#start("ignore", isAwaited)
    } catch (error) {
      throw this.#isStopped ? error : await this.#explain(error)
    }
  }

  /** Somebody waits for what is being started. */
  hurry(): void {
    this.#hurries++
    for (const sandbox of this.#starting) sandbox.setPriority("normal")
  }

  /** Puts a program where sandboxes can see it; gives its path. */
  addProgram(name: string, code: string): string {
    return this.#folder.write(name, code)
  }

  /**
   * Has a program of ours work on what strangers have written, with the same walls around it as
   * around a val.
   */
  async runTool(job: ToolJob): Promise<ToolOutcome> {
    const signal = AbortSignal.any([job.signal, this.#stopping.signal])
    const run = runTool(this.#host, this.#nextPlace(), {
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
    this.#isStopped = true
    this.#stopping.abort()
    await Promise.allSettled([...this.#tools, ...this.#pending])
    await this.#stopSandboxes()
    this.#host.watchdog.stop()
    this.#host.turns.stop()
    // A group that stays behind is in the list of the folder, so that the next server finds it.
    if (await this.#host.cgroups.stop()) this.#folder.stop()
    else
      this.#host.onError(
        new Error("Cannot remove the control groups of the sandboxes: a process is still in one"),
      )
  }

  /** Starts one sandbox to see whether it works; if not, says why, in a sentence. */
  async try(): Promise<string | undefined> {
    try {
      this.#first = await this.#start("ignore", true)
      return undefined
    } catch {
      // Once more, to read what it has to say about it.
      const failed = await this.#start("pipe", true).catch((error: unknown) => error)
      await this.#stopSandboxes()
      if (failed instanceof Sandbox) return "it works only sometimes"
      return failed instanceof Error ? failed.message : String(failed)
    }
  }

  /**
   * The error in words for the operator. Where nothing else tells, one is started to read what it
   * says.
   */
  async #explain(error: unknown): Promise<unknown> {
    const problem = findStartProblem(error, this.#host.isolation.programs)
    if (problem !== undefined)
      return new AppError("sandbox_unavailable", `Cannot start a sandbox: ${problem}`, {
        cause: error,
      })
    if (performance.now() < this.#explainAtMs) return error
    this.#explainAtMs = performance.now() + explainMs
    const said = await this.#start("pipe", true).catch((failure: unknown) => failure)
    if (said instanceof Sandbox) await this.#forget(said)
    return said instanceof AppError ? said : error
  }

  #toReachable(tool: Tool): Tool {
    if (!this.#host.isolation.hasOwnUser) return tool
    const helpers = Object.entries(tool.helpers).map(([name, path]) => [
      name,
      this.#folder.share(path),
    ])
    return { ...tool, helpers: Object.fromEntries(helpers) }
  }

  async #stopSandboxes(): Promise<void> {
    await Promise.all([...this.#living].map((sandbox) => sandbox.stop()))
  }

  async #start(stderr: "ignore" | "pipe", isAwaited: boolean): Promise<Sandbox> {
    const hurries = this.#hurries
    const sandbox = await this.#create(stderr)
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
      void sandbox.exited.then(() => this.#forget(sandbox))
      return sandbox
    } catch (error) {
      const said = await sandbox.readErrors()
      await sandbox.stop()
      this.#living.delete(sandbox)
      throw said === ""
        ? error
        : new AppError("sandbox_unavailable", `Cannot start a sandbox: ${said.split("\n")[0]}`, {
            cause: error,
          })
    } finally {
      clearTimeout(deadline)
      this.#starting.delete(sandbox)
    }
  }

  async #create(stderr: "ignore" | "pipe"): Promise<Sandbox> {
    if (this.#isStopped) throw stopping()
    const created = Sandbox.create(this.#host, { ...this.#nextPlace(), stderr })
    this.#pending.add(created)
    try {
      const sandbox = await created
      this.#living.add(sandbox)
      if (!this.#isStopped) return sandbox
      await this.#forget(sandbox)
      throw stopping()
    } finally {
      this.#pending.delete(created)
    }
  }

  #nextPlace(): Omit<SandboxSpec, "stderr"> {
    const id = `s${++this.#launched}`
    return {
      id,
      path: join(this.#folder.path, id),
      uid: this.#users && pickUser(this.#users, this.#launched),
    }
  }

  async #forget(sandbox: Sandbox): Promise<void> {
    await sandbox.stop()
    this.#living.delete(sandbox)
  }
}

function stopping(): AppError {
  return new AppError("sandbox_unavailable", "Cannot start a sandbox: the server is stopping")
}

type Build = (
  folder: RuntimeFolder,
  host: SandboxHost,
  users: UserRange | undefined,
  reasons: readonly string[],
) => Sandboxes

/** Tries one way after the other, the best first. */
async function choose(
  options: SandboxOptions,
  folder: RuntimeFolder,
  cgroups: Cgroups,
  onError: OnError,
  build: Build,
): Promise<Sandboxes> {
  const filter = createSystemCallFilter()
  const filterPath = filter ? folder.write("filter", filter) : "/dev/null"
  const guestPath = folder.write("guest.js", await bundleProgram(options.guestPath))
  const stackMapPath = folder.write("maps", stackMap)
  const { baseUrl, limits } = options
  // Sandboxes of a server that is root are other users.
  const denoPath = process.getuid?.() === 0 ? folder.share(options.denoPath) : options.denoPath
  const example = { url: `${baseUrl}/v/example`, code: exampleCode }
  const imports = {
    hosts: [new URL(baseUrl).host, ...options.importHosts],
    exampleUrl: example.url,
  }
  const parts = {
    denoPath,
    guestPath,
    stackMapPath,
    imports,
    limits,
    hasFilter: filter !== undefined,
  }
  const { ways, missing } = listIsolations(parts, options.isolation)
  const reasons = [...missing]
  for (const isolation of ways) {
    const users = isolation.hasOwnUser ? chooseUserRange() : undefined
    if (isolation.hasOwnUser && !users) {
      reasons.push("the server is root in a user namespace that has no users to spare")
      continue
    }
    const watchdog = new Watchdog(limits)
    const turns = new ControlScheduler()
    const host: SandboxHost = {
      limits,
      example,
      isolation,
      cgroups,
      watchdog,
      turns,
      filterPath,
      openEgress: options.openEgress,
      onError,
    }
    const sandboxes = build(folder, host, users, reasons.map(toReason))
    const failure = await sandboxes.try()
    if (failure === undefined) return sandboxes
    reasons.push(`${describe(isolation)}: ${failure}`)
  }
  throw new AppError(
    "sandbox_unavailable",
    `Cannot isolate vals with "${options.isolation}": ${reasons.join("; ")}`,
  )
}

function describe(isolation: Isolation): string {
  return `${isolation.level} (${isolation.details[0]})`
}

function toReason(reason: string): string {
  return `not used: ${reason}`
}

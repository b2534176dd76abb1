import { join } from "node:path"
import {
  type GuestMessage,
  type HostMessage,
  type PackagesUse,
  unsentName,
} from "@hamlet/guest/protocol"
import { mapInSlices, Refused, type Watchdog } from "@hamlet/kit"
import { hasSlowLane, setSlowLane } from "../cpu-priority/slow-lane.ts"
import type { EmitFolder } from "../emits/emit-folder.ts"
import type { ProgramModule } from "../program/program-module.ts"
import type { StoredBundle } from "../program/stored-bundle.ts"
import type { Cgroup } from "./cgroups/cgroup.ts"
import type { Cgroups } from "./cgroups/cgroups.ts"
import type { CodeCache } from "./code-cache.ts"
import { ControlChannel } from "./control/control-channel.ts"
import type { ControlScheduler } from "./control/control-scheduler.ts"
import type { EgressListener, EgressPaths } from "./egress-listener.ts"
import type { GuestProcess } from "./launch/guest-process.ts"
import type { LaunchedProcess } from "./launch/launched-process.ts"
import { type LaunchHost, launch } from "./launch/launcher.ts"
import { createLimitChecks, type LimitChecks } from "./launch/limit-checks.ts"
import { writeModule, writeModuleLater } from "./module-cache.ts"
import { assertHash, type PackageFolders, toPackagesFolder } from "./packages/package-folders.ts"
import { type ProgramParts, toProgramProfile } from "./profiles/program-profile.ts"
import { type SandboxExit, type StopCause, toSandboxExit } from "./sandbox-exit.ts"
import { removeSandboxFolder, SandboxFolder } from "./sandbox-folder.ts"
import type { SandboxLimits } from "./sandbox-limits.ts"
import { findStartProblem } from "./start-problem.ts"

export type { SandboxExit } from "./sandbox-exit.ts"

/** What all sandboxes of a server share. */
export interface SandboxHost extends LaunchHost {
  readonly limits: SandboxLimits
  readonly cgroups: Cgroups
  readonly programParts: ProgramParts
  /** The module with which a guest warms up. */
  readonly example: ProgramModule
  readonly watchdog: Watchdog
  readonly packageFolders: PackageFolders
  /** Undefined without bubblewrap: programs are transpiled in each process. */
  readonly emits: EmitFolder | undefined
  /** Undefined without bubblewrap: each process compiles all of its code. */
  readonly codeCache: CodeCache | undefined
  readonly scheduler: ControlScheduler
  /** Opens the egress socket of a sandbox. Undefined: sandboxes have no network at all. */
  readonly openEgress: ((paths: EgressPaths) => EgressListener) | undefined
  readonly onError: (error: unknown) => void
}

/** What differs between sandboxes. */
export interface SandboxSpec {
  readonly id: string
  readonly path: string
  readonly uid: number | undefined
  /** "pipe" to read why it does not start. */
  readonly stderr: "ignore" | "pipe"
  /** Whether a run waits for it, so that its guest does not warm up first. */
  readonly isHurried: boolean
  /** Whether the process makes the code cache of the others, and never gets a program. */
  readonly isCompiling?: boolean
}

/** `hasCodeCache`: it was there when the folder of the sandbox was created. */
type StartedSpec = SandboxSpec & { readonly hasCodeCache: boolean }

/**
 * normal:   all cores
 * patient:  the slow lane, so that others are not slowed down
 * low:      the slow lane, and less CPU than others: it would use all it can get
 */
export type Priority = "normal" | "patient" | "low"

/**
 * How long a process may live after it has closed the control socket, and how long its last
 * messages may take to arrive after its end.
 */
const controlGraceMs = 1_000
const niceLow = 19

/**
 * A process that runs the guest, with its folder, sockets and control group. When it ends, for
 * whatever reason, all of them are removed.
 *
 *   starting ──▶ warm ──▶ ended
 *       └──────────────────▲
 */
export class Sandbox {
  readonly id: string
  /** The socket on which the guest accepts runs. */
  readonly socketPath: string
  /** Deno's cache folder, on the host. */
  readonly denoDir: string
  /** Resolves when the process is gone. */
  readonly exited: Promise<SandboxExit>
  /**
   * The socket for outgoing requests. Undefined without bubblewrap: only Deno's permissions would
   * keep a program from bypassing it.
   */
  readonly egressListener: EgressListener | undefined
  /** Resolves when the guest is warm. Rejects when the process ends before. */
  readonly warm: Promise<void>
  onMessage: ((message: GuestMessage, bytes: number) => void) | undefined
  readonly #host: SandboxHost
  readonly #folder: SandboxFolder
  readonly #warm = Promise.withResolvers<void>()
  readonly #removed: Promise<void>
  readonly #control: ControlChannel
  readonly #process: LaunchedProcess
  #guest: GuestProcess | undefined
  #stopped: StopCause | undefined
  #limitChecks: LimitChecks | undefined
  #priority: Priority = "normal"
  #isMoved = false
  #hasEnded = false

  private constructor(
    host: SandboxHost,
    spec: StartedSpec,
    folder: SandboxFolder,
    group: Cgroup | undefined,
  ) {
    this.id = spec.id
    this.#host = host
    this.#folder = folder
    this.socketPath = join(folder.run, "in.sock")
    this.denoDir = folder.deno
    using undo = new DisposableStack()
    this.#control = undo.adopt(this.#listen(), (control) => control.stop())
    this.egressListener = undo.adopt(this.#openEgress(), (listener) => listener?.stop())
    this.#process = this.#launch(spec, group)
    undo.move()
    this.warm = this.#warm.promise
    this.exited = this.#process.child.exited.then(() => this.#end())
    this.#removed = this.exited.then(() => this.#remove())
    void this.#control.closed.then(() =>
      setTimeout(() => this.#endUnreachable(), controlGraceMs).unref(),
    )
  }

  /** Starts it. System calls that may block run on other threads, not on the main thread. */
  static async create(host: SandboxHost, spec: SandboxSpec): Promise<Sandbox> {
    await using undo = new AsyncDisposableStack()
    undo.defer(() => removeSandboxFolder(spec.path))
    const folder = await SandboxFolder.create(spec.path, spec.uid)
    // The example also creates the folders for the modules of programs.
    await writeModuleLater(folder.deno, host.example)
    await host.emits?.prepare(folder.deno)
    const hasCodeCache = host.codeCache?.provide(folder.deno) ?? false
    await (spec.isCompiling ? folder.openDeno() : folder.closeDeno())
    const group = await host.cgroups.createGroup(spec.id)
    undo.defer(() => group?.removeSoon())
    const sandbox = new Sandbox(host, { ...spec, hasCodeCache }, folder, group)
    undo.move()
    return sandbox
  }

  /** What it wrote to standard error until it ended. Empty unless `stderr` is "pipe". */
  async readErrors(): Promise<string> {
    const { stderr } = this.#process.child
    return stderr instanceof ReadableStream ? (await new Response(stderr).text()).trim() : ""
  }

  send(message: HostMessage): void {
    this.#control.send(message)
  }

  /**
   * Puts the modules into the guest's cache, before the guest is told to load them. If that fails,
   * the process ends. In slices: hundreds of files that cannot be linked would block other requests.
   */
  async addModules(modules: readonly ProgramModule[]): Promise<void> {
    try {
      await mapInSlices(modules, (module) => {
        // Its folder may be removed by now.
        if (this.#hasEnded) return
        writeModule(
          this.#folder.deno,
          module,
          (module, path) => this.#host.emits?.link(module, path) ?? false,
        )
      })
    } catch (error) {
      void this.stop("killed", "its modules could not be written")
      const problem = findStartProblem(error, {}) ?? "its modules cannot be written"
      throw new Refused("sandbox_unavailable", `Cannot start a sandbox: ${problem}`, {
        cause: error,
      })
    }
    if (this.#hasEnded) return
    try {
      this.#host.emits?.provide(this.#folder.deno, modules)
    } catch (error) {
      // Deno transpiles what it does not find.
      this.#host.onError(error)
    }
  }

  /** Adds the packages that the modules import. If that fails, the process ends. */
  addBundles(bundles: readonly StoredBundle[]): Promise<PackagesUse> {
    for (const { hash } of bundles) assertHash(hash)
    return this.#addBundles(bundles)
  }

  /** Undefined when it has ended, or the system does not offer it. */
  readCpuMs(): number | undefined {
    if (this.#hasEnded) return undefined
    return this.#process.group?.readCpuMs() ?? this.#guest?.readUsage()?.cpuMs
  }

  /** Undefined when it has ended, or the system does not offer it. */
  readMemoryBytes(): number | undefined {
    if (this.#hasEnded) return undefined
    return this.#process.group?.readMemoryBytes() ?? this.#guest?.readOwnBytes()
  }

  /** Whether one of its threads runs or waits for a core; false where the system cannot tell. */
  isRunnable(): boolean {
    return this.#guest?.isRunnable() ?? false
  }

  setPriority(priority: Priority): void {
    if (this.#hasEnded || priority === this.#priority) return
    const [wasLow, isLow] = [this.#priority === "low", priority === "low"]
    this.#priority = priority
    this.#isMoved = true
    this.#applyLane()
    if (wasLow === isLow || this.#process.group?.setWeight(isLow ? "low" : "normal")) return
    // Only root can undo `nice`, so others use it only where there is no slow lane.
    if (process.getuid?.() === 0 || !hasSlowLane) this.#guest?.setNice(isLow ? niceLow : 0)
  }

  /** Whether it was killed, or has ended by itself. */
  get isEnding(): boolean {
    return this.#stopped !== undefined || this.#hasEnded
  }

  /** Kills it and waits until all of it is removed. */
  async stop(reason: SandboxExit["reason"] = "killed", message?: string): Promise<SandboxExit> {
    if (!this.#stopped && !this.#hasEnded) {
      this.#stopped = { reason, message }
      this.#process.kill()
    }
    await this.#removed
    return await this.exited
  }

  #applyLane(): void {
    setSlowLane(() => this.#process.listPids(), this.#priority !== "normal")
  }

  async #addBundles(bundles: readonly StoredBundle[]): Promise<PackagesUse> {
    const folder = toPackagesFolder(this.#folder.deno)
    let use: PackagesUse = "plain"
    try {
      for (const bundle of bundles)
        if (!this.#hasEnded) {
          const { isPlain } = await this.#host.packageFolders.provide(bundle, folder)
          if (!isPlain) use = "cached"
        }
      return use
    } catch (error) {
      if (this.#hasEnded) return use
      this.#host.onError(error)
      void this.stop("killed", "its packages could not be written")
      return use
    } finally {
      // Meanwhile its folder may have been removed, and some files written after that.
      if (this.#hasEnded) await this.#remove()
    }
  }

  /** Called by the watchdog: ends the sandbox if it exceeds a limit. */
  check(): boolean {
    const excess = this.#stopped ? undefined : this.#limitChecks?.findExcess()
    if (excess) void this.stop(excess.reason, excess.message)
    return this.#stopped !== undefined
  }

  #listen(): ControlChannel {
    const path = join(this.#folder.run, "control.sock")
    const listener = {
      onMessage: (message: GuestMessage, bytes: number) => this.#receive(message, bytes),
      onViolation: (message: string) => void this.stop("protocol", message),
    }
    const control = new ControlChannel(path, this.#host.limits, listener, this.#host.scheduler)
    this.#folder.restrict(path)
    return control
  }

  #openEgress(): EgressListener | undefined {
    if (!this.#host.isolation.bubblewrap) return undefined
    const { run } = this.#folder
    const paths = { requests: join(run, "out.sock"), sockets: join(run, "tcp.sock") }
    const listener = this.#host.openEgress?.(paths)
    if (listener) for (const path of Object.values(paths)) this.#folder.restrict(path)
    return listener
  }

  #launch(
    { id, uid, stderr, isHurried, isCompiling = false, hasCodeCache }: StartedSpec,
    group: Cgroup | undefined,
  ): LaunchedProcess {
    const { limits, programParts } = this.#host
    const start = { isHurried, isCompiling, hasCodeCache: hasCodeCache || isCompiling }
    const profile = toProgramProfile(programParts, this.#folder, start)
    return launch(this.#host, profile, {
      id,
      uid,
      group,
      limits,
      folder: this.#folder,
      // What a program writes around the guest's console is not read, so a flood of it costs nothing.
      streams: ["ignore", "ignore", stderr],
    })
  }

  #receive(message: GuestMessage, bytes: number): void {
    if (this.#guest) {
      try {
        this.onMessage?.(message, bytes)
      } catch (error) {
        this.#host.onError(error)
      }
    } else if (message.kind === "warm") this.#noteWarm()
    else void this.stop("protocol", "it sent a control message before it was warm")
  }

  #noteWarm(): void {
    this.#guest = this.#process.findInner()
    if (!this.#guest) {
      void this.stop("killed", "its process cannot be found")
      return
    }
    this.#folder.closeRun()
    // A process that was being started when the lane changed has the lane of its parent.
    if (this.#isMoved) this.#applyLane()
    this.#limitChecks = createLimitChecks(this.#host.limits, this.#host.isolation, {
      guest: this.#guest,
      group: this.#process.group,
      folder: this.#folder,
    })
    if (this.#limitChecks.areNeeded) this.#host.watchdog.add(this)
    this.#warm.resolve()
  }

  /** A process without a control socket cannot be given runs, and its logs cannot be read. */
  #endUnreachable(): void {
    if (!this.#hasEnded) void this.stop("protocol", "it closed the control socket")
  }

  async #end(): Promise<SandboxExit> {
    await this.#process.waitUntilGone(this.#host.limits.endMsMax, this.#host.onError)
    // The kernel may still hold the guest's last messages.
    this.#control.liftLimits()
    if (this.#control.isOpen) await Promise.race([this.#control.closed, Bun.sleep(controlGraceMs)])
    if (this.#guest && this.#stopped?.reason !== "protocol") await this.#receiveUnsent()
    this.#hasEnded = true
    this.#host.watchdog.remove(this)
    this.#control.stop()
    this.egressListener?.stop()
    const exit = toSandboxExit(
      this.#process.readExitFacts(this.#stopped, this.#limitChecks?.readCpuMs()),
      this.#host.limits,
    )
    this.#warm.reject(
      new Refused("sandbox_unavailable", `Cannot start a sandbox: ${exit.message}`, {
        cause: exit,
      }),
    )
    this.#warm.promise.catch(() => {})
    return exit
  }

  async #receiveUnsent(): Promise<void> {
    const path = join(this.#folder.run, unsentName)
    await this.#control.receiveUnsent(path)
  }

  async #remove(): Promise<void> {
    try {
      await removeSandboxFolder(this.#folder.path)
      await this.#process.group?.removeSoon()
    } catch (error) {
      this.#host.onError(error)
    }
  }
}

import { chmodSync, chownSync } from "node:fs"
import { join } from "node:path"
import type { GuestMessage, HostMessage } from "@hamlet/guest/protocol"
import { AppError } from "../../domain/app-error.ts"
import type { Bundle } from "../../domain/modules/lockfiles.ts"
import { hasSlowLane, setSlowLane } from "../fairness/slow-lane.ts"
import type { Cgroup } from "./cgroups/cgroup.ts"
import { insidePaths } from "./commands/bubblewrap-command.ts"
import { ControlChannel } from "./control/control-channel.ts"
import type { ControlScheduler } from "./control/control-scheduler.ts"
import type { EgressListener } from "./egress-listener.ts"
import type { GuestProcess } from "./launch/guest-process.ts"
import { type Launch, LaunchedProcess, type LaunchHost } from "./launch/launched-process.ts"
import type { Watchdog } from "./launch/watchdog.ts"
import { type CachedModule, writeModuleLater, writeModules } from "./module-cache.ts"
import { writeBundles } from "./package-files.ts"
import { type SandboxExit, type StopCause, toSandboxExit } from "./sandbox-exit.ts"
import {
  closeRunFolder,
  createSandboxFolder,
  removeSandboxFolder,
  type SandboxFolder,
} from "./sandbox-folder.ts"
import { isLargerThan } from "./scratch-size.ts"

export type { SandboxExit } from "./sandbox-exit.ts"

/** What all sandboxes of a server share. */
export interface SandboxHost extends LaunchHost {
  /** With which the guest warms up. */
  readonly example: CachedModule
  readonly watchdog: Watchdog
  readonly turns: ControlScheduler
  /** Opens the way out of a sandbox; absent where sandboxes have none. */
  readonly openEgress: ((path: string) => EgressListener) | undefined
}

/** What one sandbox has for itself. */
export interface SandboxSpec {
  readonly id: string
  readonly path: string
  readonly uid: number | undefined
  /** Whether somebody wants to read what it says when it does not start. */
  readonly stderr: "ignore" | "pipe"
}

/**
 * Whoever is patient stays out of the way of others; low is for those who also get less, since they
 * would take whatever there is.
 */
export type Priority = "normal" | "patient" | "low"

/**
 * How long a process may live on after it has closed the control socket, and what it wrote last may
 * take to arrive after its end.
 */
const controlGraceMs = 1_000
/** Adding up a folder takes longer than looking at a process. */
const scratchCheckEvery = 10
const niceLow = 19

/**
 * A process with a guest in it, and everything that was made for it. It ends once, of whatever; then nothing of it is left.
 *
 *   starting ──▶ warm ──▶ ended
 *       └──────────────────▲
 */
export class Sandbox {
  readonly id: string
  /** Where the guest listens for runs. */
  readonly socketPath: string
  /** The process is gone, and this is why. */
  readonly exited: Promise<SandboxExit>
  /**
   * The way out; none where nothing but Deno's permissions would keep a val from going round it.
   */
  readonly egressListener: EgressListener | undefined
  /** The guest has said that it is warm; fails when it has ended before. */
  readonly warm: Promise<void>
  onMessage: ((message: GuestMessage, bytes: number) => void) | undefined
  readonly #host: SandboxHost
  readonly #folder: SandboxFolder
  readonly #uid: number | undefined
  readonly #warm = Promise.withResolvers<void>()
  readonly #removed: Promise<void>
  readonly #control: ControlChannel
  readonly #process: LaunchedProcess
  #guest: GuestProcess | undefined
  #stopped: StopCause | undefined
  #cpuMs: number | undefined
  #checks = 0
  #priority: Priority = "normal"
  #hasEnded = false

  private constructor(
    host: SandboxHost,
    place: SandboxSpec,
    folder: SandboxFolder,
    group: Cgroup | undefined,
  ) {
    this.id = place.id
    this.#host = host
    this.#uid = place.uid
    this.#folder = folder
    this.socketPath = join(folder.run, "in.sock")
    const made: (() => void)[] = []
    try {
      this.#control = this.#listen()
      made.push(() => this.#control.stop())
      this.egressListener = this.#openEgress()
      made.push(() => this.egressListener?.stop())
      this.#process = this.#launch(place.stderr, group)
    } catch (error) {
      for (const undo of made.reverse()) undo()
      throw error
    }
    this.warm = this.#warm.promise
    this.exited = this.#process.child.exited.then(() => this.#end())
    this.#removed = this.exited.then(() => this.#remove())
    void this.#control.closed.then(() => setTimeout(() => this.#endMute(), controlGraceMs).unref())
  }

  /**
   * Starts it. What the system may keep us waiting for is not waited for here, where everybody else
   * would have to wait too.
   */
  static async create(host: SandboxHost, place: SandboxSpec): Promise<Sandbox> {
    const made: (() => Promise<unknown> | undefined)[] = [() => removeSandboxFolder(place.path)]
    try {
      const folder = await createSandboxFolder(place.path, place.uid)
      // It also makes the folders in which the modules of vals will be.
      await writeModuleLater(folder.deno, host.example)
      const group = await host.cgroups.createGroup(place.id)
      made.push(() => group?.removeSoon())
      return new Sandbox(host, place, folder, group)
    } catch (error) {
      for (const undo of made.reverse()) await undo()
      throw error
    }
  }

  /** What it wrote to standard error until it ended; only if that was asked for. */
  async readErrors(): Promise<string> {
    const { stderr } = this.#process.child
    return stderr instanceof ReadableStream ? (await new Response(stderr).text()).trim() : ""
  }

  send(message: HostMessage): void {
    this.#control.send(message)
  }

  /** Has the modules at hand before the guest is told to load the first. */
  addModules(modules: readonly CachedModule[]): void {
    if (!this.#hasEnded) writeModules(this.#folder.deno, modules)
  }

  /** The same for what they import from elsewhere. */
  addBundles(bundles: readonly Bundle[]): void {
    if (!this.#hasEnded) writeBundles(this.#folder.deno, bundles)
  }

  /** Undefined when it has ended, or nobody can tell. */
  readCpuMs(): number | undefined {
    if (this.#hasEnded) return undefined
    return this.#process.group?.readCpuMs() ?? this.#guest?.readUsage()?.cpuMs
  }

  /** The same. */
  readMemoryBytes(): number | undefined {
    if (this.#hasEnded) return undefined
    return this.#process.group?.readMemoryBytes() ?? this.#guest?.readOwnBytes()
  }

  /** Whether it would do something if it were given a processor; false where nobody can tell. */
  isRunnable(): boolean {
    return this.#guest?.isRunnable() ?? false
  }

  setPriority(priority: Priority): void {
    if (this.#hasEnded || priority === this.#priority) return
    const [wasLow, isLow] = [this.#priority === "low", priority === "low"]
    this.#priority = priority
    setSlowLane(this.#process.listPids(), priority !== "normal")
    if (wasLow === isLow || this.#process.group?.setWeight(isLow ? "low" : "normal")) return
    // What only root could take back is done only where nothing else can be.
    if (process.getuid?.() === 0 || !hasSlowLane) this.#guest?.setNice(isLow ? niceLow : 0)
  }

  /** Ends it, whatever it is doing, and waits until nothing of it is left. */
  async stop(reason: SandboxExit["reason"] = "killed", message?: string): Promise<SandboxExit> {
    if (!this.#stopped && !this.#hasEnded) {
      this.#stopped = { reason, message }
      this.#process.kill()
    }
    await this.#removed
    return await this.exited
  }

  /** For the watchdog: what the kernel does not limit here. */
  check(): void {
    const usage = this.#guest?.readUsage()
    if (!usage || this.#stopped) return
    const { limits } = this.#host
    const { hasOuterProcess, hasOwnUser } = this.#host.isolation
    this.#cpuMs = usage.cpuMs
    this.#checks += 1
    if (!this.#process.group?.has("memory") && usage.memoryBytes > limits.memoryBytesMax)
      void this.stop("memory")
    else if (!this.#process.group?.has("pids") && !hasOwnUser && usage.threads > limits.threadsMax)
      void this.stop("processes")
    else if (hasOuterProcess) this.#checkEntries()
    else if (this.#checks % scratchCheckEvery === 0) this.#checkFolder()
  }

  /** A file system of its own limits the bytes in it by itself. */
  #checkEntries(): void {
    const { scratchEntriesMax } = this.#host.limits
    if (
      this.#process.group?.has("memory") ||
      (this.#guest?.readEntries(insidePaths.scratch) ?? 0) <= scratchEntriesMax
    )
      return
    void this.stop(
      "files",
      `its scratch folder holds more than the limit of ${scratchEntriesMax} files and folders`,
    )
  }

  #checkFolder(): void {
    const { scratchBytesMax, scratchEntriesMax } = this.#host.limits
    if (!isLargerThan(this.#folder.scratch, scratchBytesMax, scratchEntriesMax)) return
    void this.stop(
      "files",
      `its scratch folder holds more than the limit of ${scratchBytesMax} bytes, or ${scratchEntriesMax} files and folders`,
    )
  }

  #listen(): ControlChannel {
    const path = join(this.#folder.run, "control.sock")
    const listener = {
      onMessage: (message: GuestMessage, bytes: number) => this.#hear(message, bytes),
      onViolation: (message: string) => void this.stop("protocol", message),
    }
    const control = new ControlChannel(path, this.#host.limits, listener, this.#host.turns)
    this.#handOver(path)
    return control
  }

  #openEgress(): EgressListener | undefined {
    if (!this.#host.isolation.hasOuterProcess) return undefined
    const path = join(this.#folder.run, "out.sock")
    const door = this.#host.openEgress?.(path)
    if (door) this.#handOver(path)
    return door
  }

  /** A socket that only the guest may connect to. */
  #handOver(path: string): void {
    if (this.#uid !== undefined) chownSync(path, this.#uid, this.#uid)
    chmodSync(path, 0o600)
  }

  #launch(stderr: SandboxSpec["stderr"], group: Cgroup | undefined): LaunchedProcess {
    const { isolation, limits } = this.#host
    const launch: Launch = {
      id: this.id,
      folder: this.#folder,
      command: isolation.toCommand({ folder: this.#folder, uid: this.#uid }),
      environment: isolation.toEnvironment(this.#folder),
      limits,
      stdin: "ignore",
      // Nobody reads what a val writes past the guest, so a flood of it costs nothing.
      stdout: "ignore",
      stderr,
      hasChildren: false,
    }
    return new LaunchedProcess(this.#host, launch, group)
  }

  #hear(message: GuestMessage, bytes: number): void {
    if (this.#guest) {
      try {
        this.onMessage?.(message, bytes)
      } catch (error) {
        this.#host.onError(error)
      }
    } else if (message.kind === "warm") this.#noteWarm()
    else void this.stop("protocol", "it said something before it was warm")
  }

  #noteWarm(): void {
    this.#guest = this.#process.findInner()
    if (!this.#guest) {
      void this.stop("killed", "its process cannot be found")
      return
    }
    closeRunFolder(this.#folder, this.#uid)
    if (
      !this.#process.group?.has("memory") ||
      !this.#process.group.has("pids") ||
      !this.#host.isolation.hasOuterProcess
    )
      this.#host.watchdog.add(this)
    this.#warm.resolve()
  }

  /**
   * A process that nobody can talk to any more is of no use, and neither limits nor logs would be
   * known of it.
   */
  #endMute(): void {
    if (!this.#hasEnded) void this.stop("protocol", "it closed the control socket")
  }

  async #end(): Promise<SandboxExit> {
    await this.#process.waitUntilGone()
    // The kernel may still hold what the guest said last.
    this.#control.liftLimits()
    if (!this.#stopped && this.#control.isOpen)
      await Promise.race([this.#control.closed, Bun.sleep(controlGraceMs)])
    this.#hasEnded = true
    this.#host.watchdog.delete(this)
    this.#control.stop()
    this.egressListener?.stop()
    const exit = toSandboxExit(
      this.#process.readExitFacts(this.#stopped, this.#cpuMs),
      this.#host.limits,
    )
    this.#warm.reject(
      new AppError("sandbox_unavailable", `Cannot start a sandbox: ${exit.message}`, {
        cause: exit,
      }),
    )
    this.#warm.promise.catch(() => {})
    return exit
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

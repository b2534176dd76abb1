import { chmodSync, chownSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { GuestMessage, HostMessage } from "@hamlet/guest/protocol"
import { AppError } from "../../domain/app-error.ts"
import type { Door } from "../door.ts"
import type { Cgroup } from "./cgroup.ts"
import type { Cgroups } from "./cgroups.ts"
import { ControlChannel } from "./control-channel.ts"
import { GuestProcess } from "./guest-process.ts"
import type { Isolation } from "./isolation.ts"
import { toShellCommand } from "./launch-script.ts"
import { type CachedModule, writeModules } from "./module-cache.ts"
import { type SandboxExit, type StopCause, toSandboxExit } from "./sandbox-exit.ts"
import { closeRunFolder, createSandboxFolder, removeSandboxFolder, type SandboxFolder } from "./sandbox-folder.ts"
import type { SandboxLimits } from "./sandbox-limits.ts"
import { isLargerThan } from "./scratch-size.ts"
import { bubblewrapFile, processFile } from "./sweep.ts"
import type { Watchdog } from "./watchdog.ts"

export type { SandboxExit } from "./sandbox-exit.ts"

/** What all sandboxes of a server share. */
export interface SandboxHost {
  readonly limits: SandboxLimits
  /** With which the guest warms up. */
  readonly example: CachedModule
  readonly isolation: Isolation
  readonly cgroups: Cgroups
  readonly watchdog: Watchdog
  readonly filterPath: string
  /** Opens the way out of a sandbox; absent where sandboxes have none. */
  readonly openDoor: ((path: string) => Door) | undefined
  readonly onError: (error: unknown) => void
}

/** What one sandbox has for itself. */
export interface SandboxPlace {
  readonly id: string
  readonly path: string
  readonly uid: number | undefined
  /** Whether somebody wants to read what it says when it does not start. */
  readonly stderr: "ignore" | "pipe"
}

const goneCheckMs = 2
/** How long a process may live on after it has closed the control socket, and what it wrote last may take to arrive after its end. */
const controlGraceMs = 1_000
/** bubblewrap ends by itself when the process inside has; after this long it is not waited for. */
const outerGraceMs = 1_000
/** Adding up a folder takes longer than looking at a process. */
const scratchCheckEvery = 10
const niceIdle = 19

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
  /** The way out; none where nothing but Deno's permissions would keep a val from going round it. */
  readonly door: Door | undefined
  /** The guest has said that it is warm; fails when it has ended before. */
  readonly warm: Promise<void>
  onMessage: ((message: GuestMessage, bytes: number) => void) | undefined
  readonly #host: SandboxHost
  readonly #folder: SandboxFolder
  readonly #uid: number | undefined
  readonly #warm = Promise.withResolvers<void>()
  readonly #removed: Promise<void>
  readonly #control: ControlChannel
  readonly #group: Cgroup | undefined
  readonly #child: Bun.Subprocess
  #guest: GuestProcess | undefined
  #stopped: StopCause | undefined
  #cpuMs: number | undefined
  #checks = 0
  #hasEnded = false

  constructor(host: SandboxHost, place: SandboxPlace) {
    this.id = place.id
    this.#host = host
    this.#uid = place.uid
    const made: (() => void)[] = [() => removeSandboxFolder(place.path)]
    try {
      this.#folder = createSandboxFolder(place.path, place.uid)
      // It also makes the folders in which the modules of vals will be.
      writeModules(this.#folder.deno, [host.example])
      this.socketPath = join(this.#folder.run, "in.sock")
      this.#control = this.#listen()
      made.push(() => this.#control.stop())
      this.door = this.#openDoor()
      made.push(() => this.door?.stop())
      this.#group = host.cgroups.createGroup(place.id)
      made.push(() => this.#group?.remove())
      this.#child = this.#spawn(place.stderr)
    } catch (error) {
      for (const undo of made.reverse()) undo()
      throw error
    }
    this.warm = this.#warm.promise
    this.exited = this.#child.exited.then(() => this.#end())
    this.#removed = this.exited.then(() => this.#remove())
    void this.#control.closed.then(() => setTimeout(() => this.#endMute(), controlGraceMs).unref())
  }

  /** What it wrote to standard error until it ended; only if that was asked for. */
  async readErrors(): Promise<string> {
    const { stderr } = this.#child
    return stderr instanceof ReadableStream ? (await new Response(stderr).text()).trim() : ""
  }

  send(message: HostMessage): void {
    this.#control.send(message)
  }

  /** Has the modules at hand before the guest is told to load the first. */
  addModules(modules: readonly CachedModule[]): void {
    if (!this.#hasEnded) writeModules(this.#folder.deno, modules)
  }

  /** Undefined when it has ended, or nobody can tell. */
  usage(): { readonly cpuMs: number; readonly memoryBytes: number } | undefined {
    if (this.#hasEnded) return undefined
    const cpuMs = this.#group?.readCpuMs()
    const memoryBytes = this.#group?.readMemoryBytes()
    if (cpuMs !== undefined && memoryBytes !== undefined) return { cpuMs, memoryBytes }
    const usage = this.#guest?.readUsage()
    return usage && { cpuMs: cpuMs ?? usage.cpuMs, memoryBytes: memoryBytes ?? usage.memoryBytes }
  }

  /** Whoever is idle gets what nobody else wants. */
  setPriority(priority: "normal" | "idle"): void {
    if (this.#hasEnded || this.#group?.setIdle(priority === "idle")) return
    this.#guest?.setNice(priority === "idle" ? niceIdle : 0)
  }

  /** Ends it, whatever it is doing, and waits until nothing of it is left. */
  async stop(reason: SandboxExit["reason"] = "killed", message?: string): Promise<SandboxExit> {
    if (!this.#stopped && !this.#hasEnded) {
      this.#stopped = { reason, message }
      this.#kill()
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
    if (!this.#group?.has("memory") && usage.memoryBytes > limits.memoryBytesMax) void this.stop("memory")
    else if (!this.#group?.has("pids") && !hasOwnUser && usage.threads > limits.threadsMax) void this.stop("processes")
    else if (!hasOuterProcess && this.#checks % scratchCheckEvery === 0 && isLargerThan(this.#folder.scratch, limits.scratchBytesMax))
      void this.stop("files", `its scratch folder holds more than the limit of ${limits.scratchBytesMax} bytes`)
  }

  #listen(): ControlChannel {
    const path = join(this.#folder.run, "control.sock")
    const control = new ControlChannel(path, this.#host.limits, {
      hear: (message, bytes) => this.#hear(message, bytes),
      refuse: (message) => void this.stop("protocol", message),
    })
    this.#handOver(path)
    return control
  }

  #openDoor(): Door | undefined {
    if (!this.#host.isolation.hasOuterProcess) return undefined
    const path = join(this.#folder.run, "out.sock")
    const door = this.#host.openDoor?.(path)
    if (door) this.#handOver(path)
    return door
  }

  /** A socket that only the guest may connect to. */
  #handOver(path: string): void {
    if (this.#uid !== undefined) chownSync(path, this.#uid, this.#uid)
    chmodSync(path, 0o600)
  }

  #spawn(stderr: SandboxPlace["stderr"]): Bun.Subprocess {
    const { isolation, limits, filterPath } = this.#host
    const command = isolation.toCommand({ folder: this.#folder, uid: this.#uid })
    const start = {
      processPath: join(this.#folder.path, processFile),
      reportPath: isolation.hasOuterProcess ? join(this.#folder.path, bubblewrapFile) : "/dev/null",
      filterPath: isolation.hasOuterProcess ? filterPath : "/dev/null",
      joinPaths: this.#group?.joinPaths ?? [],
      hasOwnUser: isolation.hasOwnUser,
      limits,
    }
    return Bun.spawn(toShellCommand(start, command), {
      cwd: isolation.hasOuterProcess ? "/" : this.#folder.scratch,
      env: isolation.toEnvironment(this.#folder),
      // Nobody reads what a val writes past the guest, so a flood of it costs nothing.
      stdio: ["ignore", "ignore", stderr],
    })
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
    this.#guest = this.#findGuest()
    if (!this.#guest) {
      void this.stop("killed", "its process cannot be found")
      return
    }
    closeRunFolder(this.#folder, this.#uid)
    if (!this.#group?.has("memory") || !this.#group.has("pids") || !this.#host.isolation.hasOuterProcess) this.#host.watchdog.add(this)
    this.#warm.resolve()
  }

  #findGuest(): GuestProcess | undefined {
    if (!this.#host.isolation.hasOuterProcess) return GuestProcess.find(this.#child.pid)
    try {
      const report = JSON.parse(readFileSync(join(this.#folder.path, bubblewrapFile), "utf8")) as { "child-pid": number }
      return GuestProcess.find(report["child-pid"])
    } catch {
      return undefined
    }
  }

  /** A process that nobody can talk to any more is of no use, and neither limits nor logs would be known of it. */
  #endMute(): void {
    if (!this.#hasEnded) void this.stop("protocol", "it closed the control socket")
  }

  /** bubblewrap, if there is one, takes note of the guest's end and follows. Killed itself, it would leave that to somebody else. */
  #kill(): void {
    this.#guest ??= this.#findGuest()
    if (!this.#guest?.isAlive()) {
      this.#child.kill("SIGKILL")
      return
    }
    this.#guest.kill()
    setTimeout(() => this.#child.kill("SIGKILL"), outerGraceMs).unref()
  }

  async #end(): Promise<SandboxExit> {
    await this.#waitUntilGone()
    // The kernel may still hold what the guest said last.
    if (!this.#stopped && this.#control.isOpen) await Promise.race([this.#control.closed, Bun.sleep(controlGraceMs)])
    this.#hasEnded = true
    this.#host.watchdog.delete(this)
    this.#control.stop()
    this.door?.stop()
    const exit = toSandboxExit(
      {
        code: this.#child.exitCode,
        signal: this.#child.signalCode,
        stopped: this.#stopped,
        wasOutOfMemory: this.#group?.wasOutOfMemory() ?? false,
        wasOutOfProcesses: this.#group?.wasOutOfProcesses() ?? false,
        cpuMs: this.#group?.readCpuMs() ?? this.#cpuMs,
        memoryBytes: this.#group?.readPeakBytes(),
      },
      this.#host.limits,
    )
    this.#warm.reject(new AppError("sandbox_unavailable", `Cannot start a sandbox: ${exit.message}`))
    this.#warm.promise.catch(() => {})
    return exit
  }

  /** The process that we started has ended; the one inside of it may take a moment longer. */
  async #waitUntilGone(): Promise<void> {
    const deadlineMs = performance.now() + this.#host.limits.endMsMax
    for (;;) {
      const isGuestAlive = this.#guest?.isAlive() ?? false
      if (isGuestAlive) this.#guest?.kill()
      const left = this.#group?.kill() ?? 0
      if (!isGuestAlive && left === 0) return
      if (performance.now() > deadlineMs) {
        this.#host.onError(new Error(`Cannot end sandbox "${this.id}": a process in it does not go away`))
        return
      }
      await Bun.sleep(goneCheckMs)
    }
  }

  async #remove(): Promise<void> {
    try {
      removeSandboxFolder(this.#folder.path)
      const deadlineMs = performance.now() + controlGraceMs
      while (this.#group?.remove() === false && performance.now() < deadlineMs) await Bun.sleep(goneCheckMs)
    } catch (error) {
      this.#host.onError(error)
    }
  }
}

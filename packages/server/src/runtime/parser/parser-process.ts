import { fileURLToPath } from "node:url"
import { killInnermost, readTreeBytes } from "../sandbox/launch/process-tree.ts"
import type { WorkerLaunch } from "../sandbox/launch/worker-launch.ts"
import type { CodeToolsLimits } from "./code-tools-limits.ts"
import {
  type ParseFailure,
  type ParseOutcome,
  type ParseRequest,
  type ParseResponse,
  readyMessage,
} from "./parser-messages.ts"

/**
 * One process that parses code for us.
 *
 * A process and not a thread, because some code makes the parser take gigabytes (22 kB of nested
 * arrow functions: 2 GB in 5 s), and a native call cannot be interrupted: a worker thread that is
 * terminated goes on until it is done or the server is out of memory. A process starts in 10 ms,
 * weighs 15 MB, and a kill ends it for certain. A crash of the parser is no crash of the server
 * either.
 */
export class ParserProcess {
  readonly #limits: CodeToolsLimits
  readonly #child: Bun.Subprocess
  readonly #crashed: Promise<ParseFailure>
  readonly #ready = Promise.withResolvers<typeof readyMessage>()
  #answer = Promise.withResolvers<ParseResponse>()
  #runs = 0
  #workMs = 0
  /** The child's own `killed` says so only once it is gone. */
  #isKilled = false

  constructor(limits: CodeToolsLimits, launch: WorkerLaunch) {
    this.#limits = limits
    this.#child = Bun.spawn({
      cmd: launch.toCommand([], limits.lifeSecondsMax),
      // Neither the secrets of the server's environment nor the settings in its working directory
      // are any business of a parser.
      env: { BUN_ENABLE_CRASH_REPORTING: "0", DO_NOT_TRACK: "1" },
      cwd: folderPath,
      stdio: ["ignore", "ignore", "ignore", "ignore", ...launch.descriptors],
      serialization: "advanced",
      ipc: (message: typeof readyMessage | ParseResponse) =>
        message === readyMessage ? this.#ready.resolve(message) : this.#answer.resolve(message),
    })
    this.#crashed = this.#child.exited.then(() => ({ kind: "crashed" }))
  }

  /** How many requests it was given. */
  get runs(): number {
    return this.#runs
  }

  /** Whether it may be given another request. */
  get isUsable(): boolean {
    const isAlive = this.#child.exitCode === null && this.#child.signalCode === null
    return isAlive && !this.#isKilled && this.#workMs < (this.#limits.lifeSecondsMax * 1000) / 2
  }

  /**
   * Answers one request; there must be no other at the same time. A process that fails to answer is
   * not usable afterwards.
   */
  async run(request: ParseRequest): Promise<ParseOutcome> {
    this.#runs += 1
    this.#child.ref()
    const started = await this.#wait(this.#ready.promise, this.#limits.startMsMax)
    if (started !== readyMessage) return started
    const startedAt = performance.now()
    this.#answer = Promise.withResolvers()
    this.#send(request)
    const outcome = await this.#wait(this.#answer.promise, this.#limits.parseMsMax)
    this.#workMs += performance.now() - startedAt
    // Nothing but a request should keep the server's process from ending.
    this.#child.unref()
    return outcome
  }

  /** Ends the process, whatever it is doing, and waits until it is gone. */
  async stop(): Promise<void> {
    this.#kill()
    await this.#crashed
  }

  /** No gentler signal would do: a native call does not see it. */
  #kill(): void {
    this.#isKilled = true
    killInnermost(this.#child.pid)
  }

  #send(request: ParseRequest): void {
    try {
      this.#child.send(request)
    } catch {
      // It has just ended, which whoever waits for the answer is about to notice.
    }
  }

  /**
   * Waits for a message, but not beyond the end of the process, and ends the process when it takes
   * more time or memory than it may.
   */
  async #wait<Message>(message: Promise<Message>, msMax: number): Promise<Message | ParseFailure> {
    const excess = Promise.withResolvers<ParseFailure>()
    const deadline = setTimeout(() => excess.resolve({ kind: "timed_out" }), msMax)
    const memoryCheck = setInterval(() => {
      if (readTreeBytes(this.#child.pid) > this.#limits.memoryBytesMax)
        excess.resolve({ kind: "out_of_memory" })
    }, this.#limits.memoryCheckMs)
    const first = await Promise.race([
      message,
      this.#crashed,
      excess.promise.finally(() => this.#kill()),
    ])
    clearTimeout(deadline)
    clearInterval(memoryCheck)
    return first
  }
}

export const parserProgramPath = fileURLToPath(new URL("./parser-main.ts", import.meta.url))
const folderPath = fileURLToPath(new URL(".", import.meta.url))

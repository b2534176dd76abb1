import type { Subprocess } from "bun"

/** The exit code of a server that a second signal has ended at once. */
const impatientExit = 130
const ownProgram =
  process.env.HAMLET_TEST_SERVER ?? new URL("../../../src/main.ts", import.meta.url).pathname

/** How the program is started. */
export interface ProcessOptions {
  /** The arguments of the program. */
  readonly args: readonly string[]
  /** A command that execs the program; it must not stay its parent. */
  readonly prefix?: readonly string[]
  /**
   * A command that is started instead of the program and may stay its parent. It leads a process
   * group of its own.
   */
  readonly launcher?: readonly string[] | undefined
  readonly env?: Readonly<Record<string, string>>
  readonly cwd: string
  /** The file of the program; that of another release is somewhere else. */
  readonly program?: string | undefined
}

/** The real program in a process of its own. */
export class HamletProcess {
  readonly #child: Subprocess<"ignore", "pipe", "pipe">
  readonly #waiting = new Set<() => void>()
  readonly #reading: Promise<unknown>
  readonly #isLeader: boolean
  stdout = ""
  stderr = ""

  constructor(options: ProcessOptions) {
    const { args, prefix = [], launcher, env = {}, cwd, program = ownProgram } = options
    this.#isLeader = launcher !== undefined
    this.#child = Bun.spawn([...prefix, ...(launcher ?? [process.execPath, program]), ...args], {
      cwd,
      detached: this.#isLeader,
      env: { ...ownEnv(), ...env },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    })
    const { stdout, stderr } = this.#child
    this.#reading = Promise.all([
      this.#read(stdout, (text) => (this.stdout += text)),
      this.#read(stderr, (text) => (this.stderr += text)),
    ])
  }

  /** Waits until the process is up, and gives the address that it prints. */
  async listening(): Promise<string> {
    const [, baseUrl = ""] = await this.waitFor("stdout", /listens at (\S+)[\s\S]*docs {2,}\S+\n/)
    return baseUrl
  }

  /** Waits until the process has printed the pattern. Fails when the process ends without it. */
  async waitFor(stream: "stdout" | "stderr", pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const found = pattern.exec(this[stream])
      if (found) return found
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#waiting.add(resolve)
      const hasEnded = await Promise.race([promise.then(() => false), this.#end().then(() => true)])
      this.#waiting.delete(resolve)
      if (hasEnded && !pattern.test(this[stream]))
        throw new Error(
          `the process ended with ${this.#child.exitCode}:\n${this.stdout}${this.stderr}`,
        )
    }
  }

  get pid(): number {
    return this.#child.pid
  }

  /** Null while it runs, and when a signal has ended it. */
  get exitCode(): number | null {
    return this.#child.exitCode
  }

  signal(signal: "SIGTERM" | "SIGINT" | "SIGHUP" | "SIGKILL" | "SIGSTOP" | "SIGCONT"): void {
    this.#child.kill(signal)
  }

  /** Sends a signal to every process of the launcher's group, as a terminal does. */
  signalGroup(signal: "SIGINT"): void {
    process.kill(-this.#child.pid, signal)
  }

  /**
   * Waits for the end of the process and of its output. The exit code is null when a signal ended
   * it.
   */
  async ended(): Promise<{
    readonly exitCode: number | null
    readonly stdout: string
    readonly stderr: string
  }> {
    await this.#end()
    return { exitCode: this.#child.exitCode, stdout: this.stdout, stderr: this.stderr }
  }

  /**
   * Kills the process if it still runs. `wasKilled` says whether it was killed now or before, and so
   * has not cleaned up.
   */
  async stop(): Promise<{ readonly wasKilled: boolean }> {
    const hadGroup = this.#isLeader && killGroup(this.#child.pid)
    if (!this.#isLeader) this.#child.kill("SIGKILL")
    await this.#end()
    const { signalCode, exitCode } = this.#child
    return { wasKilled: hadGroup || signalCode === "SIGKILL" || exitCode === impatientExit }
  }

  async #end(): Promise<void> {
    await this.#child.exited
    await this.#reading
  }

  async #read(stream: ReadableStream<Uint8Array>, append: (text: string) => void): Promise<void> {
    const decoder = new TextDecoder()
    for await (const chunk of stream) {
      append(decoder.decode(chunk, { stream: true }))
      for (const wake of this.#waiting) wake()
    }
  }
}

/** False when all of them have ended. */
function killGroup(leader: number): boolean {
  try {
    process.kill(-leader, "SIGKILL")
    return true
  } catch {
    return false
  }
}

/**
 * The environment without the settings of a server that the developer may have exported. The marker
 * stays, by which processes that tests leave behind are found.
 */
export function ownEnv(): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(?:HAMLET|OTEL)_/.test(name) || name === "HAMLET_TEST_RUN",
    ),
  )
}

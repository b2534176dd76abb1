import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { removeFaketimeMemory } from "./faketime-memory.ts"

const program = new URL("./scheduling-node.ts", import.meta.url).pathname

/** A server process whose clock is wrong. It can be killed and started again. */
export class ClockedNode {
  readonly #env: Readonly<Record<string, string>>
  #child: Bun.Subprocess<"pipe", "pipe", "inherit"> | undefined
  #starting: Promise<void> | undefined
  #dataDir = ""
  /** Its clock when it started, in seconds. */
  clockSeconds = 0

  /** `skew` is as in `+30s`; `library` is libfaketime. */
  constructor(databaseUrl: string, skew: string, library: string) {
    this.#env = {
      LD_PRELOAD: library,
      FAKETIME: skew,
      // Otherwise its timers are wrong too.
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
      HAMLET_DATABASE_URL: databaseUrl,
      HAMLET_DATABASE_CONNECTIONS_MAX: "4",
      HAMLET_SECRET_KEY: Buffer.alloc(32, 5).toString("base64"),
      HAMLET_LOG_LEVEL: "error",
      HAMLET_PROCESSES_READY: "0",
    }
  }

  /** Starts it unless it runs. */
  start(): Promise<void> {
    this.#starting ??= this.#start()
    return this.#starting
  }

  async kill(): Promise<void> {
    await this.#starting
    this.#child?.kill("SIGKILL")
    await this.#child?.exited
    removeFaketimeMemory()
    this.#starting = undefined
  }

  async remove(): Promise<void> {
    await this.kill()
    if (this.#dataDir !== "") await rm(this.#dataDir, { recursive: true })
  }

  async #start(): Promise<void> {
    this.#dataDir ||= await mkdtemp(join(tmpdir(), "hamlet-node-"))
    removeFaketimeMemory()
    const child = Bun.spawn([process.execPath, program], {
      env: { ...process.env, ...this.#env, HAMLET_DATA_DIR: this.#dataDir },
      stdin: "pipe",
      stdout: "pipe",
      stderr: "inherit",
    })
    this.#child = child
    for await (const chunk of child.stdout) {
      const [, seconds] = /started, (\d+)/.exec(new TextDecoder().decode(chunk)) ?? []
      if (seconds === undefined) continue
      this.clockSeconds = Number(seconds)
      return
    }
    throw new Error("the node ended before it was up")
  }
}

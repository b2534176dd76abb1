import { createHash } from "node:crypto"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { Socket, Subprocess } from "bun"
import { findDeno } from "../../../../scripts/find-deno.ts"
import { exampleCode } from "../../src/example.ts"
import type {
  ErrorText,
  Failure,
  GuestMessage,
  HostMessage,
  Load,
  Log,
  PackagesUse,
  Returned,
  Surroundings,
} from "../../src/protocol.ts"
import { guestScript, hurried, packagesScript } from "../../src/protocol.ts"

const deno = findDeno()
const entry = fileURLToPath(new URL("../../src/main.ts", import.meta.url))
const base = "http://localhost:8080"

/** What is loaded, and how; everything but the code has a default. */
export interface LoadOptions
  extends Partial<Omit<Load, "kind" | "limits">>,
    Partial<Omit<Surroundings, "kind">> {
  readonly limits?: Partial<Load["limits"]>
}

/** Modules by `{user}/{val}@{version}` or by their whole address. */
export type Modules = Readonly<Record<string, string>>

/** What comes of a call: a Returned or a Failure. */
export type CallAnswer = Partial<Returned & Failure>

/**
 * The real guest on the real Deno, as a host sees it: the same sockets, the same permissions, but
 * no sandbox around it.
 */
export class GuestProcess {
  readonly folder = mkdtempSync(join(tmpdir(), "guest-"))
  readonly messages: GuestMessage[] = []
  readonly #waiting = new Set<() => void>()
  readonly #listener
  #control: Socket | undefined
  #child: Subprocess<"ignore", "pipe", "pipe"> | undefined
  #runs = 0
  #packages: PackagesUse = "none"
  isPaused = false

  constructor() {
    mkdirSync(join(this.folder, "sockets"))
    mkdirSync(join(this.folder, "scratch"))
    mkdirSync(join(this.folder, "packages"))
    let rest = ""
    const decoder = new TextDecoder()
    this.#listener = Bun.listen({
      unix: join(this.folder, "sockets/control.sock"),
      socket: {
        open: (socket) => {
          this.#control = socket
        },
        data: (_, chunk) => {
          const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n")
          rest = lines.pop() ?? ""
          for (const line of lines) this.messages.push(JSON.parse(line))
          for (const wake of this.#waiting) wake()
        },
      },
    })
  }

  get inSocket(): string {
    return join(this.folder, "sockets/in.sock")
  }

  /** Starts the process and waits until it is ready; it warms up unless it is hurried. */
  async start(env: Readonly<Record<string, string>> = {}, isHurried = false): Promise<void> {
    const { folder } = this
    const [sockets, scratch, packages] = [
      join(folder, "sockets"),
      join(folder, "scratch"),
      join(folder, "packages"),
    ]
    const script = join(folder, "script.js")
    writeFileSync(script, guestScript.before + (await bundle()) + guestScript.after)
    writeFileSync(join(folder, "guest.js"), guestScript.mainModule)
    const flags = [
      "--quiet",
      "--no-prompt",
      "--no-config",
      "--no-lock",
      "--no-npm",
      "--cached-only",
      "--no-code-cache",
      "--unstable-no-legacy-abort",
      "--unstable-raw-imports",
    ]
    const permissions = [
      "--allow-env",
      "--allow-import=localhost:8080,esm.town:443",
      // The server allows less; here it is the guest that has to give it up.
      "--allow-net",
      `--allow-read=${sockets},${sockets}/tcp.sock,${scratch},${packages},${script}`,
      `--allow-write=${sockets},${sockets}/tcp.sock,${scratch}`,
    ]
    this.add({ "example/example": exampleCode })
    const fixed = [sockets, scratch, `${base}/v/example/example`, packages, script]
    const args = isHurried ? [...fixed, hurried] : fixed
    this.#child = Bun.spawn(
      [deno, "run", ...flags, ...permissions, join(folder, "guest.js"), ...args],
      {
        env: {
          DENO_DIR: join(folder, "deno"),
          DENO_NO_UPDATE_CHECK: "1",
          HOST_ONLY: "not for vals",
          NO_COLOR: "1",
          ...env,
        },
        stdin: "ignore",
        stdout: "pipe",
        stderr: "pipe",
      },
    )
    await this.until(() => this.messages.some(({ kind }) => kind === "warm"))
  }

  /** Puts modules where Deno finds them. */
  add(modules: Modules): void {
    for (const [name, code] of Object.entries(modules)) {
      const url = new URL(name.includes("://") ? name : `${base}/v/${name}`)
      const host = url.port === "" ? url.hostname : `${url.hostname}_PORT${url.port}`
      const path = join(this.folder, "deno/remote", url.protocol.slice(0, -1), host)
      mkdirSync(path, { recursive: true })
      const metadata = JSON.stringify({
        headers: { "content-type": "text/tsx" },
        url: url.href,
        time: 1,
      })
      const file = createHash("sha256")
        .update(url.pathname + url.search)
        .digest("hex")
      writeFileSync(join(path, file), `${code}\n// denoCacheMetadata=${metadata}`)
    }
  }

  /** Puts a bundle where the guest finds it. Gives its hash. */
  addBundle(code: string, cache?: Uint8Array, use: PackagesUse = "cached"): string {
    this.#packages = use
    const hash = createHash("sha256").update(code).digest("hex")
    const { before, after } = packagesScript
    writeFileSync(join(this.folder, "packages", `${hash}.js`), before + code + after)
    if (cache) writeFileSync(join(this.folder, "packages", `${hash}.cache`), cache)
    return hash
  }

  send(message: HostMessage): void {
    this.#control?.write(`${JSON.stringify(message)}\n`)
  }

  /** Loads `code` as ada/hello, version 3, and waits for what comes of it. */
  async load(
    code: string,
    { limits, env = {}, egressKey = "key", ...options }: LoadOptions = {},
  ): Promise<GuestMessage> {
    this.send({
      kind: "load",
      url: `${base}/v/ada/hello@3-main/main.tsx`,
      label: "ada/hello",
      runId: "load",
      scheme: "http",
      endpoint: "http://ada-hello.localhost:8080/",
      isHttp: true,
      ...options,
      limits: { logBytesMax: 100_000, returnBytesMax: 100_000, ...limits },
    })
    this.add({ "ada/hello@3-main/main.tsx": code })
    this.send({ kind: "surroundings", env, egressKey })
    const builtIns = [...code.matchAll(/["']node:([\w/]+)["']/g)].map((match) => match[1] ?? "")
    this.send({ kind: "begin", builtIns, packages: this.#packages })
    return await this.message(({ kind }) => kind === "loaded" || kind === "load_failed")
  }

  /** A request to the val's web address. */
  async request(path: string, init: RequestInit = {}, runId = this.newRunId()): Promise<Response> {
    return await fetch(`http://ada-hello.localhost:8080/h${runId}${path}`, {
      ...init,
      redirect: "manual",
      unix: this.inSocket,
    })
  }

  async call(args: readonly unknown[] = [], runId = this.newRunId()): Promise<CallAnswer> {
    const response = await fetch(`http://call/c${runId}`, {
      method: "POST",
      body: JSON.stringify({ args }),
      unix: this.inSocket,
    })
    return (await response.json()) as CallAnswer
  }

  /** The error of a call that fails. */
  async callError(args: readonly unknown[] = [], runId = this.newRunId()): Promise<ErrorText> {
    const { error, value } = await this.call(args, runId)
    if (!error) throw new Error(`the call did not fail but returned ${JSON.stringify(value)}`)
    return error
  }

  newRunId(): string {
    this.#runs += 1
    return `run-${this.#runs}`
  }

  /** The logs of a run so far. */
  logs(runId?: string): Log[] {
    return this.messages
      .filter((message) => message.kind === "log")
      .filter(({ run }) => runId === undefined || run === runId)
  }

  texts(runId?: string): string[] {
    return this.logs(runId).map(({ message }) => message)
  }

  /** Waits for the first message that is wanted, or that has come. */
  async message<M extends GuestMessage>(
    isWanted: (message: GuestMessage) => message is M,
  ): Promise<M>
  async message(isWanted: (message: GuestMessage) => boolean): Promise<GuestMessage>
  async message(isWanted: (message: GuestMessage) => boolean): Promise<GuestMessage> {
    await this.until(() => this.messages.some(isWanted))
    return this.messages.find(isWanted) as GuestMessage
  }

  async uncaught(run: string) {
    return (await this.message(
      (message) => message.kind === "uncaught" && message.run === run,
    )) as Extract<GuestMessage, { kind: "uncaught" }>
  }

  /** Waits until everything that was sent before has arrived. */
  async settle(): Promise<void> {
    const before = this.messages.filter(({ kind }) => kind === "pong").length
    this.send({ kind: "ping" })
    await this.until(() => this.messages.filter(({ kind }) => kind === "pong").length > before)
  }

  /** Waits for a condition that messages bring about. Fails when the process ends without. */
  async until(isSo: () => boolean): Promise<void> {
    const child = this.#child
    while (!isSo()) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#waiting.add(resolve)
      const hasEnded = await Promise.race([
        promise.then(() => false),
        child?.exited.then(() => true),
      ])
      this.#waiting.delete(resolve)
      if (hasEnded && !isSo())
        throw new Error(`the guest ended with ${child?.exitCode}:\n${await this.output()}`)
    }
  }

  pause(): void {
    this.#control?.pause()
  }

  resume(): void {
    this.#control?.resume()
  }

  hangUp(): void {
    this.#control?.end()
  }

  /** What the process wrote to its real output, once it has ended. */
  async output(): Promise<string> {
    const child = this.#child
    return child
      ? (await new Response(child.stdout).text()) + (await new Response(child.stderr).text())
      : ""
  }

  get exited(): Promise<number> | undefined {
    return this.#child?.exited
  }

  get pid(): number {
    return this.#child?.pid ?? 0
  }

  async stop(): Promise<void> {
    this.#child?.kill("SIGKILL")
    await this.#child?.exited
    this.#listener.stop(true)
    rmSync(this.folder, { recursive: true, force: true })
  }
}

let bundled: Promise<string> | undefined

/** The guest in one file, as the server makes it. */
function bundle(): Promise<string> {
  bundled ??= Bun.build({
    entrypoints: [entry],
    target: "browser",
    format: "esm",
    external: ["node:*"],
  }).then(async ({ outputs }) => {
    const [output] = outputs
    if (!output) throw new Error("the guest was not bundled")
    return await output.text()
  })
  return bundled
}

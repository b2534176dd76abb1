import type { Outcome, Podman } from "./podman.ts"

const token = "a-token-of-the-first-user-for-the-container"
const readyMsMax = 120_000
const pauseMs = 500

/** A container of the image, on a port of this machine. */
export class ServerContainer {
  readonly #podman: Podman
  readonly #name: string
  readonly url: string

  constructor(podman: Podman, name: string, port: number) {
    this.#podman = podman
    this.#name = name
    this.url = `http://127.0.0.1:${port}`
  }

  /**
   * The limits are below those of this machine: a test may run where nobody can raise them. Without
   * systemd, Podman cannot schedule the health check; `checkHealth` runs it.
   */
  toCommand(image: string, settings: Readonly<Record<string, string>>, flags: readonly string[]) {
    const env = {
      HAMLET_PORT: new URL(this.url).port,
      HAMLET_USER: "ada",
      HAMLET_TOKEN: token,
      ...settings,
    }
    return [
      "--name",
      this.#name,
      "--network",
      "host",
      "--no-healthcheck",
      "--ulimit",
      "nofile=4096:4096",
      "--ulimit",
      "nproc=4096:4096",
      ...Object.entries(env).flatMap(([name, value]) => ["--env", `${name}=${value}`]),
      ...flags,
      image,
    ]
  }

  /** Starts it and waits until it is ready. */
  async start(
    image: string,
    settings: Readonly<Record<string, string>>,
    flags: readonly string[],
  ): Promise<void> {
    await this.#podman.mustRun("run", "--detach", ...this.toCommand(image, settings, flags))
    await this.waitUntilReady()
  }

  /** Starts it without what it needs, and returns what it says. */
  refuse(image: string, flags: readonly string[]): Promise<Outcome> {
    return this.#podman.run("run", "--rm", ...this.toCommand(image, {}, flags))
  }

  async stop(): Promise<void> {
    await this.#podman.mustRun("stop", "--time", "60", this.#name)
    const code = await this.#podman.mustRun("wait", this.#name)
    if (code !== "0") throw new Error(`the server ended with ${code}:\n${await this.logs()}`)
  }

  async startAgain(): Promise<void> {
    await this.#podman.mustRun("start", this.#name)
    await this.waitUntilReady()
  }

  async remove(): Promise<void> {
    await this.#podman.mustRun("rm", "--force", this.#name)
  }

  async logs(): Promise<string> {
    return (await this.#podman.run("logs", this.#name)).text
  }

  execute(...command: readonly string[]): Promise<Outcome> {
    return this.#podman.run("exec", this.#name, ...command)
  }

  async waitUntilReady(): Promise<void> {
    const until = performance.now() + readyMsMax
    while (performance.now() < until) {
      try {
        if ((await fetch(`${this.url}/readyz`)).ok) return
      } catch {
        // The server does not listen yet.
      }
      await Bun.sleep(pauseMs)
    }
    throw new Error(`the server is not ready after ${readyMsMax} ms:\n${await this.logs()}`)
  }

  /** Calls the API as the first user. */
  async call<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await fetch(this.url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return JSON.parse(text) as T
  }
}

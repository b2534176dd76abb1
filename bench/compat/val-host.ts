import { type Client, createClient, type Output } from "@hamlet/contract/client"
import { compare, compareResponse, type Failure, type Host } from "./outcome.ts"
import type { PackageCase, ServiceAddresses } from "./package-case.ts"
import { toSharedModule } from "./shared-module.ts"

const limits = { lockMs: 500_000, pollMs: 200, runMs: 120_000 }
const patient = { retriesMax: 30, timeoutMs: limits.runMs }

/** A server, and the token of one of its users. */
export interface Server {
  readonly url: string
  readonly token: string
}

type Val = Output<"saveVal">

/** Vals on a server that is running. Each case has a val, which is deleted afterwards. */
export class ValHost implements Host {
  readonly #server: Server
  readonly #client: Client
  readonly #addresses: ServiceAddresses
  #made = 0

  constructor(server: Server, addresses: ServiceAddresses) {
    this.#server = server
    // A server that is too busy to start a process for a val refuses the request.
    this.#client = createClient({ baseUrl: server.url, token: server.token, ...patient })
    this.#addresses = addresses
  }

  runPackage(useCase: PackageCase): Promise<Failure> {
    const { code, responds } = useCase
    return this.#withVal(code, responds === undefined ? "script" : "http", async (val) => {
      if (responds !== undefined) return this.#request(val, useCase)
      const { error, value } = await this.#run(val, [this.#addresses])
      return error ?? compare(useCase, value)
    })
  }

  /** Runs cases that share a val, one after the other. Returns why each failed. */
  runTogether(cases: readonly PackageCase[]): Promise<readonly Failure[]> {
    return this.#withVal(toSharedModule(cases), "script", async (val) => {
      const failures: Failure[] = []
      for (const [index, useCase] of cases.entries()) {
        const { error, value } = await this.#run(val, [index, this.#addresses])
        failures.push(error ?? compare(useCase, value))
      }
      return failures
    })
  }

  runChecks(code: string, count: number): Promise<readonly Failure[]> {
    return this.#withVal(code, "script", async (val) => {
      const failures: Failure[] = []
      for (let index = 0; index < count; index++) {
        const { error, value } = await this.#run(val, [index, this.#addresses])
        failures.push(error ?? (value === null ? undefined : String(value)))
      }
      return failures
    })
  }

  /** Saves a val and waits for its packages. */
  async #withVal<T>(
    code: string,
    type: "http" | "script",
    work: (val: Val) => Promise<T>,
  ): Promise<T> {
    const name = `compat${++this.#made}`
    const val = await this.#client.saveVal({ name, code, type, privacy: "unlisted" })
    try {
      await this.#waitForLock(val)
      return await work(val)
    } finally {
      await this.#client.deleteVal({ val_id: val.id })
    }
  }

  async #waitForLock({ id }: Val): Promise<void> {
    const end = performance.now() + limits.lockMs
    for (;;) {
      const { state } = await this.#client.getVersionLock({ val_id: id, version: 1 })
      if (state !== "pending" || performance.now() > end) return
      await Bun.sleep(limits.pollMs)
    }
  }

  async #run(
    { id }: Val,
    args: unknown[],
  ): Promise<{ readonly error?: string; readonly value?: unknown }> {
    const { error, returnValue } = await this.#client.createRun({ val_id: id, args })
    return error ? { error: `${error.name}: ${error.message}` } : { value: returnValue ?? null }
  }

  async #request({ links }: Val, useCase: PackageCase): Promise<Failure> {
    const { response, text } = await send(`${this.#server.url}/hello?name=Ada`, {
      headers: {
        host: new URL(links.endpoint ?? "").host,
        // The owner sees errors in full.
        authorization: `Bearer ${this.#server.token}`,
        accept: "application/json",
      },
    })
    return toRunError(text) ?? compareResponse(useCase, response.status, text)
  }
}

/** Sends a request, again as long as the server is too busy to start a process for the val. */
async function send(
  url: string,
  init: RequestInit,
): Promise<{ readonly response: Response; readonly text: string }> {
  const end = performance.now() + limits.runMs
  for (;;) {
    const response = await fetch(url, { ...init, signal: AbortSignal.timeout(limits.runMs) })
    const text = await response.text()
    const isRefused = response.status === 503 && response.headers.has("retry-after")
    if (!isRefused || performance.now() > end) return { response, text }
    await Bun.sleep(limits.pollMs)
  }
}

/** The error of the run, if the val failed. */
function toRunError(text: string): Failure {
  try {
    const { runError } = JSON.parse(text)
    return runError ? `${runError.name}: ${runError.message}` : undefined
  } catch {
    // The response of the val itself.
    return undefined
  }
}

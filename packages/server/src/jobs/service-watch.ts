import { Loop, withinTime } from "@hamlet/kit"
import type { Service, ServiceStatus } from "../domain/nodes.ts"

/** A service, and how it is asked. */
export interface WatchedService extends Service {
  /** Throws when the service cannot be used. */
  probe(): Promise<unknown>
}

const defaults = {
  /** How often each service is asked. */
  pollMs: 30_000,
  /** How long a service may take to respond. */
  probeMsMax: 10_000,
  problemCharsMax: 500,
}

/**
 * Asks the services now and then, so that an operator learns of one that is away, or refuses the key,
 * before a user does. Requests of users do not wait for it, and nothing is refused because of it.
 */
export class ServiceWatch {
  readonly #problems = new Map<WatchedService, string>()
  readonly #loop: Loop

  constructor(
    readonly services: readonly WatchedService[],
    readonly onChange: (status: ServiceStatus) => void,
    onError: (error: unknown, step?: string) => void,
    readonly limits = defaults,
  ) {
    this.#loop = new Loop({ round: () => this.look(), pollMs: limits.pollMs, onError })
  }

  get status(): readonly ServiceStatus[] {
    return this.services.map((service) => ({ service, problem: this.#problems.get(service) }))
  }

  start(): void {
    if (this.services.length > 0) this.#loop.start()
  }

  /** Waits for the probes under way. */
  stop(): Promise<void> {
    return this.#loop.stop()
  }

  /** Asks each service once. */
  async look(): Promise<void> {
    await Promise.all(this.services.map((service) => this.#ask(service)))
  }

  async #ask(service: WatchedService): Promise<void> {
    const problem = await this.#findProblem(service)
    const isNews = (problem === undefined) !== (this.#problems.get(service) === undefined)
    if (problem === undefined) this.#problems.delete(service)
    else this.#problems.set(service, problem)
    if (isNews) this.onChange({ service, problem })
  }

  async #findProblem(service: WatchedService): Promise<string | undefined> {
    const { probeMsMax, problemCharsMax } = this.limits
    const toError = () => new Error(`no response within ${probeMsMax / 1000} s`)
    try {
      await withinTime(Promise.try(service.probe), probeMsMax, toError)
      return undefined
    } catch (error) {
      return (error instanceof Error ? error.message : String(error)).slice(0, problemCharsMax)
    }
  }
}

import * as tls from "node:tls"
import type { EgressListener } from "../sandbox/egress-listener.ts"
import type { EgressLimits } from "./egress-limits.ts"
import type { EgressPolicy } from "./policy/policy.ts"
import type { OwnServer } from "./policy/route.ts"
import { SandboxDoor } from "./proxy/sandbox-door.ts"

/** What the doors need of the rest of the program. */
export interface EgressDeps {
  readonly policy: EgressPolicy
  readonly limits: EgressLimits
  /** Certificates, in PEM, of authorities that are trusted beside the usual ones. */
  readonly ca: string | undefined
  /** This server itself, by name. */
  readonly own: OwnServer
  /** Takes bytes from the owner's allowance; throws RateLimited. */
  takeBytes(ownerId: string, bytes: number): void
  onError(error: unknown): void
}

/** The way out of the sandboxes: each has a door of its own, and there is no other way. */
export class Egress {
  readonly #deps: EgressDeps
  readonly #ca: string[] | undefined
  readonly #doors = new Set<SandboxDoor>()
  readonly #timer: ReturnType<typeof setInterval>

  constructor(deps: EgressDeps) {
    this.#deps = deps
    // Whoever names authorities replaces the usual ones.
    this.#ca = deps.ca === undefined ? undefined : [...listAuthorities(), deps.ca]
    this.#timer = setInterval(() => this.#sweep(), deps.limits.sweepMs)
    this.#timer.unref()
  }

  /** Listens at the path, from now on. Requests wait until somebody is admitted. */
  open(
    path: string,
    { policy = this.#deps.policy }: { readonly policy?: EgressPolicy } = {},
  ): SandboxDoor & EgressListener {
    const { limits, own } = this.#deps
    const door = new SandboxDoor(path, {
      limits,
      routes: { own, policy, ca: this.#ca, addressesMax: limits.addressesMax },
      takeBytes: (ownerId, bytes) => this.#deps.takeBytes(ownerId, bytes),
      onError: (error) => this.#deps.onError(error),
      forgetDoor: (stopped) => this.#doors.delete(stopped),
    })
    this.#doors.add(door)
    return door
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    for (const door of [...this.#doors]) door.stop()
  }

  #sweep(): void {
    const nowMs = performance.now()
    for (const door of this.#doors) door.sweep(nowMs)
  }
}

/**
 * The usual authorities, with those that the environment adds. Bun has the function, and its types
 * do not know it.
 */
function listAuthorities(): readonly string[] {
  const { getCACertificates } = tls as unknown as {
    getCACertificates?: (type: "default") => readonly string[]
  }
  return getCACertificates?.("default") ?? tls.rootCertificates
}

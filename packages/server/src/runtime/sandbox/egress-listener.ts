import type { Substitution } from "../../domain/egress.ts"
import type { RunListener } from "../../domain/runs/runner.ts"

/** The way out of a sandbox: a socket in it, where the host decides about every request. */
export interface Door {
  /** From here on it is known who is in there; requests that came before have waited. */
  admit(guest: DoorGuest): void
  stop(): void
}

/** Whoever goes out through a door. */
export interface DoorGuest {
  readonly ownerId: string
  /** Shows that it was the guest who said which run a request is of. */
  readonly egressKey: string
  readonly substitutions: readonly Substitution[]
  /**
   * The run that a request says it is of, if it is one of this process; its depth is that of the
   * deepest run there unless it still goes on.
   */
  findRun(runId: string | undefined): {
    readonly run: RunListener | undefined
    readonly depth: number
  }
  mask(text: string): string
}

/*
 * What clients did and saw, and what is there at the end. A write whose response was lost may have
 * taken effect or not, at any later time. Operations have the times of one monotonic clock; runs and
 * outages have the time of day.
 */

interface Timed {
  readonly invokedMs: number
  readonly respondedMs: number
}

/** Saves a value, which is used once, as the next version of a val. */
interface Save extends Timed {
  readonly kind: "save"
  readonly val: string
  readonly value: string
  /** Undefined if the response was lost. */
  readonly version: number | undefined
}

/** Reads the current value of a val. */
interface Read extends Timed {
  readonly kind: "read"
  readonly val: string
  readonly value: string
}

/** Adds an item, which is never removed: a blob, a row or a like. */
interface Put extends Timed {
  readonly kind: "put"
  readonly item: string
  readonly isAcknowledged: boolean
}

/** Looks for an item. */
interface Get extends Timed {
  readonly kind: "get"
  readonly item: string
  readonly isFound: boolean
}

/** Queues a run whose argument is the word, which no other run has. */
interface Enqueue extends Timed {
  readonly kind: "enqueue"
  readonly word: string
  /** Undefined if the response was lost. */
  readonly run: string | undefined
}

/** Reads a run. */
interface Look extends Timed {
  readonly kind: "look"
  readonly run: string
  readonly status: string
}

export type Operation = Save | Read | Put | Get | Enqueue | Look

/** A run as it is recorded at the end. */
export interface EndedRun {
  readonly id: string
  readonly word: string
  readonly status: string
  readonly attempt: number
  /** When a client knew that it was queued, or when it was due. */
  readonly queuedMs: number
  readonly endedMs: number | undefined
}

/** What is there when all clients have stopped and all nodes are well. */
export interface FinalState {
  /** By val: the value of each version; the first one is 1. */
  readonly versions: ReadonlyMap<string, readonly string[]>
  /** Each item as often as it is there. */
  readonly items: readonly string[]
  readonly runs: readonly EndedRun[]
  /** How often a server outside of the cluster has heard of each word. */
  readonly effects: ReadonlyMap<string, number>
  /** The due times of schedules that have passed, and their runs: the word of one is its due time. */
  readonly dueTimes: readonly string[]
  readonly scheduledRuns: readonly EndedRun[]
  /**
   * While nothing could run: the database was away, from the beginning of its stop to the end of its
   * start, or all nodes were killed, until one of them was ready again.
   */
  readonly outages: readonly Period[]
}

/** A time of day to another, in milliseconds since 1970. */
export interface Period {
  readonly fromMs: number
  readonly toMs: number
}

type Unended<Ended extends Operation> = Ended extends Operation ? Omit<Ended, "respondedMs"> : never

/** The operations of all clients. */
export class History {
  readonly operations: Operation[] = []
  /** Responses that no fault explains, such as an internal error. */
  readonly unexpected: string[] = []

  /** Adds an operation that has just ended. */
  add(operation: Unended<Operation>): void {
    this.operations.push({ ...operation, respondedMs: performance.now() } as Operation)
  }
}

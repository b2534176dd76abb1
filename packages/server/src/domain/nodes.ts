/**
 * A server process that shares the database with others. `pidStarted` tells it from a later process
 * with the same number.
 */
export interface Node {
  readonly id: string
  readonly host: string
  readonly pid: number
  readonly pidStarted: string
}

/** A node in the database. */
export interface KnownNode extends Node {
  /** Its lease has ended, by the clock of the database. */
  readonly isExpired: boolean
  /** Its runs are being taken from it. */
  readonly isGone: boolean
}

/** How this node stands with the database, as of the last renewal of its lease. */
export interface NodeStatus {
  /** Why the lease could not be renewed: the database accepts no write. */
  readonly problem: unknown
  /** The clock of this machine minus that of the database, less what the comparison may be wrong. */
  readonly clockSkewMs: number
  /** Whether that is more than it should be. */
  readonly isClockWrong: boolean
}

/**
 * Stores nodes. A node has a lease, by the clock of the database, so that the clocks of nodes may
 * differ. Its runs are its own until it is gone; another node declares it gone only after its lease
 * has ended.
 */
export interface NodeStore {
  /** Adds the node with a lease. */
  add(node: Node, leaseMs: number): Promise<void>
  /** Renews the lease. Returns false when the node is gone: its runs are no longer its own. */
  renew(id: string, leaseMs: number): Promise<boolean>
  /**
   * Replaces the claims of the node whose code has started, by run id. Returns false when the node
   * is gone.
   */
  saveBegun(id: string, fences: ReadonlyMap<string, number>): Promise<boolean>
  /** The time of the database's clock, in milliseconds. */
  readClock(): Promise<number>
  list(): Promise<readonly KnownNode[]>
  /** The process of the node has ended. */
  end(id: string): Promise<void>
  /** The same, unless its lease was renewed meanwhile. */
  endExpired(id: string): Promise<void>
}

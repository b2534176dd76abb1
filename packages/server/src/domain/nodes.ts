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
}

/**
 * Stores nodes. A node has a lease, by the clock of the database, so that the clocks of nodes may
 * differ. While a node is stored, its runs are its own; another node removes it only after its lease
 * has ended.
 */
export interface NodeStore {
  /** Adds the node with a lease. */
  add(node: Node, leaseMs: number): Promise<void>
  /** Renews the lease. Returns false when the node was removed: its runs are no longer its own. */
  renew(id: string, leaseMs: number): Promise<boolean>
  list(): Promise<readonly KnownNode[]>
  /** Removes the node. */
  remove(id: string): Promise<void>
  /** Removes the node, unless its lease was renewed meanwhile. Returns whether it was removed. */
  removeExpired(id: string): Promise<boolean>
}

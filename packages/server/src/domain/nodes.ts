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

/** A node and when it last said that it lives, by its own clock. */
export interface SeenNode extends Node {
  readonly seenAt: number
}

/** Where nodes are kept. */
export interface NodeStore {
  /** The node lives. */
  beat(node: Node, at: number): Promise<void>
  list(): Promise<readonly SeenNode[]>
  /** Removes the node, unless it has been heard of since then. */
  remove(id: string, seenAt?: number): Promise<void>
}

import type { NodeState } from "@hamlet/contract"
import type { Page, PageRequest } from "@hamlet/database/page"

/** How long a lease lasts. Other nodes take the runs of a dead node as soon as its lease has ended. */
export const nodeLeaseMs = 10_000

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
  /** How long its lease still lasts, by the clock of the database; negative when it has ended. */
  readonly leaseLeftMs: number
  /** Its runs are being taken from it. */
  readonly isGone: boolean
}

/** What a node tells about itself whenever it renews its lease. */
export interface NodeReport extends NodeLoad {
  readonly version: string
  /** Where it listens: nodes of one machine have the same host. Absent in older reports. */
  readonly address?: string
  /** The schema of the database when it started. */
  readonly schemaVersion: number
  readonly isolation: string
  /** Not the time of its start, which its clock may have wrong. */
  readonly uptimeMs: number
  readonly isStopping: boolean
  readonly clockSkewMs: number
  readonly isClockWrong: boolean
}

/** What a node has to do, and with what. */
export interface NodeLoad {
  readonly runs: number
  /** Runs that wait for a slot. */
  readonly waitingRuns: number
  /** Processes of vals, those of the pool included. */
  readonly processes: number
  /** The load average of the machine in the last minute: how many CPUs were wanted. */
  readonly cpuLoad: number
  readonly cpus: number
  /** The memory of the server itself. */
  readonly memoryBytes: number
  readonly valMemoryBytes: number
  readonly valMemoryBytesMax: number
}

/** A node in the list of all nodes. */
export interface ListedNode extends KnownNode {
  /** When it last renewed its lease, by the clock of the database. */
  readonly seenAt: number
  /** Null for a node of release 0.2 or older. */
  readonly report: NodeReport | null
}

/** What becomes of a node: one that is silent for too long is gone, and its runs are taken. */
export function toNodeState({ isGone, leaseLeftMs, report }: ListedNode): NodeState {
  if (isGone) return "gone"
  if (leaseLeftMs < 0) return "silent"
  return report?.isStopping ? "stopping" : "active"
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

/** Another server that nodes need beside their database. */
export interface Service {
  /** The name of the service in metrics and in the log. */
  readonly name: "bucket" | "libsql"
  /** What does not work while it is away, as the beginning of a sentence. */
  readonly use: string
}

/** How a service responded to the last probe. */
export interface ServiceStatus {
  readonly service: Service
  /** Why it cannot be used, without addresses and keys; undefined while it can. */
  readonly problem: string | undefined
}

/**
 * Stores nodes. A node has a lease, by the clock of the database, so that the clocks of nodes may
 * differ. Its runs are its own until it is gone; another node declares it gone only after its lease
 * has ended.
 */
export interface NodeStore {
  /** Adds the node with a lease. */
  add(node: Node, leaseMs: number, report?: NodeReport): Promise<void>
  /** Renews the lease. Returns false when the node is gone: its runs are no longer its own. */
  renew(id: string, leaseMs: number, report?: NodeReport): Promise<boolean>
  /**
   * Replaces the claims of the node whose code has started, by run id. Returns false when the node
   * is gone.
   */
  saveBegun(id: string, fences: ReadonlyMap<string, number>): Promise<boolean>
  /** The time of the database's clock, in milliseconds. */
  readClock(): Promise<number>
  list(): Promise<readonly KnownNode[]>
  /** With their reports, newest first. */
  listPage(page: PageRequest): Promise<Page<ListedNode>>
  /** The process of the node has ended. */
  end(id: string): Promise<void>
  /** Ends the node, unless its lease was renewed meanwhile. */
  endExpired(id: string): Promise<void>
}

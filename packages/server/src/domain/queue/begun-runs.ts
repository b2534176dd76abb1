import type { NodeStore } from "../nodes.ts"
import type { Fenced } from "./queue-store.ts"
import type { BegunRuns } from "./run-claimed.ts"

export interface BegunRunsDeps {
  readonly nodeId: string
  readonly nodes: Pick<NodeStore, "saveBegun">
  /** The delay before the next attempt when the database is unavailable. */
  readonly retryMs: number
}

/**
 * Writes the list of started runs of this node. Runs that start while it is being written share the
 * next write. Runs that have ended leave the list with the next write: their rows say that they have
 * ended.
 */
export function createBegunRuns({ nodeId, nodes, retryMs }: BegunRunsDeps): BegunRuns {
  const fences = new Map<string, number>()
  let waiting: PromiseWithResolvers<void>[] = []
  let isWriting = false

  async function write(): Promise<void> {
    isWriting = true
    while (waiting.length > 0) {
      const batch = waiting
      waiting = []
      try {
        const isSaved = await nodes.saveBegun(nodeId, fences)
        for (const { resolve, reject } of batch)
          if (isSaved) resolve()
          else reject(new Error("This node is gone: its runs were taken from it"))
      } catch {
        // Whether it was written is unknown, so the runs go on waiting. Others report the outage.
        waiting = [...batch, ...waiting]
        await Bun.sleep(retryMs)
      }
    }
    isWriting = false
  }

  return {
    note({ id, fence }: Fenced) {
      fences.set(id, fence)
      const noted = Promise.withResolvers<void>()
      waiting.push(noted)
      // In the next turn of the event loop, together with other runs.
      if (!isWriting) {
        isWriting = true
        setImmediate(() => void write())
      }
      return noted.promise
    },
    forget: (id) => void fences.delete(id),
  }
}

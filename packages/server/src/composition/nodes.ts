import { availableParallelism, hostname, loadavg } from "node:os"
import { readResidentBytes, toRetryDelay } from "@hamlet/kit"
import {
  createLibsqlRegistry,
  createLibsqlServer,
  type LibsqlOptions,
  registryNamespace,
} from "@hamlet/owner-databases"
import { identityOf, isAlive, type Runner, type RunnerStatus } from "@hamlet/sandbox"
import type { NodeLoad, ServiceStatus } from "../domain/nodes.ts"
import { workBackoff } from "../domain/queue/work-backoff.ts"
import type { ApiParts } from "../http/nouns.ts"
import { NodeWatch } from "../jobs/node-watch.ts"
import type { QueueWorker } from "../jobs/queue-worker.ts"
import { ServiceWatch, type WatchedService } from "../jobs/service-watch.ts"
import { createBucketContent, probeBucket } from "../storage/blobs/s3-objects.ts"
import type { Foundation } from "./foundation.ts"
import type { Stores } from "./stores.ts"

interface NodeParts {
  readonly api: Pick<ApiParts, "version" | "isStopping">
  readonly runner: Pick<Runner, "status">
  readonly queue: QueueWorker
  /** What works on claims of this node, beside the queue. */
  readonly workers: readonly { loseAll(): void }[]
  readonly budgets: { setNodeCount(count: number): void }
}

/** Creates the watch over this node and the others. */
export function createNodeWatch(
  foundation: Foundation,
  stores: Stores,
  { api, runner, queue, workers, budgets }: NodeParts,
): NodeWatch {
  const { config, log, schema, schemaVersion, nodeId, now, onErrorOf } = foundation
  return new NodeWatch({
    node: {
      id: nodeId,
      host: hostname(),
      pid: process.pid,
      pidStarted: identityOf(process.pid) ?? "",
    },
    nodes: stores.nodes,
    tokens: stores.tokens,
    queueStore: stores.queue,
    now,
    report() {
      const status = runner.status()
      return {
        version: api.version,
        address: `${config.host}:${config.port}`,
        schemaVersion,
        isolation: status.isolation,
        uptimeMs: Math.round(process.uptime() * 1000),
        isStopping: api.isStopping(),
        ...toLoad(status),
      }
    },
    hasEnded: ({ pidStarted }) => !isAlive(pidStarted),
    checkSchema: schema.check,
    delayOf: (attempt) => toRetryDelay(workBackoff, attempt),
    onLost() {
      log.warn("lease_lost", { node: nodeId })
      for (const worker of [queue, ...workers]) worker.loseAll()
    },
    onNodes: (count) => budgets.setNodeCount(count),
    onClock: ({ clockSkewMs, isClockWrong }) =>
      log[isClockWrong ? "warn" : "info"](isClockWrong ? "clock_skew" : "clock_in_step", {
        seconds: clockSkewMs / 1000,
      }),
    onError: onErrorOf("node watch"),
    onTakeover(taken) {
      const { requeued, retried, crashed } = taken
      if (requeued + retried + crashed > 0)
        log.warn("takeover", { node: nodeId, requeued, retried, crashed })
      queue.noteTakeover(taken)
    },
  })
}

function toLoad(status: RunnerStatus): NodeLoad {
  const [cpuLoad = 0] = loadavg()
  return {
    runs: status.runs,
    waitingRuns: status.waiting,
    processes: status.processes,
    cpuLoad,
    cpus: availableParallelism(),
    memoryBytes: readResidentBytes() ?? 0,
    valMemoryBytes: status.memoryBytes,
    valMemoryBytesMax: status.memoryBytesMax,
  }
}

/** No user has it. */
const unusedId = "hamlet-probe"

/** Creates the watch over the bucket and the libSQL server, as far as there are such. */
export function createServiceWatch({ config, log, onErrorOf }: Foundation): ServiceWatch {
  const { storage, libsql } = config
  const services: WatchedService[] = []
  if (storage.s3) {
    const content = createBucketContent(storage.s3, storage.blobBytesMax)
    services.push({ name: "bucket", use: "Large blobs", probe: () => probeBucket(content) })
  }
  if (libsql)
    services.push({ name: "libsql", use: "Databases of users", probe: createLibsqlProbe(libsql) })
  const onChange = ({ service: { name }, problem }: ServiceStatus) =>
    problem === undefined
      ? log.info("service_available", { service: name })
      : log.warn("service_unavailable", { service: name, problem })
  return new ServiceWatch(services, onChange, onErrorOf("services"))
}

/**
 * Uses both keys. The server tells that a namespace is missing before it looks at the key: so one is
 * read that exists, and that the first probe creates.
 */
function createLibsqlProbe(options: LibsqlOptions): WatchedService["probe"] {
  const server = createLibsqlServer(options)
  const registry = createLibsqlRegistry(server)
  return async () => {
    await registry.listOf(unusedId)
    await server.hasNamespace(registryNamespace)
  }
}

import type { ServiceStatus } from "../domain/services.ts"
import { ServiceWatch, type WatchedService } from "../jobs/service-watch.ts"
import { createLibsqlRegistry, registryNamespace } from "../shared/libsql/libsql-registry.ts"
import { createLibsqlServer, type LibsqlOptions } from "../shared/libsql/libsql-server.ts"
import { createBucketContent, probeBucket } from "../storage/blobs/s3-objects.ts"
import type { Foundation } from "./foundation.ts"

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

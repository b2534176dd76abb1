/** Another server that a node needs beside its database. */
export interface Service {
  /** As metrics and the log name it. */
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

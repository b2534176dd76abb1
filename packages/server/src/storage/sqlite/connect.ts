import { SqliteConnection } from "./connection.ts"
import { fromSqliteError } from "./errors.ts"

export interface ConnectLimits {
  /** Statements that each connection keeps prepared. */
  readonly preparedMax: number
  /** How long opening waits for another process. */
  readonly openMsMax: number
}

/** Opens a connection that reads, or one that writes. */
export function connect(
  path: string,
  limits: ConnectLimits,
  isReadonly: boolean,
): SqliteConnection {
  let connection: SqliteConnection | undefined
  try {
    connection = new SqliteConnection(path, { isReadonly, preparedMax: limits.preparedMax })
    for (const pragma of isReadonly ? readingPragmas(limits) : writingPragmas(limits))
      connection.command(`pragma ${pragma}`)
    return connection
  } catch (error) {
    connection?.stop()
    throw fromSqliteError(error)
  }
}

// No mmap: it measured no faster, and with it a failing disk would be a signal that ends the
// process instead of an error.
function writingPragmas(limits: ConnectLimits): readonly string[] {
  return [
    `busy_timeout = ${limits.openMsMax}`,
    "journal_mode = wal",
    // An acknowledged write must survive a power cut. On macOS only a full fsync reaches the disk.
    "synchronous = full",
    "fullfsync = on",
    "foreign_keys = on",
    "cache_size = -16384",
    // Four times as rarely as by default: most pages of a busy moment are written again before they
    // are copied.
    "wal_autocheckpoint = 4000",
    "journal_size_limit = 67108864",
    "temp_store = memory",
    // The writer waits for other processes itself, without stopping the event loop.
    "busy_timeout = 0",
  ]
}

// A reader meets a lock only for an instant, while another process opens or closes the file.
function readingPragmas(limits: ConnectLimits): readonly string[] {
  return [
    `busy_timeout = ${limits.openMsMax}`,
    "query_only = on",
    "cache_size = -32768",
    "temp_store = memory",
  ]
}

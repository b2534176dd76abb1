import { createLibsqlServer, LibsqlUnavailable, registryNamespace } from "@hamlet/owner-databases"
import type { Config } from "../../../config/config.ts"
import { about, type Findings, toReason } from "../../finding.ts"

const check = about("databases of users")

/** A name that no database has. */
const unused = "hamlet-doctor"

/** Whether the libSQL server can be reached, keeps databases apart and accepts both keys. */
export async function checkLibsql({
  libsql,
  databaseUrl,
  storage,
}: Pick<Config, "libsql" | "databaseUrl" | "storage">): Promise<Findings> {
  if (!libsql) return checkFiles(databaseUrl !== undefined, storage.isDataDirShared)
  const { host } = new URL(libsql.url)
  const server = createLibsqlServer(libsql)
  try {
    const rows = await server.execute(unused, [{ sql: "select 1" }])
    if (rows)
      return check.failure(
        `the libSQL server ${host} has one database for all`,
        "start it with --enable-namespaces",
      )
  } catch (error) {
    return toFailure(error, host, "HAMLET_LIBSQL_URL", "HAMLET_LIBSQL_KEY")
  }
  const place = `admin API, ${new URL(libsql.adminUrl).host}`
  let isUsed: boolean
  try {
    isUsed = await server.hasNamespace(registryNamespace)
  } catch (error) {
    return toFailure(error, place, "HAMLET_LIBSQL_ADMIN_URL", "HAMLET_LIBSQL_ADMIN_KEY")
  }
  // The server tells that a namespace is missing before it looks at the key.
  if (!isUsed)
    return check.warning(
      `the libSQL server ${host} has no databases yet, so that HAMLET_LIBSQL_KEY could not be tried`,
      "start a node, which creates the first one and warns if the key is wrong",
    )
  try {
    await server.execute(registryNamespace, [{ sql: "select 1" }])
    return check.fine(`on the libSQL server ${host}, which accepts both keys`)
  } catch (error) {
    return toFailure(error, host, "HAMLET_LIBSQL_URL", "HAMLET_LIBSQL_KEY")
  }
}

function toFailure(error: unknown, place: string, url: string, key: string): Findings {
  if (!(error instanceof LibsqlUnavailable)) throw error
  const mend = error.message.includes("key")
    ? `correct ${key}`
    : `correct ${url}, or start the server`
  return check.failure(`${toReason(error)} (${place})`, mend)
}

function checkFiles(isOnPostgres: boolean, isShared: boolean): Findings {
  const found = "none: set HAMLET_LIBSQL_URL, or HAMLET_DATA_DIR_SHARED=yes if all nodes have one"
  return check.fine(isOnPostgres && !isShared ? found : "files in the data folder")
}

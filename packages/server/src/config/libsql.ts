import { type ReadSetting, readTable, refuse, text } from "./setting.ts"

const address = {
  accept: toAddress,
  reason: "it must be an http or https address without a user, a query or a fragment",
  // One with a user has a password too.
  isSecret: true,
}

/** The message does not repeat it. */
const key = {
  accept: /^[\x21-\x7e]{1,4000}$/,
  reason: "it must be up to 4000 visible ASCII characters without spaces",
  isSecret: true,
}

/** The libSQL server of users' databases. */
export const libsqlSettings = {
  url: text({
    env: "HAMLET_LIBSQL_URL",
    ...address,
    meaning:
      "Address of a libSQL server (`sqld` with `--enable-namespaces`) for the SQLite databases of users and vals, which all nodes share. Empty: they are files in the data folder. See docs/sqlite.md.",
  }),
  key: text({
    env: "HAMLET_LIBSQL_KEY",
    ...key,
    meaning: "Token (JWT) that the libSQL server asks for. Empty: it asks for none.",
  }),
  adminUrl: text({
    env: "HAMLET_LIBSQL_ADMIN_URL",
    ...address,
    meaning:
      "Address of the admin API of the libSQL server (`--admin-listen-addr`), which creates and deletes databases.",
  }),
  adminKey: text({
    env: "HAMLET_LIBSQL_ADMIN_KEY",
    ...key,
    meaning: "Key of the admin API (`--admin-auth-key`). Empty: it asks for none.",
  }),
}

/** Undefined if there is no libSQL server. */
export function loadLibsqlConfig(read: ReadSetting) {
  const { url, adminUrl, ...keys } = readTable(libsqlSettings, read)
  if (url !== undefined && adminUrl !== undefined) return { url, adminUrl, ...keys }
  if (url !== undefined) refuse("HAMLET_LIBSQL_URL", url, "HAMLET_LIBSQL_ADMIN_URL must be set too")
  if (adminUrl !== undefined)
    refuse("HAMLET_LIBSQL_ADMIN_URL", adminUrl, "HAMLET_LIBSQL_URL must be set too")
  const { env } = keys.key === undefined ? libsqlSettings.adminKey : libsqlSettings.key
  if (keys.key !== undefined || keys.adminKey !== undefined)
    refuse(env, "…", "HAMLET_LIBSQL_URL must be set too")
  return undefined
}

function toAddress(value: string): string | undefined {
  const url = URL.parse(value)
  const isPlain = url && !url.username && !url.password && !url.search && !url.hash
  return isPlain && /^https?:$/.test(url.protocol) ? url.href : undefined
}

import { statSync } from "node:fs"
import { join } from "node:path"
import { findTooOld, readClock, selectIncompatible } from "@hamlet/database"
import type { Config } from "../../config/config.ts"
import { createCipher, findMissingKey, keyCheckName } from "../../domain/secrets/cipher.ts"
import { readKeyFile } from "../../storage/accounts/key-file.ts"
import { migrations } from "../../storage/migrations/index.ts"
import { type DatabaseView, hasTable } from "../database-view.ts"
import { about, type Findings, toReason } from "../finding.ts"
import { doctorLimits as limits } from "../limits.ts"
import { lookAtPostgres } from "../postgres-view.ts"
import { lookAtSqlite } from "../sqlite-view.ts"
import { checkFiles } from "./check-files.ts"
import { checkOutboxes } from "./check-outboxes.ts"

/**
 * Checks the database, its schema, whether the encryption key fits, what waits to be sent, and whether
 * the files of vals fit together.
 */
export async function checkDatabase(config: Config): Promise<Findings> {
  const { findings, view } = config.databaseUrl
    ? await lookAtPostgres(config.databaseUrl, config.databaseConnectionsMax)
    : lookAtSqlite(join(config.dataDir, "hamlet.db"))
  if (!view) return findings
  try {
    return [
      ...findings,
      ...(await checkSchema(view)),
      ...(await checkKey(config, view)),
      ...(await checkDatabaseClock(view)),
      ...(await checkOutboxes(view)),
      ...(await checkFiles(view)),
    ]
  } finally {
    await view.stop()
  }
}

async function checkSchema(view: DatabaseView): Promise<Findings> {
  const known = migrations.at(-1)?.version ?? 0
  const [applied] = (await hasTable(view, "schema_migrations"))
    ? await view.read<{ version: number }>`
      select version from schema_migrations order by version desc limit 1`
    : []
  if (!applied) return about("schema").fine("empty; the first start makes the tables")
  const newest = applied.version
  const tooOld = findTooOld(newest, migrations)
  if (tooOld !== undefined)
    return about("schema").failure(
      tooOld.problem,
      `start Hamlet ${tooOld.release} on it once, then this version`,
    )
  if (newest > known) {
    const found = `${newest}, written by a newer version of Hamlet; this one knows up to ${known}`
    const [incompatible] = (await hasTable(view, "schema_compatibility"))
      ? await view.read(selectIncompatible(known))
      : [applied]
    return incompatible
      ? about("schema").failure(found, "use that version of Hamlet")
      : about("schema").fine(`${found} and works with it`)
  }
  if (newest < known) return about("schema").fine(`${newest}; the next start brings it to ${known}`)
  return about("schema").fine(`${newest}, the newest that this version knows`)
}

async function checkKey(config: Config, view: DatabaseView): Promise<Findings> {
  const check = about("secret key")
  const place = config.secretKeys ? "HAMLET_SECRET_KEY" : `"${join(config.dataDir, "secret.key")}"`
  const isThere = await hasTable(view, "settings")
  const [kept] = isThere
    ? await view.read<{ value: string }>`
      select value from settings where name = ${keyCheckName}`
    : []
  let keys: readonly Uint8Array[]
  try {
    keys = config.secretKeys ?? readKeyFile(config.dataDir)
  } catch (error) {
    if (!kept) return check.fine("there is none yet; the first start makes one")
    return check.failure(toReason(error), "put the key file back that belongs to this database")
  }
  const cipher = createCipher(keys)
  const missing = kept ? findMissingKey(cipher, kept.value) : undefined
  if (missing !== undefined)
    return check.failure(
      `the secrets in the database are encrypted with key ${missing}, which is not in ${place}`,
      "put the key file back that belongs to this database, or set HAMLET_SECRET_KEY",
    )
  const lost = kept ? await findLostSecrets(view, keys) : undefined
  if (lost !== undefined)
    return check.failure(
      `${lost}, which is not in ${place}`,
      "add the key that they need, after the newest one",
    )
  if (!config.secretKeys && (statSync(join(config.dataDir, "secret.key")).mode & 0o077) !== 0)
    return check.warning(
      `others can read ${place}`,
      `"chmod 600 ${join(config.dataDir, "secret.key")}"`,
    )
  return check.fine(`${cipher.keyId}, in ${place}${kept ? ", opens what is in the database" : ""}`)
}

/** Secrets whose key was removed too early: the server starts, but vals that need them fail. */
async function findLostSecrets(
  view: DatabaseView,
  keys: readonly Uint8Array[],
): Promise<string | undefined> {
  const ids = keys.map((key) => createCipher([key]).keyId)
  const groups = await view.read<{ keyId: string; count: number }>`
    select key_id, count(*) as count from secrets group by key_id`
  const lost = groups.find(({ keyId }) => !ids.includes(keyId))
  return lost && `${lost.count} of the secrets are encrypted with key ${lost.keyId}`
}

/** Nodes trust the times that other nodes write. */
async function checkDatabaseClock(view: DatabaseView): Promise<Findings> {
  if (!view.hasOwnClock) return []
  const before = Date.now()
  const there = await readClock(view)
  const skewMs = Math.round(there - (before + Date.now()) / 2)
  const found = `${Math.abs(skewMs)} ms ${skewMs < 0 ? "behind" : "ahead of"} this machine's`
  if (Math.abs(skewMs) > limits.skewMsMax)
    return about("database clock").warning(found, "set both by NTP (systemd-timesyncd, chrony)")
  return about("database clock").fine(found)
}

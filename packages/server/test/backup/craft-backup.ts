import { createHash } from "node:crypto"
import { type BackupHeader, backupMark, frameKinds, toHeadBytes } from "@hamlet/contract/backup"
import { toPayload } from "../../src/storage/backup/format/payload.ts"
import { migrations } from "../../src/storage/migrations/index.ts"

export const newest = migrations.at(-1)?.version ?? 0
export const userColumns =
  "id username username_key email bio profile_image_url tier created_at secrets_version blob_bytes blob_count suspended_at deleted_at purge_at quotas email_verified_at muted_notifications kind".split(
    " ",
  )
const userValues: Readonly<Record<string, unknown>> = {
  created_at: 1,
  secrets_version: 0,
  blob_bytes: 0,
  blob_count: 0,
  kind: "user",
}
export const user = (id: string): unknown[] => {
  const values = { ...userValues, id, username: `u${id}`, username_key: `u${id}` }
  return userColumns.map((column) => values[column as keyof typeof values] ?? null)
}
export const userId = "01a1dee7-3ec6-710b-93c4-49c53c1f360d"

/** A section that only a test would write. */
export interface BackupSection {
  readonly name: string
  readonly columns?: readonly string[]
  readonly frames: readonly {
    readonly items?: number
    readonly json: unknown
    readonly bytes?: readonly Uint8Array[]
  }[]
}

export function users(rows: readonly unknown[]): BackupSection {
  return { name: "users", columns: userColumns, frames: [{ items: rows.length, json: rows }] }
}

export function owners(id: string): BackupSection {
  return {
    name: "owner_databases",
    frames: [{ json: { id, at: 0 }, bytes: [Buffer.from("SQLite format 3\0")] }],
  }
}

/**
 * A file with these sections whose hashes are right; each frame says that it unpacks to so many
 * bytes.
 */
export function craftBackup(
  parts: readonly BackupSection[],
  schemaVersion = newest,
  rawBytes?: number,
): Uint8Array {
  const header: BackupHeader = {
    format: 1,
    schemaVersion,
    serverVersion: "9.9.9",
    createdAt: "2026-01-01T00:00:00.000Z",
    items: 0,
    sections: parts.map(({ name, columns }) => ({ name, items: 0, columns })),
    migrations: [],
  }
  const data = parts.map(({ frames }, section) =>
    frames.map(({ items = 0, json, bytes = [] }) => {
      const raw = toPayload(json, bytes)
      const stored = Bun.zstdCompressSync(raw)
      const head = {
        kind: frameKinds.data,
        section,
        items,
        storedBytes: stored.length,
        rawBytes: rawBytes ?? raw.length,
      }
      return Buffer.concat([toHeadBytes(head), stored])
    }),
  )
  const sections = parts.map(({ name, frames }, index) => ({
    name,
    items: frames.reduce((sum, { items = 0 }) => sum + items, 0),
    frames: frames.length,
    bytes: Buffer.concat(data[index] ?? []).length,
    sha256: sha256(data[index] ?? []).toString("hex"),
  }))
  const trailer = {
    items: sections.reduce((sum, { items }) => sum + items, 0),
    sections,
    missing: [],
  }
  const all = [
    Buffer.from(backupMark),
    toJsonFrame(frameKinds.header, header),
    ...data.flat(),
    toJsonFrame(frameKinds.trailer, trailer),
  ]
  return Buffer.concat([...all, sha256(all)])
}

function toJsonFrame(kind: number, value: unknown): Buffer {
  const json = Buffer.from(JSON.stringify(value))
  return Buffer.concat([
    toHeadBytes({ kind, section: 0, items: 0, storedBytes: json.length, rawBytes: json.length }),
    json,
  ])
}

function sha256(parts: readonly Uint8Array[]): Buffer {
  return createHash("sha256").update(Buffer.concat(parts)).digest()
}

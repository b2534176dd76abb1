import { closeSync, fsyncSync, mkdirSync, openSync, writeSync } from "node:fs"
import { join } from "node:path"
import { BackupDamaged } from "@hamlet/contract/backup"
import { type ContentStore, chunkBytes } from "../../blobs/object-chunks.ts"
import type { LoadConnection } from "../databases/backup-database.ts"
import type { Frame } from "../format/frame-reader.ts"
import { idPattern } from "../format/row-values.ts"

/** Loads the frames of one section. */
export interface ContentLoader {
  add(frame: Frame): Promise<void>
  /** After the last piece. */
  end(): Promise<void>
}

/** Receives the bytes of one object. */
interface Sink {
  write(piece: Uint8Array): Promise<void>
  end(): Promise<void>
}

interface Head {
  readonly id: string
  readonly at: number
  readonly ownerId: string
  readonly size: number
  readonly isMissing: boolean
}

/** Loads objects into chunks in the database. They keep their ids. */
export function createChunkLoader(connection: LoadConnection): ContentLoader {
  return createObjectLoader(connection, "database", (id) => {
    let number = 0
    let rest = Buffer.alloc(0)
    const flush = async (bytesMin: number) => {
      for (; rest.length >= bytesMin && rest.length > 0; rest = rest.subarray(chunkBytes))
        await connection.insert(
          "object_chunks",
          ["object_id", "number", "content"],
          [[id, number++, rest.subarray(0, chunkBytes)]],
        )
    }
    return {
      write(piece) {
        rest = rest.length === 0 ? Buffer.from(piece) : Buffer.concat([rest, piece])
        return flush(chunkBytes)
      },
      end: () => flush(1),
    }
  })
}

/**
 * Loads objects into a bucket. They get new ids: the original server may use the same bucket, and
 * neither server may delete objects of the other.
 */
export function createBucketLoader(
  connection: LoadConnection,
  bucket: ContentStore,
  ids: Map<string, string>,
): ContentLoader {
  return createObjectLoader(
    connection,
    "s3",
    (id) => {
      const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
      const writer = writable.getWriter()
      const writing = bucket.write(id, readable as unknown as AsyncIterable<Uint8Array>)
      // Thrown when the next piece is written, or at the end.
      writing.catch(() => {})
      return {
        async write(piece) {
          await Promise.race([writer.write(piece), writing])
        },
        async end() {
          await Promise.race([writer.close(), writing])
          await writing
        },
      }
    },
    (id) => {
      const other = Bun.randomUUIDv7()
      ids.set(id, other)
      return other
    },
  )
}

function createObjectLoader(
  connection: LoadConnection,
  place: "database" | "s3",
  open: (id: string) => Sink,
  toId: (id: string) => string = (id) => id,
): ContentLoader {
  let current: { readonly head: Head; readonly sink: Sink; bytes: number } | undefined
  const finish = async () => {
    if (current && current.bytes !== current.head.size)
      throw new BackupDamaged("it contains an object with a wrong size")
    await current?.sink.end()
    current = undefined
  }
  return {
    async add({ json, bytes }) {
      const head = toHead(json)
      if (current?.head.id !== head.id) {
        await finish()
        const id = toId(head.id)
        await connection.insert(
          "objects",
          ["id", "owner_id", "place", "size"],
          [[id, head.ownerId, place, head.size]],
        )
        if (head.isMissing) return
        current = { head, sink: open(id), bytes: 0 }
      }
      if (head.at !== current.bytes)
        throw new BackupDamaged("it contains an object whose parts are out of order")
      current.bytes += bytes.length
      await current.sink.write(bytes)
    },
    end: finish,
  }
}

/**
 * Loads the databases of users and vals into files of a folder. A file name is always the id of a
 * restored user or val, never another text of the backup.
 */
export function createOwnerDatabaseLoader(
  connection: LoadConnection,
  folder: string,
): ContentLoader & { readonly count: number } {
  let current: { readonly id: string; readonly file: number; bytes: number } | undefined
  let count = 0
  const finish = () => {
    if (!current) return
    fsyncSync(current.file)
    closeSync(current.file)
    current = undefined
  }
  return {
    get count() {
      return count
    },
    async add({ json, bytes }) {
      const { id, at } = toHead(json)
      if (current?.id !== id) {
        finish()
        const [owner] = await connection.run<{ folder: string | null }>`
          select null as folder from users where id = ${id} union all select owner_id as folder from vals where id = ${id}`
        if (!owner)
          throw new BackupDamaged("it contains the database of a user or a val that is not in it")
        const inner = owner.folder === null ? folder : join(folder, owner.folder)
        mkdirSync(inner, { recursive: true, mode: 0o700 })
        // Fails if the file exists: the pieces of a database must be consecutive.
        current = { id, file: openSync(join(inner, `${id}.db`), "wx", 0o600), bytes: 0 }
        count += 1
      }
      if (at !== current.bytes)
        throw new BackupDamaged("it contains a database whose parts are out of order")
      for (let sent = 0; sent < bytes.length; ) sent += writeSync(current.file, bytes, sent)
      current.bytes += bytes.length
    },
    end: async () => finish(),
  }
}

function toHead(json: unknown): Head {
  const {
    id,
    at = 0,
    ownerId = "",
    size = 0,
    isMissing = false,
  } = Object(json) as Record<string, unknown>
  const isValid =
    typeof id === "string" &&
    idPattern.test(id) &&
    Number.isSafeInteger(at) &&
    typeof ownerId === "string" &&
    Number.isSafeInteger(size)
  if (!isValid) throw new BackupDamaged("it contains content with an invalid head")
  return { id, at: Number(at), ownerId, size: Number(size), isMissing: isMissing === true }
}

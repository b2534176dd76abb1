import { type Database, rows, sql } from "@hamlet/database"
import { AppError } from "../../domain/app-error.ts"

/** Stores the bytes of objects. The list of objects is always in the database. */
export interface ContentStore {
  write(id: string, pieces: AsyncIterable<Uint8Array>): Promise<void>
  read(id: string, start: number, end: number): AsyncGenerator<Uint8Array, void>
  /** Deletes a part of the content; false when nothing is left. */
  remove(id: string): Promise<boolean>
}

/** Part of the stored format: reads rely on it, so it must not change. */
export const chunkBytes = 262_144

const limits = {
  /** Chunks deleted at a time: few enough that other writes do not wait long. */
  chunksMax: 16,
}

/**
 * Content in the database, in chunks. Each is written and read by a statement of its own, so that
 * other requests do not wait for a large object.
 */
export function createChunkContent(db: Database): ContentStore {
  return {
    async write(id, pieces) {
      let number = 0
      for await (const chunk of inParts(pieces, chunkBytes)) {
        const at = number++
        await db.run`
        insert into object_chunks (object_id, number, content) values (${id}, ${at}, ${chunk})`
      }
    },
    async *read(id, start, end) {
      for (let at = start; at < end; ) {
        const number = Math.floor(at / chunkBytes)
        const row = await db.first<{ content: Uint8Array }>`
          select content from object_chunks where object_id = ${id} and number = ${number}`
        if (!row)
          throw new AppError(
            "storage_unavailable",
            "Cannot read the rest of the blob: it was replaced or deleted",
          )
        const from = number * chunkBytes
        yield row.content.subarray(at - from, Math.min(end - from, row.content.length))
        at = from + chunkBytes
      }
    },
    remove: (id) =>
      db.write(function* () {
        const chunks = yield* rows<{ number: number }>`
          select number from object_chunks where object_id = ${id} order by number limit ${limits.chunksMax}`
        const last = chunks.at(-1)
        if (last)
          yield sql`delete from object_chunks where object_id = ${id} and number <= ${last.number}`
        return chunks.length === limits.chunksMax
      }),
  }
}

/** The bytes of the pieces in parts of equal length, except for the last one. */
async function* inParts(
  pieces: AsyncIterable<Uint8Array>,
  bytes: number,
): AsyncGenerator<Uint8Array, void> {
  let chunk = new Uint8Array(bytes)
  let filled = 0
  for await (const piece of pieces) {
    for (let from = 0; from < piece.length; ) {
      const part = piece.subarray(from, from + bytes - filled)
      chunk.set(part, filled)
      filled += part.length
      from += part.length
      if (filled < bytes) continue
      yield chunk
      chunk = new Uint8Array(bytes)
      filled = 0
    }
  }
  if (filled > 0) yield chunk.subarray(0, filled)
}

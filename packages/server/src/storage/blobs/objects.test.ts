import { beforeEach, expect, test } from "bun:test"
import { type Database, sql } from "@hamlet/database"
import fc from "fast-check"
import { describeEachDatabase } from "../../../test/support/databases.ts"
import type { NewObject, ObjectStore, StoredObject } from "../../domain/blobs/objects.ts"
import { createObjectStore } from "./objects.ts"

const chunkBytes = 262_144

describeEachDatabase("createObjectStore", (open) => {
  let db: Database
  let objects: ObjectStore
  let at: number
  const owner = Bun.randomUUIDv7()

  beforeEach(async () => {
    at = 1_000_000
    db = (await open()).db
    objects = createObjectStore(db, undefined, { newId: () => Bun.randomUUIDv7(), now: () => at })
  })

  /** Refers to the object as putBlob does, and then replaces it. */
  const name = (object: NewObject) =>
    change(
      sql`update objects set unused_since = null, size = ${object.size} where id = ${object.id}`,
    )
  const drop = (object: NewObject, since: number) =>
    change(
      sql`update objects set unused_since = ${since}, size = ${object.size} where id = ${object.id}`,
    )
  const change = (statement: ReturnType<typeof sql>) =>
    db.write(function* () {
      yield statement
    })
  const countOf = async (table: "objects" | "object_chunks") => {
    const counts = {
      objects: sql`select count(*) as count from objects`,
      object_chunks: sql`select count(*) as count from object_chunks`,
    }
    return Number((await db.read<{ count: unknown }>(counts[table]))[0]?.count)
  }
  const read = async (object: StoredObject, start: number, end: number) =>
    Buffer.concat(await Array.fromAsync(objects.read(object, start, end)))
  const purgeAll = async (before: number) => {
    while (await objects.purge(before));
  }

  test("write accepts pieces of any size, and read returns any part", async () => {
    const content = crypto.getRandomValues(new Uint8Array(65_536))
    const all = Buffer.concat(Array.from({ length: 11 }, () => content)).subarray(
      0,
      2 * chunkBytes + 77,
    )
    for (const pieceBytes of [10_000, chunkBytes, 300_000, 10_000_000]) {
      const object = await objects.write(owner, pieces(all, pieceBytes))
      expect(object).toMatchObject({ place: "database", size: all.length })
      const edges = fc.constantFrom(
        0,
        1,
        chunkBytes - 1,
        chunkBytes,
        chunkBytes + 1,
        2 * chunkBytes,
        all.length - 1,
        all.length,
      )
      const anywhere = fc.oneof(edges, fc.nat(all.length))
      await fc.assert(
        fc.asyncProperty(anywhere, anywhere, async (one, other) => {
          const [start, end] = [Math.min(one, other), Math.max(one, other)]
          expect((await read(object, start, end)).equals(all.subarray(start, end))).toBe(true)
        }),
        { numRuns: 10 },
      )
    }
  })

  test("write leaves nothing behind when the content is cut off", async () => {
    const broken = async function* () {
      yield new Uint8Array(chunkBytes + 1)
      throw new Error("gone")
    }
    await expect(objects.write(owner, broken())).rejects.toThrow("gone")
    expect([await countOf("objects"), await countOf("object_chunks")]).toEqual([0, 0])
  })

  test("purge deletes objects that have been unused long enough, and no others", async () => {
    const [used, fresh, old, unfinished] = [await add(3), await add(1), await add(40), await add(1)]
    await name(used)
    await drop(fresh, at)
    await drop(old, at - 10)
    await change(sql`update objects set unused_since = ${at - 10} where id = ${unfinished.id}`)
    await purgeAll(at)
    const left = await db.read<{ id: string }>(sql`select id from objects order by id`)
    expect(left.map(({ id }) => id).sort()).toEqual([used.id, fresh.id].sort())
    expect(await countOf("object_chunks")).toBe(4)
    expect((await read(fresh, 0, 10)).length).toBe(10)
    await purgeAll(at + 1)
    expect([await countOf("objects"), await countOf("object_chunks")]).toEqual([1, 3])
  })

  test("read continues with a replaced object, and fails when it is deleted", async () => {
    const object = await add(3)
    await name(object)
    const reading = objects.read(object, 0, object.size)
    await reading.next()
    await drop(object, at)
    await purgeAll(at)
    expect((await reading.next()).value?.length).toBe(chunkBytes)
    await purgeAll(at + 1)
    await expect(reading.next()).rejects.toMatchObject({ code: "storage_unavailable" })
  })

  test("write marks its object now and then, so that purge does not delete it", async () => {
    const slow = async function* () {
      for (let minute = 0; minute < 30; minute += 1) {
        yield new Uint8Array(chunkBytes)
        at += 61_000
        await purgeAll(at - 15 * 60_000)
      }
    }
    const object = await objects.write(owner, slow())
    expect((await read(object, 0, object.size)).length).toBe(30 * chunkBytes)
  })

  test("discard keeps an object that a blob refers to", async () => {
    const [used, unused] = [await add(2), await add(2)]
    await name(used)
    await objects.discard(used)
    await objects.discard(unused)
    expect([await countOf("objects"), await countOf("object_chunks")]).toEqual([1, 2])
  })

  test("purgeBeyond deletes the oldest unused objects of a user beyond the limit", async () => {
    const all = [await add(2), await add(2), await add(2), await add(2)]
    for (const [index, object] of all.entries()) await drop(object, at + index)
    const [used, writing, other] = [
      await add(2),
      await add(2),
      await objects.write(Bun.randomUUIDv7(), pieces(new Uint8Array(chunkBytes), chunkBytes)),
    ]
    await name(used)
    await drop(other, 1)
    await objects.purgeBeyond(owner, 5 * chunkBytes)
    const left = await db.read<{ id: string }>(sql`select id from objects`)
    const [, , third, fourth] = all
    expect(left.map(({ id }) => id).sort()).toEqual(
      [third?.id ?? "", fourth?.id ?? "", used.id, writing.id, other.id].sort(),
    )
    await objects.purgeBeyond(owner, 0)
    expect(await countOf("objects")).toBe(3)
  })

  const add = (chunks: number) =>
    objects.write(owner, pieces(new Uint8Array(chunks * chunkBytes), chunkBytes))
})

async function* pieces(all: Uint8Array, bytes: number): AsyncGenerator<Uint8Array> {
  for (let from = 0; from < all.length; from += bytes) yield all.subarray(from, from + bytes)
}

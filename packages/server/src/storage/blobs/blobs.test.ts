import { beforeEach, describe, expect, test } from "bun:test"
import { type Database, sql } from "@hamlet/database"
import { insertValRows } from "../../../test/support/data/insert-val-rows.ts"
import { describeEachDatabase, type OpenDatabase } from "../../../test/support/databases.ts"
import type { BlobStore } from "../../domain/blobs/blobs.ts"
import type { ObjectStore } from "../../domain/blobs/objects.ts"
import type { StorageHome } from "../../domain/storage-home.ts"
import { createBlobStore } from "./blobs.ts"
import { createObjectStore } from "./objects.ts"

const [ada, bob] = [Bun.randomUUIDv7(), Bun.randomUUIDv7()]
const vals = [Bun.randomUUIDv7(), Bun.randomUUIDv7()] as const

/** The blobs of two users, or of a val of each. */
const homes = {
  users: [{ ownerId: ada }, { ownerId: bob }],
  vals: [
    { ownerId: ada, valId: vals[0] },
    { ownerId: bob, valId: vals[1] },
  ],
} as const

for (const [kind, [adas, bobs]] of Object.entries(homes))
  describeEachDatabase(`createBlobStore, of ${kind}`, (open) => describeBlobs(open, adas, bobs))

function describeBlobs(open: OpenDatabase, adas: StorageHome, bobs: StorageHome): void {
  let db: Database
  let blobs: BlobStore
  let objects: ObjectStore

  beforeEach(async () => {
    db = (await open()).db
    blobs = createBlobStore(db)
    objects = createObjectStore(db, undefined, { newId: () => Bun.randomUUIDv7(), now: () => 1 })
    await db.write(function* () {
      for (const [id, name] of [
        [ada, "ada"],
        [bob, "bob"],
      ] as const)
        yield sql`insert into users (id, username, username_key, created_at) values (${id}, ${name}, ${name}, ${1})`
      yield* insertValRows({ id: vals[0], ownerId: ada, name: "a" })
      yield* insertValRows({ id: vals[1], ownerId: bob, name: "b" })
    })
  })

  const put = (key: string, content: string | Uint8Array, bytesMax = 1e9, at = 5, home = adas) =>
    blobs.put(
      { home, key, contentType: "x/y", content: Buffer.from(content as string), at },
      bytesMax,
    )
  const write = (size: number) =>
    objects.write(
      ada,
      (async function* () {
        yield new Uint8Array(size)
      })(),
    )
  const keysOf = async (prefix: string, more: { after?: string; limit?: number } = {}) =>
    (await blobs.list(adas, { prefix, limit: 100, ...more })).items.map(({ key }) => key)
  const usageOf = async (id: string) => {
    const [row] = await db.read<{ bytes: unknown; count: unknown }>(
      sql`select blob_bytes as bytes, blob_count as count from users where id = ${id}`,
    )
    return [Number(row?.bytes), Number(row?.count)]
  }
  const unusedOf = async () => {
    const rows = await db.read<{ size: unknown; unusedSince: unknown }>(
      sql`select size, unused_since from objects order by id`,
    )
    return rows.map(({ size, unusedSince: at }) => [
      size === null ? null : Number(size),
      at === null ? null : Number(at),
    ])
  }

  test("put stores a blob unchanged, and remove deletes it", async () => {
    const content = Uint8Array.from({ length: 256 }, (_, index) => index)
    expect(await put("a/é", content)).toBe(true)
    const found = await blobs.find(adas, "a/é")
    expect(found).toMatchObject({ key: "a/é", size: 256, contentType: "x/y", modifiedAt: 5 })
    expect(new Uint8Array(found?.content as Uint8Array)).toEqual(content)
    expect(await blobs.find(bobs, "a/é")).toBeUndefined()
    expect([
      await blobs.remove(bobs, "a/é", 6),
      await blobs.remove(adas, "a/é", 6),
      await blobs.remove(adas, "a/é", 6),
    ]).toEqual([false, true, false])
    expect(await blobs.find(adas, "a/é")).toBeUndefined()
  })

  test("put stores an empty blob, and one without a type", async () => {
    await put("empty", "")
    await blobs.put(
      { home: adas, key: "bare", contentType: null, content: new Uint8Array(1), at: 5 },
      1,
    )
    const empty = await blobs.find(adas, "empty")
    expect([empty?.size, empty?.content instanceof Uint8Array && empty.content.length]).toEqual([
      0, 0,
    ])
    expect((await blobs.find(adas, "bare"))?.contentType).toBeNull()
  })

  test("put and remove update the usage of a user", async () => {
    await put("a", "12345")
    await put("b", "123")
    expect(await usageOf(ada)).toEqual([8, 2])
    await put("a", "1")
    expect(await usageOf(ada)).toEqual([4, 2])
    await blobs.remove(adas, "b", 6)
    expect([await usageOf(ada), await usageOf(bob)]).toEqual([
      [1, 1],
      [0, 0],
    ])
  })

  test("put refuses to exceed the limit, but lets a user above it reduce their usage", async () => {
    expect(await put("a", "12345", 8)).toBe(true)
    expect([await put("b", "1234", 8), await put("b", "123", 8)]).toEqual([false, true])
    expect([await put("a", "123456", 8), await put("a", "12345", 8)]).toEqual([false, true])
    expect(await put("a", "1234", 2)).toBe(true)
    expect(await usageOf(ada)).toEqual([7, 2])
  })

  test("findRoom returns the largest size that a blob may have", async () => {
    expect(await blobs.findRoom(adas, "a", 10)).toBe(10)
    await put("a", "12345")
    // A user above the limit may replace a blob by one of the same size.
    expect([await blobs.findRoom(adas, "a", 3), await blobs.findRoom(adas, "b", 3)]).toEqual([5, 0])
    expect([
      await blobs.findRoom(adas, "a", 10),
      await blobs.findRoom(adas, "b", 10),
      await blobs.findRoom(bobs, "a", 10),
    ]).toEqual([10, 5, 10])
  })

  test("put refers to an unused object, and leaves the old one to be purged", async () => {
    const first = await write(70_000)
    expect(await unusedOf()).toEqual([[null, 1]])
    await blobs.put({ home: adas, key: "a", contentType: null, content: first, at: 7 }, 1e9)
    expect(await unusedOf()).toEqual([[70_000, null]])
    expect(await blobs.find(adas, "a")).toMatchObject({
      size: 70_000,
      content: { id: first.id, place: "database" },
    })
    const second = await write(80_000)
    await blobs.put({ home: adas, key: "a", contentType: null, content: second, at: 8 }, 1e9)
    expect(await unusedOf()).toEqual([
      [70_000, 8],
      [80_000, null],
    ])
    await put("a", "small", 1e9, 9)
    expect([await unusedOf(), await usageOf(ada)]).toEqual([
      [
        [70_000, 8],
        [80_000, 9],
      ],
      [5, 1],
    ])
  })

  test("put refuses a deleted object, and remove leaves its object to be purged", async () => {
    const object = await write(70_000)
    await objects.discard(object)
    const blob = { home: adas, key: "a", contentType: null, content: object, at: 7 }
    await expect(blobs.put(blob, 1e9)).rejects.toMatchObject({ code: "storage_unavailable" })
    await blobs.put({ ...blob, content: await write(70_000) }, 1e9)
    await blobs.remove(adas, "a", 9)
    expect(await unusedOf()).toEqual([[70_000, 9]])
  })

  test("put never exceeds the limit, however many blobs are stored at once", async () => {
    const puts = Array.from({ length: 20 }, (_, index) =>
      put(`key${index % 15}`, "x".repeat(10 + index), 100),
    )
    const isStored = await Promise.all(puts)
    expect(isStored).toContain(true)
    expect(isStored).toContain(false)
    const { items } = await blobs.list(adas, { prefix: "", limit: 100 })
    const bytes = items.reduce((sum, { size }) => sum + size, 0)
    expect(bytes).toBeLessThanOrEqual(100)
    expect(await usageOf(ada)).toEqual([bytes, items.length])
  })

  describe("list", () => {
    const odd = [
      "",
      "%",
      "_",
      "a",
      "a%b",
      "a_b",
      "ab",
      "a/b",
      "é",
      "\ud7ff",
      "\ue000",
      "\uffff",
      "😀",
      "😀x",
      "\u{10ffff}",
      "\u{10ffff}\u{10ffff}x",
    ]

    test("finds exactly the keys with a prefix, in the order of code points", async () => {
      const keys = odd.filter((key) => key !== "")
      for (const key of keys.toReversed()) await put(key, "x")
      await put("a", "x", 1e9, 5, bobs)
      for (const prefix of odd)
        expect([prefix, await keysOf(prefix)]).toEqual([
          prefix,
          keys.filter((key) => key.startsWith(prefix)).sort(byPoints),
        ])
    })

    test("continues after any key, page by page", async () => {
      const keys = odd.filter((key) => key !== "").sort(byPoints)
      for (const key of keys) await put(key, "x")
      for (const after of [...odd, "zz"])
        expect([after, await keysOf("", { after })]).toEqual([
          after,
          keys.filter((key) => byPoints(key, after) > 0),
        ])
      expect(await keysOf("a", { after: "_" })).toEqual(["a", "a%b", "a/b", "a_b", "ab"])
      expect(await keysOf("a", { after: "b" })).toEqual([])
      const first = await blobs.list(adas, { prefix: "a", limit: 2 })
      expect([first.items.map(({ key }) => key), first.hasMore]).toEqual([["a", "a%b"], true])
      const last = await blobs.list(adas, { prefix: "a", limit: 3, after: "a%b" })
      expect([last.items.map(({ key }) => key), last.hasMore]).toEqual([
        ["a/b", "a_b", "ab"],
        false,
      ])
    })
  })

  test("put refuses what belongs to a user who is being deleted, or is gone", async () => {
    const blob = { home: adas, key: "a", contentType: null, content: await write(70_000), at: 5 }
    await db.writeOne(sql`update users set purge_at = ${5} where id = ${ada}`)
    await expect(blobs.put(blob, 1e9)).rejects.toMatchObject({ code: "user_suspended" })
    expect(await usageOf(ada)).toEqual([0, 0])
    expect(await unusedOf()).toEqual([[null, 1]])
    if (adas.valId !== undefined) return
    const home = { ownerId: Bun.randomUUIDv7() }
    await expect(blobs.put({ ...blob, home }, 1e9)).rejects.toMatchObject({
      code: "user_suspended",
    })
  })

  test("put refuses what belongs to a val that is not there, or is another user's", async () => {
    const blob = { key: "a", contentType: null, content: new Uint8Array(1), at: 5 }
    for (const valId of [Bun.randomUUIDv7(), vals[1]])
      await expect(
        blobs.put({ ...blob, home: { ownerId: ada, valId } }, 1e9),
      ).rejects.toMatchObject({ code: "val_not_found" })
    expect(await usageOf(ada)).toEqual([0, 0])
  })
}

function byPoints(left: string, right: string): number {
  return Buffer.compare(Buffer.from(left), Buffer.from(right))
}

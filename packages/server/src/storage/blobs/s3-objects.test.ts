import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { type Database, sql } from "@hamlet/database"
import { describeEachDatabase } from "../../../test/support/databases.ts"
import { FakeBucket } from "../../../test/support/fakes/fake-bucket.ts"
import type { ObjectStore } from "../../domain/blobs/objects.ts"
import { createObjectStore, holdObjects } from "./objects.ts"
import { createBucketContent, probeBucket } from "./s3-objects.ts"

const mega = 1024 ** 2

describeEachDatabase("createBucketContent", (open) => {
  let bucket: FakeBucket
  let db: Database
  let objects: ObjectStore
  const owner = Bun.randomUUIDv7()
  const away = () =>
    new Response("<Error><Code>InternalError</Code><Message>no</Message></Error>", { status: 500 })

  beforeEach(async () => {
    bucket = new FakeBucket()
    db = (await open()).db
    objects = createObjectStore(db, createBucketContent(bucket.bucket, 100 * mega), {
      newId: () => Bun.randomUUIDv7(),
      now: () => 1,
    })
  })

  afterEach(() => bucket.stop())

  const countObjects = async () =>
    Number(
      (await db.read<{ count: unknown }>(sql`select count(*) as count from objects`))[0]?.count,
    )

  const write = async () => {
    const object = await objects.write(owner, pieces(random(10)))
    await db.run`update objects set size = 10 where id = ${object.id}`
    return object
  }

  test.each([70_000, 5 * mega, 12 * mega + 5])(
    "stores %i bytes, returns any part of them, and deletes them",
    async (size) => {
      const all = random(size)
      const object = await objects.write(owner, pieces(all))
      expect(object).toMatchObject({ place: "s3", size })
      expect([...bucket.files.keys()]).toEqual([`/hamlet/blobs/${object.id}`])
      for (const [start, end] of [
        [0, size],
        [1, 2],
        [size - 10, size],
        [0, 0],
      ] as const) {
        const read = Buffer.concat(await Array.fromAsync(objects.read(object, start, end)))
        expect(read.equals(all.subarray(start, end))).toBe(true)
      }
      while (await objects.purge(2));
      expect([bucket.files.size, bucket.openUploads, await countObjects()]).toEqual([0, 0, 0])
    },
  )

  test("deletes nothing while a backup holds the objects, by the clock of the database", async () => {
    const [unused, dropped] = [await write(), await write()]
    await holdObjects(db, 60_000)
    await objects.discard(dropped)
    expect(await objects.purge(2)).toBe(false)
    expect(await countObjects()).toBe(2)
    await holdObjects(db, -1)
    await objects.discard(dropped)
    expect([...bucket.files.keys()]).toEqual([`/hamlet/blobs/${unused.id}`])
    while (await objects.purge(2));
    expect([bucket.files.size, await countObjects()]).toEqual([0, 0])
  })

  test("requests no more bytes than are read", async () => {
    const object = await objects.write(owner, pieces(random(12 * mega)))
    bucket.requests.length = 0
    const reading = objects.read(object, 0, 12 * mega)
    await reading.next()
    await reading.return()
    expect(bucket.requests.map(({ range }) => range)).toEqual([`bytes=0-${4 * mega - 1}`])
  })

  test("leaves nothing in the bucket when the content is cut off", async () => {
    const broken = async function* () {
      for await (const piece of pieces(random(12 * mega))) yield piece
      throw new Error("gone")
    }
    await expect(objects.write(owner, broken())).rejects.toThrow("gone")
    expect([bucket.files.size, bucket.openUploads, await countObjects()]).toEqual([0, 0, 0])
  })

  describe("when the bucket is unavailable", () => {
    const unavailable = { code: "storage_unavailable" }

    test("write and read fail with storage_unavailable", async () => {
      const object = await objects.write(owner, pieces(random(70_000)))
      bucket.fault = away
      await expect(objects.write(owner, pieces(random(70_000)))).rejects.toMatchObject(unavailable)
      await expect(objects.write(owner, pieces(random(12 * mega)))).rejects.toMatchObject(
        unavailable,
      )
      await expect(objects.read(object, 0, 10).next()).rejects.toMatchObject(unavailable)
      await bucket.stop()
      await expect(objects.read(object, 0, 10).next()).rejects.toMatchObject(unavailable)
    })

    test("purge deletes later what it could not delete", async () => {
      const object = await objects.write(owner, pieces(random(70_000)))
      bucket.fault = away
      await objects.discard(object)
      await expect(objects.purge(2)).rejects.toMatchObject(unavailable)
      expect([bucket.files.size, await countObjects()]).toEqual([1, 1])
      bucket.fault = undefined
      while (await objects.purge(2));
      expect([bucket.files.size, await countObjects()]).toEqual([0, 0])
    })

    test("read fails when the bucket returns fewer bytes than requested", async () => {
      const object = await objects.write(owner, pieces(random(70_000)))
      bucket.fault = ({ method }) =>
        method === "GET" ? new Response("short", { status: 206 }) : undefined
      await expect(objects.read(object, 0, 10).next()).rejects.toMatchObject(unavailable)
    })
  })

  test("read finds objects in the database after a bucket was configured, and fails for objects in a bucket when there is none", async () => {
    const plain = createObjectStore(db, undefined, {
      newId: () => Bun.randomUUIDv7(),
      now: () => 1,
    })
    const inDatabase = await plain.write(owner, pieces(random(70_000)))
    const inBucket = await objects.write(owner, pieces(random(70_000)))
    expect((await objects.read(inDatabase, 0, 10).next()).value?.length).toBe(10)
    expect(() => plain.read(inBucket, 0, 10)).toThrow("this server has no bucket configured")
    // A node without a bucket deletes objects in the database, and leaves the rest to other nodes.
    while (await plain.purge(2));
    expect([bucket.files.size, await countObjects()]).toEqual([1, 1])
  })
})

function random(size: number): Uint8Array {
  // A prime: no piece and no part of an upload is a multiple of it.
  const some = crypto.getRandomValues(new Uint8Array(65_521))
  return Buffer.alloc(size, some)
}

async function* pieces(all: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let from = 0; from < all.length; from += 200_000) yield all.subarray(from, from + 200_000)
}

describe("probeBucket", () => {
  const refuse = (code: string, status: number) =>
    new Response(`<Error><Code>${code}</Code><Message>secret</Message></Error>`, { status })

  async function probe(fault: FakeBucket["fault"]) {
    const bucket = new FakeBucket()
    try {
      bucket.fault = fault
      const content = createBucketContent(bucket.bucket, mega)
      const problem = await probeBucket(content).then(() => undefined, String)
      return { problem, files: [...bucket.files.keys()] }
    } finally {
      await bucket.stop()
    }
  }

  test("writes nothing into a bucket that responds", async () => {
    expect(await probe(undefined)).toEqual({ problem: undefined, files: [] })
  })

  test("writes an object where reading a missing one is refused", async () => {
    const hide: FakeBucket["fault"] = ({ method }) =>
      method === "GET" ? refuse("AccessDenied", 403) : undefined
    expect(await probe(hide)).toEqual({ problem: undefined, files: ["/hamlet/blobs/hamlet-probe"] })
  })

  test.each([
    ["SignatureDoesNotMatch", 403],
    ["AccessDenied", 403],
    ["NoSuchBucket", 404],
  ])("names the code %s, and not the message", async (code, status) => {
    const { problem } = await probe(() => refuse(code, status))
    expect(problem).toBe(`Error: the bucket failed with ${code}`)
  })
})

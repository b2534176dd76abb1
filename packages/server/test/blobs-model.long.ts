import { afterAll, beforeAll, expect, test } from "bun:test"
import { sql } from "@hamlet/database"
import fc from "fast-check"
import { expectStatus, openApi, type TestApi, type TestUser, testBaseUrl } from "./support/api.ts"
import { describeEachDatabase, type TestDatabase } from "./support/databases.ts"

const quota = 1024 ** 2

type Blobs = Map<string, { readonly content: Uint8Array; readonly type: string }>

/** Does something, and gives what came of it in words that the model has too. */
interface Operation {
  readonly title: string
  run(scene: Scene): Promise<unknown>
  expect(blobs: Blobs): unknown
}

interface Scene {
  readonly api: TestApi
  readonly user: TestUser
}

const key = fc.constantFrom(
  "a",
  "a/",
  "a/b",
  "a%2Fb",
  "ä",
  "😀",
  "\uffff",
  "\u{10ffff}",
  "b c",
  "%",
  "_",
)
const size = fc.oneof(
  fc.nat(20),
  fc.constantFrom(65_535, 65_536, 65_537, 262_144, 300_000, 500_000),
)
const type = fc.constantFrom("text/plain", "application/json", "x/y")

const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.tuple(key, size, type, fc.nat(255), fc.boolean()).map((parts) => put(...parts)),
  },
  { weight: 2, arbitrary: key.map(get) },
  {
    weight: 2,
    arbitrary: fc.tuple(key, fc.nat(70_000), fc.nat(300_000)).map((parts) => getPart(...parts)),
  },
  { weight: 2, arbitrary: key.map(remove) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(
        fc.oneof(fc.constant(""), key),
        fc.option(key, { nil: undefined }),
        fc.integer({ min: 1, max: 12 }),
      )
      .map((parts) => list(...parts)),
  },
)

describeEachDatabase("blobs", (open) => {
  let api: TestApi
  let database: TestDatabase
  let people = 0

  beforeAll(async () => {
    const opened = async () => {
      database = await open()
      return database
    }
    api = await openApi(opened, { HAMLET_BLOBS_MB_MAX: String(quota / 1024 ** 2) })
  })
  afterAll(() => api.close())

  test("are what each user stored last, in the order of their keys, within the limits", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.boolean(), operation), { maxLength: 40, size: "max" }),
        async (sequence) => {
          people += 1
          const users = [
            await api.addUser(`ada${people}`),
            await api.addUser(`bob${people}`),
          ] as const
          const models: readonly [Blobs, Blobs] = [new Map(), new Map()]
          for (const [isBob, { title, run, expect: expected }] of sequence) {
            const wanted = expected(models[isBob ? 1 : 0])
            expect([title, await run({ api, user: users[isBob ? 1 : 0] })]).toEqual([title, wanted])
          }
          for (const [index, { id }] of users.entries())
            expect(await usageOf(id)).toEqual([
              bytesOf(models[index === 0 ? 0 : 1]),
              models[index === 0 ? 0 : 1].size,
            ])
        },
      ),
      { numRuns: 30 },
    )
  }, 120_000)

  async function usageOf(id: string): Promise<readonly number[]> {
    const [row] = await database.db.read<Record<"bytes" | "count", unknown>>(
      sql`select blob_bytes as bytes, blob_count as count from users where id = ${id}`,
    )
    return [Number(row?.bytes), Number(row?.count)]
  }
})

function put(
  name: string,
  bytes: number,
  contentType: string,
  seed: number,
  hasLength: boolean,
): Operation {
  const content = Uint8Array.from({ length: bytes }, (_, index) => (index * 31 + seed) & 255)
  return {
    title: `put ${JSON.stringify(name)} ${bytes}`,
    async run(scene) {
      const length: Record<string, string> = hasLength ? { "content-length": String(bytes) } : {}
      return (
        await send(scene, name, {
          method: "POST",
          body: content,
          headers: { "content-type": contentType, ...length },
        })
      ).status
    },
    expect(blobs) {
      const old = blobs.get(name)?.content.length ?? 0
      if (bytes > old && bytesOf(blobs) - old + bytes > quota) return 413
      blobs.set(name, { content, type: contentType })
      return 201
    },
  }
}

function get(name: string): Operation {
  return {
    title: `get ${JSON.stringify(name)}`,
    async run(scene) {
      const response = await send(scene, name)
      return response.status === 200
        ? [response.headers.get("content-type"), Bun.hash(await response.bytes())]
        : response.status
    },
    expect(blobs) {
      const blob = blobs.get(name)
      return blob ? [blob.type, Bun.hash(blob.content)] : 404
    },
  }
}

function getPart(name: string, start: number, length: number): Operation {
  return {
    title: `get ${JSON.stringify(name)} from ${start}, ${length}`,
    async run(scene) {
      const response = await send(scene, name, {
        headers: { range: `bytes=${start}-${start + length}` },
      })
      return response.status === 206 ? Bun.hash(await response.bytes()) : response.status
    },
    expect(blobs) {
      const blob = blobs.get(name)
      if (!blob) return 404
      return start < blob.content.length
        ? Bun.hash(blob.content.subarray(start, start + length + 1))
        : 416
    },
  }
}

function remove(name: string): Operation {
  return {
    title: `delete ${JSON.stringify(name)}`,
    run: async (scene) => (await send(scene, name, { method: "DELETE" })).status,
    expect: (blobs) => (blobs.delete(name) ? 204 : 404),
  }
}

function list(prefix: string, after: string | undefined, limit: number): Operation {
  return {
    title: `list ${JSON.stringify([prefix, after, limit])}`,
    async run({ api, user }) {
      const query = new URLSearchParams({
        prefix,
        limit: String(limit),
        ...(after === undefined ? {} : { after }),
      })
      const { json, headers } = expectStatus(
        await api.call("GET", `/v1/blob?${query}`, { as: user }),
        200,
      )
      return [
        json.map((blob: { key: string; size: number }) => [blob.key, blob.size]),
        headers.has("link"),
      ]
    },
    expect(blobs) {
      const found = [...blobs].filter(
        ([name]) => name.startsWith(prefix) && (after === undefined || byPoints(name, after) > 0),
      )
      const sorted = found
        .sort(([one], [other]) => byPoints(one, other))
        .map(([name, { content }]) => [name, content.length])
      return [sorted.slice(0, limit), sorted.length > limit]
    },
  }
}

function send({ api, user }: Scene, name: string, init: RequestInit = {}): Promise<Response> {
  const headers = {
    authorization: `Bearer ${user.token}`,
    ...(init.headers as Record<string, string>),
  }
  return api.hamlet.app.request(`${testBaseUrl}/v1/blob/${encodeURIComponent(name)}`, {
    ...init,
    headers,
  })
}

function bytesOf(blobs: Blobs): number {
  return [...blobs.values()].reduce((sum, { content }) => sum + content.length, 0)
}

function byPoints(left: string, right: string): number {
  return Buffer.compare(Buffer.from(left), Buffer.from(right))
}

import { expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { createClient } from "@hamlet/contract/client"
import { describeEachDatabase } from "../support/databases.ts"
import { FakeBucket } from "../support/fakes/fake-bucket.ts"
import { chosenToken, openServerFixture, type ServerFixture } from "../support/server-fixture.ts"

const mega = 1024 ** 2

const sizes = {
  blobBytes: 160 * mega,
  pieceBytes: mega,
  /**
   * What the server may grow by, at its peak: less than a blob, whose bytes it never has all at
   * once.
   */
  growthBytesMax: 120 * mega,
}
const timeoutMs = 180_000

/** The settings with which such a blob may be stored. */
const env = {
  HAMLET_LOG_LEVEL: "none",
  HAMLET_BLOB_BYTES_MAX: String(sizes.blobBytes),
  HAMLET_ISOLATION: "deno",
}

/** A piece of a blob, different from every other. */
function toPiece(number: number): Uint8Array {
  return new Uint8Array(sizes.pieceBytes).fill(number % 251)
}

/** A blob in pieces. */
function toStream(): ReadableStream<Uint8Array> {
  const pieces = sizes.blobBytes / sizes.pieceBytes
  let number = 0
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (number === pieces) controller.close()
        else controller.enqueue(toPiece(number++))
      },
    },
    { highWaterMark: 0 },
  )
}

/** How much came, and whether it is what was sent. */
async function check(
  body: ReadableStream<Uint8Array> | null,
): Promise<{ readonly bytes: number; readonly isSame: boolean }> {
  let bytes = 0
  let isSame = true
  for await (const piece of body ?? []) {
    for (const at of [0, piece.length - 1])
      isSame &&= piece[at] === Math.floor((bytes + at) / sizes.pieceBytes) % 251
    bytes += piece.length
  }
  return { bytes, isSame }
}

/** The most memory that a process has had. */
function peakOf(pid: number): number {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1024
}

/** Sends a large blob and reads it back, and fails if the server had all of it in memory. */
async function streamBlob(
  fixture: ServerFixture,
  more: Readonly<Record<string, string>> = {},
): Promise<void> {
  const { hamlet, baseUrl } = await fixture.serve({ ...env, ...more })
  const client = createClient({ baseUrl, token: chosenToken, timeoutMs })
  // What is used once is loaded before it is measured.
  await client.putBlob({ key: "small", content: new Uint8Array(8 * mega) })
  await (await client.getBlob({ key: "small" })).bytes()
  const before = peakOf(hamlet.pid)

  await client.putBlob({ key: "large", content: toStream() })
  const came = await check((await client.getBlob({ key: "large" })).body)

  expect(came).toEqual({ bytes: sizes.blobBytes, isSame: true })
  expect(peakOf(hamlet.pid) - before).toBeLessThan(sizes.growthBytesMax)
  expect(await client.listBlobs({ prefix: "large" })).toMatchObject([{ size: sizes.blobBytes }])
}

// The content does not pass through the database, so one database is enough.
test(
  "hamlet serve streams a large blob to a bucket and back without holding all of it in memory",
  async () => {
    const bucket = new FakeBucket()
    try {
      await using fixture = await openServerFixture()
      await streamBlob(fixture, { HAMLET_S3_URL: bucket.url })
      expect(bucket.files.size).toBe(2)
    } finally {
      await bucket.stop()
    }
  },
  timeoutMs,
)

describeEachDatabase("hamlet serve with a large blob", (open) => {
  test(
    "streams it to the database and back without holding all of it in memory",
    async () => {
      await using fixture = await openServerFixture(open)
      await streamBlob(fixture)
    },
    timeoutMs,
  )
})

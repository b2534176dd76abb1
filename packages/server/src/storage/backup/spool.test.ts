import { describe, expect, test } from "bun:test"
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { waitUntil } from "@hamlet/kit/testing"
import { readAhead, Spool } from "./spool.ts"

const pieceBytes = 1_000
const pieces = 200

async function* make(onMade: (count: number) => void = () => {}): AsyncGenerator<Uint8Array, void> {
  for (let index = 0; index < pieces; index++) {
    yield Buffer.alloc(pieceBytes, index)
    onMade(index + 1)
  }
}

const whole = Buffer.concat(
  Array.from({ length: pieces }, (_, index) => Buffer.alloc(pieceBytes, index)),
)

describe("readAhead", () => {
  // From nothing in memory to everything in memory.
  for (const memoryBytesMax of [0, 2_500, 50_000, 1_000_000]) {
    test(`reads everything before the second piece is requested, and yields it in order (${memoryBytesMax} bytes in memory)`, async () => {
      const folder = mkdtempSync(join(tmpdir(), "hamlet-spool-"))
      try {
        const { promise, resolve } = Promise.withResolvers<void>()
        const reading = readAhead(
          make((count) => count === pieces && resolve()),
          { folder, limits: { memoryBytesMax, freeBytesMin: 0 } },
        )
        const read = [(await reading.next()).value ?? new Uint8Array()]
        await promise
        for await (const piece of reading) read.push(piece)
        expect(Buffer.concat(read).equals(whole)).toBe(true)
        expect(readdirSync(folder)).toEqual([])
      } finally {
        rmSync(folder, { recursive: true })
      }
    })
  }

  test("waits for the reader when neither memory nor disk has room, then continues", async () => {
    const limits = {
      memoryBytesMax: 3_000,
      freeBytesMin: Number.MAX_SAFE_INTEGER,
      waitMsMax: 60_000,
    }
    const read: Uint8Array[] = []
    for await (const piece of readAhead(make(), { folder: tmpdir(), limits })) read.push(piece)
    expect(Buffer.concat(read).equals(whole)).toBe(true)
  })

  test("fails when there is no room and the reader is too slow", async () => {
    const limits = { memoryBytesMax: 3_000, freeBytesMin: Number.MAX_SAFE_INTEGER, waitMsMax: 1 }
    let isLetGo = false
    async function* watched() {
      try {
        yield* make()
      } finally {
        isLetGo = true
      }
    }
    const reading = readAhead(watched(), { folder: tmpdir(), limits })
    await reading.next()
    await waitUntil(() => isLetGo)
    const rest = Array.fromAsync(reading)
    expect(await rest.catch((error: Error) => error.message)).toBe(
      "Cannot continue the backup: the client reads it too slowly, and the disk has no room to buffer the rest",
    )
  })

  test("throws an error after all earlier pieces, and closes the source when the reader stops", async () => {
    async function* failing() {
      yield Buffer.from("a")
      throw new Error("no more")
    }
    const reading = readAhead(failing(), { folder: tmpdir() })
    expect(await reading.next()).toEqual({ done: false, value: Buffer.from("a") })
    expect(await reading.next().catch((error: Error) => error.message)).toBe("no more")
    let made = 0
    const left = readAhead(
      make((count) => {
        made = count
      }),
      {
        folder: tmpdir(),
        limits: { memoryBytesMax: 2_000, freeBytesMin: Number.MAX_SAFE_INTEGER },
      },
    )
    await left.next()
    await left.return()
    expect(made).toBeLessThan(pieces)
  })
})

describe("Spool", () => {
  test("returns concurrent writes complete and in order", async () => {
    const spool = new Spool({
      folder: tmpdir(),
      limits: { memoryBytesMax: 5_000, freeBytesMin: 0 },
    })
    const read: Uint8Array[] = []
    const reading = (async () => {
      for (let piece = await spool.read(); piece; piece = await spool.read()) read.push(piece)
    })()
    for await (const piece of make()) await spool.write(piece)
    spool.end(undefined)
    await reading
    await spool.close()
    expect(Buffer.concat(read).equals(whole)).toBe(true)
  })
})

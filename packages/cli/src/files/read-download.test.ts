import { describe, expect, test } from "bun:test"
import { readDownload } from "./read-download.ts"

const limits = { stalledMs: 20, bytesMax: 1_000 }

const toStream = (...chunks: readonly number[]) =>
  new ReadableStream<Uint8Array>({
    start(controller) {
      for (const bytes of chunks) controller.enqueue(new Uint8Array(bytes))
      controller.close()
    },
  })

const endless = () =>
  new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new Uint8Array(100)),
  })

const silent = () => new ReadableStream<Uint8Array>({})

async function read(
  body: ReadableStream<Uint8Array> | null,
  headers: Record<string, string> = {},
): Promise<unknown> {
  let bytes = 0
  try {
    const response = { body: body as Response["body"], headers: new Headers(headers) }
    for await (const chunk of readDownload(response, "get it", limits)) bytes += chunk.length
    return bytes
  } catch (error) {
    return (error as Error).message
  }
}

describe("readDownload", () => {
  test("reads what the server has announced, or what comes", async () => {
    expect(await read(toStream(3, 4), { "content-length": "7" })).toBe(7)
    expect(await read(toStream(3, 4))).toBe(7)
    expect(await read(null, { "content-length": "0" })).toBe(0)
    const compressed = { "content-length": "2", "content-encoding": "gzip" }
    expect(await read(toStream(3, 4), compressed)).toBe(7)
  })

  test("fails when less or more comes than announced", async () => {
    expect(await read(toStream(3), { "content-length": "7" })).toBe(
      "Cannot get it: the connection was lost (after 3 of 7 bytes)",
    )
    expect(await read(endless(), { "content-length": "150" })).toBe(
      "Cannot get it: the server sends more than the 150 bytes that it has announced",
    )
  })

  test("ends what has no end, and what does not go on", async () => {
    expect(await read(endless())).toBe("Cannot get it: the server sends more than 1000 bytes")
    expect(await read(silent())).toBe(
      "Cannot get it: the connection was lost (nothing came for 0.02 s)",
    )
  })
})

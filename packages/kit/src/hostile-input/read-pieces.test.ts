import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { connect } from "node:net"
import { readPieces } from "./read-pieces.ts"

const chunks = 20_000

describe("readPieces", () => {
  let server: Bun.Server<undefined>
  /** How many pieces the last request had, and its text. */
  const read = { pieces: 0, text: "" }
  beforeAll(() => {
    server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      async fetch(request) {
        read.pieces = 0
        read.text = ""
        for await (const piece of readPieces(request, "someone")) {
          read.pieces++
          read.text += Buffer.from(piece).toString()
        }
        return new Response()
      },
    })
  })
  afterAll(() => server.stop(true))

  const send = (bytes: string) =>
    new Promise<void>((resolve) => {
      const socket = connect(server.port ?? 0, "127.0.0.1", () => {
        socket.write("POST / HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n")
        socket.write(`${bytes}0\r\n\r\n`)
      })
      socket.on("data", () => socket.destroy())
      socket.on("close", () => resolve())
    })

  test("joins the chunks that have arrived", async () => {
    await send("1\r\nx\r\n".repeat(chunks))
    expect(read.text).toBe("x".repeat(chunks))
    expect(read.pieces).toBeLessThan(chunks / 100)
  })

  test("yields what a client sends now and then as it comes", async () => {
    const bytes = ["a", "b", "c"]
    const sent = new ReadableStream<Uint8Array>({
      pull(controller) {
        const next = bytes.shift()
        if (next === undefined) controller.close()
        else controller.enqueue(Buffer.from(next))
      },
    })
    const pieces: string[] = []
    for await (const piece of readPieces(new Response(sent), "someone"))
      pieces.push(Buffer.from(piece).toString())
    expect(pieces).toEqual(["a", "b", "c"])
  })

  test("cancels the stream when its reader stops", async () => {
    let isCancelled = false
    const sent = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(1)),
      cancel() {
        isCancelled = true
      },
    })
    for await (const piece of readPieces(new Response(sent), "someone")) if (piece) break
    expect(isCancelled).toBe(true)
  })

  test("reads nothing without a stream", async () => {
    expect(await Array.fromAsync(readPieces(new Response(null), "someone"))).toEqual([])
  })
})

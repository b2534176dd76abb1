import { describe, expect, test } from "bun:test"
import { waitUntil } from "@hamlet/kit/testing"
import { type ApiResponse, jsonText } from "./api-response.ts"
import { ResponseRooms, type RoomLimits, roomLimits } from "./response-room.ts"

const body = new Uint8Array(roomLimits.freeBytesMax + 1).fill(97)

function open(limits: Partial<RoomLimits> = {}) {
  const rooms = new ResponseRooms({ ...roomLimits, ...limits } as RoomLimits)
  const request = (init?: RequestInit) => new Request("http://x/v1/vals", init)
  const of = (owner: string, init?: RequestInit) => rooms.open(() => owner, request(init))
  return { rooms, of, send: (owner: string) => of(owner).fit(jsonText(200, body)) }
}

const readAll = async ({ stream }: ApiResponse) => new Response(stream).bytes()

describe("ResponseRoom", () => {
  test("a large body is sent in parts, and holds memory until the last is read", async () => {
    const { rooms, send } = open()
    const sent = await send("ada")
    expect([sent.body, sent.headers["content-length"]]).toEqual([null, String(body.length)])
    expect(rooms.budget.heldBytes).toBe(body.length)
    expect(await readAll(sent)).toEqual(body)
    expect([rooms.budget.heldBytes, rooms.senders.size]).toEqual([0, 0])
  })

  test("a small body, an empty one, a stream and a HEAD request hold none", async () => {
    const { rooms, of } = open()
    const small = jsonText(200, "x".repeat(roomLimits.freeBytesMax))
    const stream = { ...jsonText(200, ""), stream: new ReadableStream() }
    for (const response of [small, { ...small, body: null }, stream])
      expect(await of("ada").fit(response)).toBe(response)
    const large = jsonText(200, body)
    expect(await of("ada", { method: "HEAD" }).fit(large)).toBe(large)
    expect(rooms.budget.heldBytes).toBe(0)
  })

  test("a page takes its room before its texts, and keeps what its body needs", async () => {
    const { rooms, of } = open()
    const room = of("ada")
    await room.take()
    await room.take()
    expect(rooms.budget.heldBytes).toBe(roomLimits.pageRoomBytes)
    const sent = await room.fit(jsonText(200, body))
    expect(rooms.budget.heldBytes).toBe(body.length)
    await readAll(sent)
    const other = of("ada")
    await other.take()
    await other.fit(jsonText(200, "[]"))
    expect(rooms.budget.heldBytes).toBe(0)
  })

  test("a client that disconnects, while it waits or later, gives the memory back", async () => {
    const { rooms, of, send } = open({ bytesPerOwnerMax: body.length })
    const first = await send("ada")
    const abort = new AbortController()
    const waiting = of("ada", abort).fit(jsonText(200, body)).catch(String)
    await waitUntil(() => rooms.budget.waiting === 1)
    abort.abort()
    expect(await waiting).toContain("the client has disconnected")
    await first.stream?.cancel()
    expect([rooms.budget.heldBytes, rooms.budget.waiting]).toEqual([0, 0])
  })

  test("a client that leaves a part unread is disconnected", async () => {
    const { rooms, send } = open({ stalledMsMax: 5, sweepMs: 1 })
    const sent = await send("ada")
    await waitUntil(() => rooms.budget.heldBytes === 0)
    expect(await readAll(sent).then(String, () => "broken off")).toBe("broken off")
  })

  test("a client that is slow is disconnected when others wait, and not before", async () => {
    const size = body.length
    const { rooms, send } = open({
      bytesMax: size,
      bytesPerOwnerMax: size,
      sweepMs: 1,
      slowMsMin: 5,
    })
    const slow = await send("ada")
    let checks = 0
    rooms.senders.add({ check: () => ++checks > 20 })
    await waitUntil(() => checks > 20)
    expect(rooms.budget.heldBytes).toBe(size)
    const next = await send("bob")
    expect(await readAll(slow).then(String, () => "broken off")).toBe("broken off")
    expect(await readAll(next)).toEqual(body)
  })
})

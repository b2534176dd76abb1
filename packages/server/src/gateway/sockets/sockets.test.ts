import { afterAll, describe, expect, test } from "bun:test"
import { Deadlines } from "../deadlines.ts"
import { gatewayLimits } from "../limits.ts"
import type { ClientSocket, SocketEnd } from "./socket-relay.ts"
import { Sockets } from "./sockets.ts"

const deadlines = new Deadlines(1_000_000)
afterAll(() => deadlines.stop())

/** The val's end of a WebSocket. */
class ValSocket extends EventTarget {
  bufferedAmount = 0
  binaryType = ""
  sent: unknown[] = []
  closedWith: unknown[] | undefined
  send(message: unknown): void {
    this.sent.push(message)
  }
  close(...end: unknown[]): void {
    this.closedWith = end
  }
  sends(data: unknown): void {
    this.dispatchEvent(new MessageEvent("message", { data }))
  }
  ends(code: number, reason = ""): void {
    this.dispatchEvent(new CloseEvent("close", { code, reason }))
  }
}

/** The client's end of a WebSocket. */
class Client {
  buffered = 0
  sent: unknown[] = []
  closedWith: unknown[] | undefined
  isTerminated = false
  send(message: unknown): void {
    this.sent.push(message)
  }
  close(...end: unknown[]): void {
    this.closedWith = end
  }
  terminate(): void {
    this.isTerminated = true
  }
  getBufferedAmount(): number {
    return this.buffered
  }
}

function open(sockets: Sockets, valId = "val") {
  const val = new ValSocket()
  const client = new Client()
  const ends: SocketEnd[] = []
  const relay = sockets.add(valId, val as unknown as WebSocket, (end) => ends.push(end))
  return {
    val,
    client,
    ends,
    relay,
    join: () => relay.clientOpened(client as unknown as ClientSocket),
  }
}

describe("Sockets", () => {
  test("limits the sockets of a val and of all vals, and counts closed ones no more", () => {
    const sockets = new Sockets({ ...gatewayLimits, socketsPerValMax: 2, socketsMax: 3 }, deadlines)
    const first = open(sockets)
    open(sockets)
    expect(() => sockets.assertRoom("val")).toThrow("already has 2 open")
    sockets.assertRoom("other")
    open(sockets, "other")
    expect(() => sockets.assertRoom("third")).toThrow("too many")
    first.relay.clientClosed(1000, "")
    sockets.assertRoom("val")
    sockets.stop()
  })

  test("closes all sockets on stop", () => {
    const sockets = new Sockets(gatewayLimits, deadlines)
    const { val, client, ends, join } = open(sockets)
    join()
    sockets.stop()
    expect([client.closedWith?.[0], val.closedWith?.[0], ends]).toEqual([1001, 1001, ["closed"]])
  })

  test("buffers messages and the close of the val until the client's side is open", () => {
    const { val, client, ends, join } = open(new Sockets(gatewayLimits, deadlines))
    val.sends("a")
    val.sends("b")
    val.ends(4000, "bye")
    expect(ends).toEqual([])
    join()
    expect([client.sent, client.closedWith, ends]).toEqual([["a", "b"], [4000, "bye"], ["closed"]])
  })

  test("limits the backlog of one socket and of all sockets", () => {
    const sockets = new Sockets(
      { ...gatewayLimits, backlogBytesMax: 100, backlogBytesTotalMax: 150 },
      deadlines,
    )
    const slow = open(sockets)
    slow.join()
    slow.client.buffered = 100
    slow.val.sends("x")
    expect(slow.ends).toEqual([])
    const second = open(sockets)
    second.join()
    second.client.buffered = 60
    second.val.sends("x")
    expect([
      second.ends,
      second.client.isTerminated,
      second.client.closedWith?.[0],
      second.val.closedWith?.[0],
    ]).toEqual([["closed"], true, 1008, 1008])
    slow.client.buffered = 101
    slow.val.sends("x")
    expect(slow.ends).toEqual(["closed"])
    // The backlog of the two closed sockets is free again.
    const third = open(sockets)
    third.join()
    third.client.buffered = 90
    third.val.sends("x")
    expect(third.ends).toEqual([])
    third.client.buffered = 0
    third.relay.clientDrained()
    const early = open(sockets)
    early.val.sends("x".repeat(101))
    expect(early.ends).toEqual(["closed"])
    sockets.stop()
  })

  test("closes when the val does not read", () => {
    const sockets = new Sockets({ ...gatewayLimits, backlogBytesMax: 100 }, deadlines)
    const { val, ends, relay, join } = open(sockets)
    join()
    val.bufferedAmount = 101
    relay.clientSent("x")
    expect([val.sent, ends]).toEqual([["x"], ["closed"]])
  })

  test("closes a socket that is open for too long", () => {
    const beganMs = performance.now()
    const { val, client, ends, relay, join } = open(
      new Sockets({ ...gatewayLimits, streamMsMax: 1000 }, deadlines),
    )
    join()
    expect(relay.check(beganMs + 900)).toBe(false)
    expect(relay.check(performance.now() + 1100)).toBe(true)
    expect([client.closedWith?.[0], val.closedWith?.[0], ends]).toEqual([1001, 1001, ["expired"]])
  })

  for (const [code, forwarded] of [
    [1006, 1011],
    [1015, 1011],
    [1005, undefined],
    [1003, 1003],
  ] as const) {
    test(`forwards the val's close code ${code} as ${forwarded ?? "none"}`, () => {
      const { val, client, join } = open(new Sockets(gatewayLimits, deadlines))
      join()
      val.ends(code)
      expect(client.closedWith?.[0]).toBe(forwarded)
    })
  }
})

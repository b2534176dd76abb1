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
  says(data: unknown): void {
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
  test("has room for so many of a val and so many in all, and again when one has closed", () => {
    const sockets = new Sockets({ ...gatewayLimits, socketsPerValMax: 2, socketsMax: 3 }, deadlines)
    const first = open(sockets)
    open(sockets)
    expect(() => sockets.assertRoom("val")).toThrow("2 open already")
    sockets.assertRoom("other")
    open(sockets, "other")
    expect(() => sockets.assertRoom("third")).toThrow("too many")
    first.relay.clientClosed(1000, "")
    sockets.assertRoom("val")
    sockets.stop()
  })

  test("closes whatever is open when it stops", () => {
    const sockets = new Sockets(gatewayLimits, deadlines)
    const { val, client, ends, join } = open(sockets)
    join()
    sockets.stop()
    expect([client.closedWith?.[0], val.closedWith?.[0], ends]).toEqual([1001, 1001, ["closed"]])
  })

  test("keeps what the val says before the client is there, its end included", () => {
    const { val, client, ends, join } = open(new Sockets(gatewayLimits, deadlines))
    val.says("a")
    val.says("b")
    val.ends(4000, "bye")
    expect(ends).toEqual([])
    join()
    expect([client.sent, client.closedWith, ends]).toEqual([["a", "b"], [4000, "bye"], ["closed"]])
  })

  test("does not keep more than a socket may have, nor more than all may have together", () => {
    const sockets = new Sockets(
      { ...gatewayLimits, backlogBytesMax: 100, backlogBytesTotalMax: 150 },
      deadlines,
    )
    const slow = open(sockets)
    slow.join()
    slow.client.buffered = 100
    slow.val.says("x")
    expect(slow.ends).toEqual([])
    const second = open(sockets)
    second.join()
    second.client.buffered = 60
    second.val.says("x")
    expect([
      second.ends,
      second.client.isTerminated,
      second.client.closedWith?.[0],
      second.val.closedWith?.[0],
    ]).toEqual([["closed"], true, 1008, 1008])
    slow.client.buffered = 101
    slow.val.says("x")
    expect(slow.ends).toEqual(["closed"])
    // What the two had is free again.
    const third = open(sockets)
    third.join()
    third.client.buffered = 90
    third.val.says("x")
    expect(third.ends).toEqual([])
    third.client.buffered = 0
    third.relay.clientDrained()
    const early = open(sockets)
    early.val.says("x".repeat(101))
    expect(early.ends).toEqual(["closed"])
    sockets.stop()
  })

  test("closes on a val that does not read", () => {
    const sockets = new Sockets({ ...gatewayLimits, backlogBytesMax: 100 }, deadlines)
    const { val, ends, relay, join } = open(sockets)
    join()
    val.bufferedAmount = 101
    relay.clientSaid("x")
    expect([val.sent, ends]).toEqual([["x"], ["closed"]])
  })

  test("ends what is open for too long", () => {
    const { val, client, ends, relay, join } = open(
      new Sockets({ ...gatewayLimits, streamMsMax: 1000 }, deadlines),
    )
    join()
    expect(relay.check(performance.now() + 900)).toBe(false)
    expect(relay.check(performance.now() + 1100)).toBe(true)
    expect([client.closedWith?.[0], val.closedWith?.[0], ends]).toEqual([1001, 1001, ["expired"]])
  })

  for (const [code, told] of [
    [1006, 1011],
    [1015, 1011],
    [1005, undefined],
    [1003, 1003],
  ] as const) {
    test(`turns the val's ${code} into ${told ?? "none"}`, () => {
      const { val, client, join } = open(new Sockets(gatewayLimits, deadlines))
      join()
      val.ends(code)
      expect(client.closedWith?.[0]).toBe(told)
    })
  }
})

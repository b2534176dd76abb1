import { afterAll, describe, expect, test } from "bun:test"
import { Watchdog } from "@hamlet/kit"
import { waitUntil } from "@hamlet/kit/testing"
import { gatewayLimits as defaults } from "../limits.ts"
import type { ClientSocket, SocketEnd } from "./socket-relay.ts"
import { Sockets } from "./sockets.ts"

/** No test depends on how long it takes. */
const gatewayLimits = { ...defaults, forwardMsMax: Number.POSITIVE_INFINITY }
const deadlines = new Watchdog(1_000_000)
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
  isTerminated = false
  terminate(): void {
    this.isTerminated = true
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

function open(sockets: Sockets, accountId = "ada") {
  const val = new ValSocket()
  const client = new Client()
  const ends: SocketEnd[] = []
  const relay = sockets.add(accountId, val as unknown as WebSocket, (end) => ends.push(end))
  return {
    val,
    client,
    ends,
    relay,
    join: () => relay.clientOpened(client as unknown as ClientSocket),
  }
}

describe("Sockets", () => {
  test("limits the places of a val, of an account and of all, and counts released ones no more", () => {
    const limits = { ...gatewayLimits, socketsPerValMax: 2, socketsPerAccountMax: 3, socketsMax: 4 }
    const sockets = new Sockets(limits, deadlines)
    const release = sockets.reserve("ada", "one")
    sockets.reserve("ada", "one")
    expect(() => sockets.reserve("ada", "one")).toThrow("the val already has 2 open")
    const releaseOther = sockets.reserve("ada", "other")
    expect(() => sockets.reserve("ada", "third")).toThrow("of its owner already have 3 open")
    sockets.reserve("bob", "his")
    expect(() => sockets.reserve("eve", "hers")).toThrow("the server already has too many open")
    release()
    release()
    sockets.reserve("eve", "hers")
    releaseOther()
    sockets.reserve("ada", "one")
  })

  test("closes all sockets on stop", () => {
    const sockets = new Sockets(gatewayLimits, deadlines)
    const { val, client, ends, join } = open(sockets)
    join()
    sockets.stop()
    expect([client.closedWith?.[0], val.closedWith?.[0], ends]).toEqual([1001, 1001, ["closed"]])
  })

  test("buffers messages and the close of the val until the client's side is open", async () => {
    const { val, client, ends, join } = open(new Sockets(gatewayLimits, deadlines))
    val.sends("a")
    val.sends("b")
    val.ends(4000, "bye")
    expect(ends).toEqual([])
    join()
    await waitUntil(() => ends.length > 0)
    expect([client.sent, client.closedWith, ends]).toEqual([["a", "b"], [4000, "bye"], ["closed"]])
  })

  /** A socket whose client has left that many bytes unread. */
  function openSlow(sockets: Sockets, accountId: string, bytes: number) {
    const slow = open(sockets, accountId)
    slow.join()
    slow.client.buffered = bytes
    slow.val.sends("x")
    return slow
  }

  test("limits the backlog of one socket, also before its client's side is open", () => {
    const sockets = new Sockets({ ...gatewayLimits, backlogBytesMax: 100 }, deadlines)
    const slow = openSlow(sockets, "ada", 100)
    expect(slow.ends).toEqual([])
    slow.client.buffered = 101
    slow.val.sends("x")
    expect([slow.ends, slow.client.isTerminated, slow.val.closedWith?.[0]]).toEqual([
      ["closed"],
      true,
      1008,
    ])
    const early = open(sockets)
    early.val.sends("x".repeat(101))
    expect(early.ends).toEqual(["closed"])
    sockets.stop()
  })

  test("cuts the largest backlog of an account that has more than its share", () => {
    const limits = { ...gatewayLimits, backlogBytesPerAccountMax: 150, backlogBytesTotalMax: 200 }
    const sockets = new Sockets(limits, deadlines)
    const [small, large] = [openSlow(sockets, "ada", 60), openSlow(sockets, "ada", 80)]
    const other = openSlow(sockets, "bob", 20)
    const next = openSlow(sockets, "ada", 20)
    expect([small.ends, large.ends, other.ends, next.ends]).toEqual([[], ["closed"], [], []])
    expect(large.client.isTerminated).toBe(true)
    // What it held is free again.
    expect([openSlow(sockets, "ada", 70).ends, small.ends]).toEqual([[], []])
    sockets.stop()
  })

  test("cuts the largest backlog of the account with the most when all have too much", () => {
    const limits = { ...gatewayLimits, backlogBytesPerAccountMax: 150, backlogBytesTotalMax: 200 }
    const sockets = new Sockets(limits, deadlines)
    const [first, second] = [openSlow(sockets, "ada", 50), openSlow(sockets, "ada", 60)]
    const single = openSlow(sockets, "bob", 80)
    const last = openSlow(sockets, "eve", 20)
    expect([first.ends, second.ends, single.ends, last.ends]).toEqual([[], ["closed"], [], []])
    // A client that has read everything holds nothing.
    single.client.buffered = 0
    single.relay.clientDrained()
    expect([openSlow(sockets, "eve", 120).ends, first.ends, last.ends]).toEqual([[], [], []])
    sockets.stop()
  })

  test("cuts a socket whose client, or whose val, reads nothing for too long", () => {
    const { stalledMsMax } = gatewayLimits
    const sockets = new Sockets({ ...gatewayLimits, streamMsMax: 10 * stalledMsMax }, deadlines)
    const slow = openSlow(sockets, "ada", 100)
    const stalled = openSlow(sockets, "ada", 100)
    const deaf = open(sockets)
    deaf.join()
    deaf.val.bufferedAmount = 100
    deaf.relay.clientSent("x")
    const laterMs = performance.now() + stalledMsMax + 1
    // The slow client has read a byte, and gets more than that.
    slow.client.buffered = 99
    expect([slow, stalled, deaf].map(({ relay }) => relay.check(laterMs))).toEqual([
      false,
      true,
      true,
    ])
    expect([stalled.ends, stalled.client.isTerminated]).toEqual([["closed"], true])
    expect([deaf.ends, deaf.val.isTerminated]).toEqual([["closed"], true])
    slow.val.sends("x")
    slow.client.buffered = 200
    expect(slow.relay.check(laterMs + stalledMsMax - 1)).toBe(false)
    slow.client.buffered = 0
    expect(slow.relay.check(laterMs + 2 * stalledMsMax)).toBe(false)
    sockets.stop()
  })

  test("forwards a close when the other side has read everything, and holds its bytes till then", () => {
    const limits = { ...gatewayLimits, backlogBytesPerAccountMax: 150 }
    const sockets = new Sockets(limits, deadlines)
    const { val, client, ends, relay } = openSlow(sockets, "ada", 100)
    val.ends(4000, "bye")
    expect([client.closedWith, ends]).toEqual([undefined, []])
    expect(openSlow(sockets, "ada", 90).ends).toEqual([])
    expect([ends, client.isTerminated]).toEqual([["closed"], true])

    const reader = openSlow(sockets, "ada", 10)
    reader.val.ends(4000, "bye")
    reader.client.buffered = 0
    reader.relay.clientDrained()
    expect([reader.client.closedWith, reader.ends]).toEqual([[4000, "bye"], ["closed"]])

    const left = open(sockets)
    left.join()
    left.val.bufferedAmount = 5
    left.relay.clientSent("x")
    left.relay.clientClosed(4001, "done")
    expect([left.val.closedWith, left.ends]).toEqual([undefined, []])
    left.val.bufferedAmount = 0
    expect(left.relay.check(performance.now())).toBe(true)
    expect([left.val.closedWith, left.ends]).toEqual([[4001, "done"], ["closed"]])
    expect(relay.check(performance.now())).toBe(true)
    sockets.stop()
  })

  test("ends when both sides have closed it, whatever is unread", () => {
    const sockets = new Sockets(gatewayLimits, deadlines)
    const one = openSlow(sockets, "ada", 100)
    one.val.ends(1006)
    one.relay.clientClosed(1001, "")
    const other = open(sockets)
    other.join()
    other.val.bufferedAmount = 5
    other.relay.clientSent("x")
    other.relay.clientClosed(1001, "")
    other.val.ends(1006)
    expect([one.ends, other.ends]).toEqual([["broken"], ["closed"]])
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

  test("lets messages beyond those of a second wait, in order, and forwards a close behind them", async () => {
    const sockets = new Sockets({ ...gatewayLimits, messagesPerSecondMax: 100 }, deadlines)
    const { val, client, ends, relay, join } = open(sockets)
    join()
    const messages = Array.from({ length: 150 }, (_, index) => String(index))
    for (const message of messages) {
      relay.clientSent(message)
      val.sends(message)
    }
    relay.clientClosed(1000, "")
    // A hundred at once, and one more for each 10 ms that this took.
    expect(val.sent.length).toBeLessThan(150)
    expect(client.sent.length).toBeLessThan(150)
    expect(ends).toEqual([])
    await waitUntil(() => ends.length > 0)
    expect([val.sent, val.closedWith?.[0], ends]).toEqual([messages, 1000, ["closed"]])
  })

  test.each(["client", "val"])("cuts a socket with too many messages of the %s", (sender) => {
    const limits = { ...gatewayLimits, messagesPerSecondMax: 10, backlogBytesMax: 1_290 }
    const { val, client, ends, relay, join } = open(new Sockets(limits, deadlines))
    join()
    const send = () => (sender === "val" ? val.sends("x") : relay.clientSent("x"))
    let sent = 0
    for (; ends.length === 0; sent++) send()
    // Ten that wait are allowed, as many as a second allows are sent before, and one more for each
    // 100 ms that this takes.
    expect([11 <= sent, sent <= 30]).toEqual([true, true])
    expect(ends).toEqual(["closed"])
    expect(sender === "val" ? client.isTerminated : val.isTerminated).toBe(true)
    const other = sender === "val" ? val : client
    expect(other.closedWith).toEqual([1008, "too many messages"])
    send()
    expect(ends).toEqual(["closed"])
  })
})

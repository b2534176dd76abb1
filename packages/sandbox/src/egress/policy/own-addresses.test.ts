import { expect, test } from "bun:test"
import { networkInterfaces } from "node:os"
import { createReadOwnAddresses } from "./own-addresses.ts"

test("createReadOwnAddresses lists every address of this machine", () => {
  const own = createReadOwnAddresses()()
  const listed = Object.values(networkInterfaces()).flatMap(
    (list) => list?.filter(({ family }) => family === "IPv4") ?? [],
  )
  expect(listed.map(({ address }) => address).filter((address) => !own.has(address))).toEqual([])
  expect(own.has("127.0.0.1")).toBe(true)
})

test("createReadOwnAddresses uses the canonical notation and skips invalid addresses", () => {
  const list = () => [
    "93.184.216.34",
    "2001:0DB8:0:0:0:0:0:1",
    "::ffff:93.184.216.35",
    "fe80::1%eth0",
    "eth0",
  ]
  expect([...createReadOwnAddresses({ list })()]).toEqual([
    "93.184.216.34",
    "2001:db8::1",
    "93.184.216.35",
    "fe80::1",
  ])
})

test("createReadOwnAddresses returns the same set until the interfaces change, and a new one within a second", () => {
  let addresses = ["93.184.216.34"]
  let nowMs = 0
  const read = createReadOwnAddresses({ list: () => addresses, nowMs: () => nowMs })
  const first = read()
  nowMs = 5_000
  expect(read()).toBe(first)
  addresses = ["93.184.216.35"]
  expect(read()).toBe(first)
  nowMs = 6_000
  expect([...read()]).toEqual(["93.184.216.35"])
  addresses = []
  nowMs = 7_000
  expect(read().size).toBe(0)
})

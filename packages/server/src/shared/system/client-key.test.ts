import { expect, test } from "bun:test"
import { toClientKey } from "./client-key.ts"

test.each([
  ["192.0.2.1", "192.0.2.1"],
  ["::ffff:192.0.2.1", "192.0.2.1"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
  ["2001:db8:1:2::9", "2001:db8:1:2::/64"],
  ["2001:db8::9", "2001:db8:0:0::/64"],
  ["a val", "a val"],
])("the client at %s counts as %s", (address, key) => {
  expect(toClientKey(address)).toBe(key)
})

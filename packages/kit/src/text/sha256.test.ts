import { expect, test } from "bun:test"
import { isSameSecret, sha256 } from "./sha256.ts"

test("sha256 hashes texts and bytes alike", () => {
  const hash = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
  expect(sha256("abc").toString("hex")).toBe(hash)
  expect(sha256(Buffer.from("abc")).toString("hex")).toBe(hash)
})

test("isSameSecret compares secrets of any length", () => {
  expect([isSameSecret("abc", "abc"), isSameSecret("abc", Buffer.from("abc"))]).toEqual([
    true,
    true,
  ])
  expect([isSameSecret("abc", "abd"), isSameSecret("abc", "abcd"), isSameSecret("", "a")]).toEqual([
    false,
    false,
    false,
  ])
})

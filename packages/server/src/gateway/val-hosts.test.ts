import { describe, expect, test } from "bun:test"
import { createValHosts } from "./val-hosts.ts"

const hosts = createValHosts("Vals.Example:8080", "https://app.vals.example", 3)

describe("ValHosts.parse", () => {
  for (const host of [
    "ada-hello.vals.example",
    "ADA-Hello.VALS.example",
    "ada-hello.vals.example.",
  ]) {
    test(`finds the names in ${host}`, () => {
      expect(hosts.parse(host)).toEqual({
        host: "ada-hello.vals.example",
        id: undefined,
        username: "ada",
        name: "hello",
      })
    })
  }

  test("keeps the port", () => {
    expect(hosts.parse("a_1-b_2.vals.example:99")).toMatchObject({
      host: "a_1-b_2.vals.example:99",
      username: "a_1",
      name: "b_2",
    })
  })

  test("finds a pass, in lower case, and only if it is well-formed", () => {
    const pass = `${"a2".repeat(25)}za`
    expect(hosts.parse(`${pass.toUpperCase()}.vals.example:1`)).toEqual({
      host: `${pass}.vals.example:1`,
      id: undefined,
      pass,
      username: "",
      name: "",
    })
    for (const label of [
      `${pass}a`,
      pass.slice(1),
      `${pass.slice(0, -1)}b`,
      `1${pass.slice(1)}`,
      `a-${pass}`,
      `x.${pass}`,
    ])
      expect(hosts.parse(`${label}.vals.example`)?.pass).toBeUndefined()
  })

  test("finds an id", () => {
    const id = "018f0a1b-2c3d-7e4f-8a5b-6c7d8e9f0a1b"
    const bare = id.replaceAll("-", "")
    expect(hosts.parse(`${bare.toUpperCase()}.vals.example`)).toMatchObject({ id })
    expect(hosts.parse(`ADA_1--${bare}.vals.example:1`)).toEqual({
      host: `ada_1--${bare}.vals.example:1`,
      id,
      username: "",
      name: "",
    })
    for (const label of [
      `ada-${bare}`,
      `ada---${bare}`,
      `--${bare}`,
      `1--${bare}`,
      `ada--${bare}0`,
    ])
      expect(hosts.parse(`${label}.vals.example`)?.id).toBeUndefined()
  })

  const nonsense = [
    "vals.example",
    "ada.vals.example",
    "a--b.vals.example",
    "1-a.vals.example",
    "-.vals.example",
    "a-.vals.example",
  ]
  const more = [
    "x.a-b.vals.example",
    "u@a-b.vals.example",
    "c, a-b.vals.example",
    "a-b.vals.example..",
    "a-b.vals.example:x",
    "a-bvals.example",
  ]
  const evenMore = [
    `${"0".repeat(31)}.vals.example`,
    `${"g".repeat(32)}.vals.example`,
    `a-${"b".repeat(300)}.vals.example`,
    "",
    " ",
    "ä-b.vals.example",
  ]
  for (const host of [...nonsense, ...more, ...evenMore]) {
    test(`finds nothing in "${host.slice(0, 40)}"`, () => {
      expect(hosts.parse(host)).toBeUndefined()
    })
  }
})

describe("ValHosts.isValHost", () => {
  for (const host of [
    "ada-hello.vals.example",
    "anything.vals.example:1",
    ".vals.example",
    "X.VALS.EXAMPLE.",
  ]) {
    test(`is true for ${host}`, () => expect(hosts.isValHost(host)).toBe(true))
  }
  for (const host of [
    "app.vals.example",
    "APP.vals.example:443",
    "vals.example",
    "127.0.0.1:8080",
    "evilvals.example",
    "a-b.vals.example.evil",
    // Two Host headers; the API refuses them.
    "c, d.vals.example",
    "",
  ]) {
    test(`is false for "${host}"`, () => expect(hosts.isValHost(host)).toBe(false))
  }
})

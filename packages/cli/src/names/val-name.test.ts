import { describe, expect, test } from "bun:test"
import { CliError } from "../cli-error.ts"
import { parseValName } from "./val-name.ts"

const id = "0190a6b1-7e3c-7c4d-8f5e-0123456789ab"
const own = (name: string, version?: number) => ({
  kind: "own",
  username: "",
  name,
  id: "",
  version,
})
const named = (username: string, name: string, version?: number) => ({
  kind: "named",
  username,
  name,
  id: "",
  version,
})
const byId = (version?: number) => ({ kind: "id", username: "", name: "", id, version })

describe("parseValName", () => {
  const table: readonly (readonly [text: string, candidates: readonly object[]])[] = [
    ["hello", [own("hello")]],
    ["hello@3", [own("hello", 3)]],
    [".config", [own(".config")]],
    ["ada/.config@2", [named("ada", ".config", 2)]],
    ["ada/hello", [named("ada", "hello")]],
    ["@ada/hello@12", [named("ada", "hello", 12)]],
    [id.toUpperCase(), [byId()]],
    ["http://localhost:8080/v/ada/hello", [named("ada", "hello")]],
    ["http://localhost:8080/v/ada/hello@3", [named("ada", "hello", 3)]],
    ["https://vals.example/base/u/ada/hello/?x#y", [named("ada", "hello")]],
    ["https://vals.example/v1/alias/@ada/hello", [named("ada", "hello")]],
    [`https://vals.example/v1/vals/${id}`, [byId()]],
    [`https://vals.example/v1/vals/${id}/versions/4`, [byId(4)]],
    ["http://ada-hello.localhost:8080/some/path", [named("ada", "hello")]],
    [
      "http://ada-hello.localhost:8080/v/grace/world",
      [named("grace", "world"), named("ada", "hello")],
    ],
    [`http://${id.replaceAll("-", "")}.localhost/`, [byId()]],
    ["HTTP://my-server.example/u/ada/hello", [named("ada", "hello"), named("my", "server")]],
  ]
  for (const [text, candidates] of table)
    test(`reads ${text}`, () =>
      expect(parseValName(text).candidates as readonly object[]).toEqual(candidates))

  for (const text of [
    "",
    " ",
    "a b",
    "1a",

    "a/b/c",
    "../etc/passwd",
    "a@",
    "a@x",
    "a@-1",
    "@a",
    "/a",
    "a/",
    "http://",
    "http://localhost",
    "https://vals.example/u/ada",
    "ftp://ada-hello.localhost",
    "é",
  ])
    test(`refuses "${text}"`, () => expect(() => parseValName(text)).toThrow(CliError))

  test("returns the host of a URL, and none for a name", () => {
    expect([
      parseValName("http://ada-hello.localhost:8080/").host,
      parseValName("ada/hello").host,
    ]).toEqual(["ada-hello.localhost:8080", undefined])
  })
})

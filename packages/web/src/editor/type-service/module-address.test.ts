import { describe, expect, test } from "bun:test"
import { findModuleAddress } from "./module-address.ts"

const base = "http://localhost:8080"
const importer = "/v/ada/hello.tsx"

describe("findModuleAddress", () => {
  test.each([
    [`${base}/v/ada/greet`, "/v/ada/greet"],
    [`${base}/v/@Ada/Greet@3`, "/v/ada/greet@3"],
    ["/v/ada/greet", "/v/ada/greet"],
    ["./greet@12", "/v/ada/greet@12"],
    ["../bob/greet", "/v/bob/greet"],
    ["https://esm.town/v/ada/greet", "/v/ada/greet"],
    ["https://esm.town/v/ada/greet?v=4", "/v/ada/greet@4"],
    ["https://esm.town/v/ada/greet@2?v=4", "/v/ada/greet@2"],
    ["./greet?v=4", "/v/ada/greet@4"],
    ["https://esm.town/v/std/blob", "/std/blob"],
    ["https://esm.town/v/std/blob@12/main.ts", "/std/blob/main"],
    ["https://esm.town/v/std/sqlite/global.ts", "/std/sqlite"],
    ["/std/sqlite/main.ts", "/std/sqlite/main"],
    ["https://esm.town/v/std/OpenAI", "/std/openai"],
    ["https://esm.town/v/std/utils@85-main/index.ts", "/std/utils"],
    ["/std/sqlite.ts", "/std/sqlite"],
    [`${base}/std/sqlite`, "/std/sqlite"],
    ["/v/ada/greet@draft", "/v/ada/greet@draft"],
    ["/v/ada/greet/lib/Db.ts", "/v/ada/greet/lib/Db.ts"],
    [`${base}/v/ada/greet@3-draft/lib/db.ts`, "/v/ada/greet@3-draft/lib/db.ts"],
    // Here it is a user who is called std.
    [`${base}/v/std/blob`, "/v/std/blob"],
  ])("takes %s for %s", (specifier, path) => {
    expect(findModuleAddress(specifier, importer, base)?.path).toBe(path)
  })

  test.each([
    "lodash",
    "npm:hono",
    "node:fs",
    "jsr:@std/path",
    "https://esm.sh/react",
    "https://esm.town/about",
    `${base}/v/ada`,
    "./lib/db.ts",
    "http://[",
    "",
  ])("knows nothing of %s", (specifier) => {
    expect(findModuleAddress(specifier, importer, base)).toBeUndefined()
  })

  test("resolves what a module of a pinned version imports beside itself", () => {
    expect(findModuleAddress("./other", "/v/bob/greet@3.tsx", base)?.fileName).toBe(
      "/v/bob/other.tsx",
    )
  })

  test("resolves the files of a val within their version, and other vals beside it", () => {
    const find = (specifier: string, from: string) =>
      findModuleAddress(specifier, from, base)?.fileName
    const main = "/v/ada/hello/main.tsx"
    expect(find("./lib/db.ts", main)).toBe("/v/ada/hello/lib/db.ts")
    expect(find("./data.json", main)).toBe("/v/ada/hello/data.json")
    expect(find("../main.tsx", "/v/ada/hello@3-main/lib/db.ts")).toBe(
      "/v/ada/hello@3-main/main.tsx",
    )
    expect(find("./greet", main)).toBe("/v/ada/greet.tsx")
    expect(find("./greet", "/v/ada/hello@3-main/main.tsx")).toBe("/v/ada/greet.tsx")
    expect(find("../../other/x.ts", main)).toBeUndefined()
    expect(find("../x.ts", main)).toBeUndefined()
  })

  test("keeps to the path of a server that has one", () => {
    expect(
      findModuleAddress("https://host/hamlet/v/ada/greet", importer, "https://host/hamlet/")?.path,
    ).toBe("/v/ada/greet")
    expect(
      findModuleAddress("https://host/v/ada/greet", importer, "https://host/hamlet/"),
    ).toBeUndefined()
    expect(findModuleAddress("./greet", importer, "https://host/hamlet")?.path).toBe("/v/ada/greet")
  })
})

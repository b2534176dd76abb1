import { describe, expect, test } from "bun:test"
import { asOwner } from "../domain/access/rights.ts"
import type { Val } from "../domain/vals/vals.ts"
import { createFindVal } from "./find-val.ts"

const address = { host: "ada-hello.localhost", id: undefined, username: "ada", name: "hello" }
const hello = {
  id: "1",
  ownerName: "Ada",
  name: "Hello",
  privacy: "public",
  endpointFileId: null,
  mailFileId: null,
  file: { id: "1" },
} as Val

/** A store with these vals, and the list of its calls. */
function open(...stored: Val[]) {
  const vals = new Map(stored.map((val) => [val.id, val]))
  const files = new Map<string, Val>()
  const calls: string[] = []
  const find = createFindVal(
    {
      async findById(id) {
        calls.push("id")
        return vals.get(id)
      },
      async findByFile(id) {
        calls.push("file")
        return files.get(id)
      },
      async findByName(username, name, viewer) {
        const [viewerId] = viewer?.roles.keys() ?? []
        calls.push(viewerId === undefined ? "name" : `name for ${viewerId}`)
        return [...vals.values()].find(
          (val) => val.ownerName.toLowerCase() === username && val.name.toLowerCase() === name,
        )
      },
    },
    (pass) => (pass === "good" ? hello.id : undefined),
    2,
  )
  return { vals, files, calls, find }
}

describe("createFindVal", () => {
  test("finds by name once, then by id", async () => {
    const { calls, find } = open(hello)
    expect([
      await find(address, undefined),
      await find(address, undefined),
      await find(address, undefined),
    ]).toEqual([hello, hello, hello])
    expect(calls).toEqual(["name", "id", "id"])
  })

  test("finds the val with these names after a rename, a replacement or a deletion", async () => {
    const { vals, find } = open(hello)
    await find(address, undefined)
    vals.set("1", { ...hello, name: "other" })
    expect(await find(address, undefined)).toBeUndefined()
    vals.set("2", { ...hello, id: "2" })
    expect((await find(address, undefined))?.id).toBe("2")
    vals.delete("2")
    expect(await find(address, undefined)).toBeUndefined()
    vals.set("3", { ...hello, id: "3" })
    expect((await find(address, undefined))?.id).toBe("3")
  })

  test("calls the store for a private val as for one that does not exist", async () => {
    const { vals, calls, find } = open({ ...hello, privacy: "private" })
    await find(address, undefined)
    await find(address, undefined)
    expect(calls).toEqual(["name", "name"])
    vals.set("1", hello)
    await find(address, undefined)
    vals.set("1", { ...hello, privacy: "private" })
    await find(address, undefined)
    await find(address, undefined)
    expect(calls.slice(-1)).toEqual(["name"])
  })

  test("finds by name on behalf of the viewer", async () => {
    const { calls, find } = open(hello)
    await find(address, asOwner("bob"))
    await find({ ...address, host: "other" }, undefined)
    expect(calls).toEqual(["name for bob", "name"])
  })

  test("caches a limited number of addresses", async () => {
    const { calls, find } = open(hello)
    for (const host of ["a", "b", "c"]) await find({ ...address, host }, undefined)
    await find({ ...address, host: "a" }, undefined)
    await find({ ...address, host: "c" }, undefined)
    expect(calls).toEqual(["name", "name", "name", "name", "id"])
  })

  test("finds by the id of the address", async () => {
    const { calls, find } = open(hello)
    expect(await find({ host: "x", id: "1", username: "", name: "" }, undefined)).toEqual(hello)
    expect(calls).toEqual(["file", "id"])
  })

  test("finds the val of a file by its id, unless it is that of the val", async () => {
    const { files, calls, find } = open(hello)
    const side = { ...hello, code: "side" }
    for (const id of ["1", "2"]) files.set(id, side)
    const at = { host: "x", username: "", name: "" }
    expect(await find({ ...at, id: "2" }, undefined)).toBe(side)
    expect(calls).toEqual(["file"])
    expect(await find({ ...at, id: "1" }, undefined)).toBe(hello)
  })

  test("finds the file that has the address of the val", async () => {
    const val = { ...hello, endpointFileId: "2" }
    const { files, find } = open(val)
    const at = { host: "x", id: "1", username: "", name: "" }
    expect([await find(address, undefined), await find(at, undefined)]).toEqual([
      undefined,
      undefined,
    ])
    const side = { ...val, file: { ...val.file, id: "2" } }
    files.set("2", side)
    for (const one of [address, address, at]) expect(await find(one, undefined)).toBe(side)
  })

  test("finds only the val that the pass opens", async () => {
    const { calls, find } = open(hello)
    expect(await find({ ...address, username: "", name: "", pass: "good" }, undefined)).toBe(hello)
    expect(
      await find({ ...address, username: "", name: "", pass: "bad" }, undefined),
    ).toBeUndefined()
    expect(calls).toEqual(["file", "id"])
  })
})

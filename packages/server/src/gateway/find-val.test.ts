import { describe, expect, test } from "bun:test"
import type { Val } from "../domain/vals/vals.ts"
import { createFindVal } from "./find-val.ts"

const address = { host: "ada-hello.localhost", id: undefined, username: "ada", name: "hello" }
const hello = { id: "1", ownerName: "Ada", name: "Hello", privacy: "public" } as Val

/** A store that holds these vals, and tells how it was asked. */
function open(...kept: Val[]) {
  const vals = new Map(kept.map((val) => [val.id, val]))
  const asked: string[] = []
  const find = createFindVal(
    {
      async findById(id) {
        asked.push("id")
        return vals.get(id)
      },
      async findByName(username, name, viewerId) {
        asked.push(viewerId === undefined ? "name" : `name for ${viewerId}`)
        return [...vals.values()].find(
          (val) => val.ownerName.toLowerCase() === username && val.name.toLowerCase() === name,
        )
      },
    },
    (pass) => (pass === "good" ? hello.id : undefined),
    2,
  )
  return { vals, asked, find }
}

describe("createFindVal", () => {
  test("asks for names once, and by the id from then on", async () => {
    const { asked, find } = open(hello)
    expect([
      await find(address, undefined),
      await find(address, undefined),
      await find(address, undefined),
    ]).toEqual([hello, hello, hello])
    expect(asked).toEqual(["name", "id", "id"])
  })

  test("finds who has the names now when the val was renamed, replaced or deleted", async () => {
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

  test("looks for a private val as it looks for one that does not exist", async () => {
    const { vals, asked, find } = open({ ...hello, privacy: "private" })
    await find(address, undefined)
    await find(address, undefined)
    expect(asked).toEqual(["name", "name"])
    vals.set("1", hello)
    await find(address, undefined)
    vals.set("1", { ...hello, privacy: "private" })
    await find(address, undefined)
    await find(address, undefined)
    expect(asked.slice(-1)).toEqual(["name"])
  })

  test("asks for names on behalf of the principal", async () => {
    const { asked, find } = open(hello)
    await find(address, "bob")
    await find({ ...address, host: "other" }, undefined)
    expect(asked).toEqual(["name for bob", "name"])
  })

  test("keeps so many addresses and no more", async () => {
    const { asked, find } = open(hello)
    for (const host of ["a", "b", "c"]) await find({ ...address, host }, undefined)
    await find({ ...address, host: "a" }, undefined)
    await find({ ...address, host: "c" }, undefined)
    expect(asked).toEqual(["name", "name", "name", "name", "id"])
  })

  test("takes an id as it is", async () => {
    const { asked, find } = open(hello)
    expect(await find({ host: "x", id: "1", username: "", name: "" }, undefined)).toEqual(hello)
    expect(asked).toEqual(["id"])
  })

  test("asks for nothing but the val that a pass opens", async () => {
    const { asked, find } = open(hello)
    expect(await find({ ...address, username: "", name: "", pass: "good" }, undefined)).toBe(hello)
    expect(
      await find({ ...address, username: "", name: "", pass: "bad" }, undefined),
    ).toBeUndefined()
    expect(asked).toEqual(["id"])
  })
})

import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { valName } from "@hamlet/contract"
import { sql } from "@hamlet/database"
import { codeOf, openRules, type TestRules } from "../../../test/support/rules.ts"
import type { Caller } from "../access/caller.ts"
import { asOwner, assertMayChange, canSee, type Privacy, valNotFound } from "../access/rights.ts"
import { assertUnchanged, type Val } from "./vals.ts"

let rules: TestRules
let ada: Caller
let bob: Caller
/** Ada's, one of each privacy. */
const vals = {} as Record<Privacy, Val>

beforeAll(async () => {
  rules = await openRules()
  ada = await rules.addCaller("ada")
  bob = await rules.addCaller("bob")
  for (const privacy of ["public", "unlisted", "private"] as const) {
    vals[privacy] = await rules.nouns.vals.create(ada, { name: privacy, code: "1", privacy })
  }
})

afterAll(() => rules[Symbol.asyncDispose]())

const outcomeOf = (work: () => unknown) =>
  codeOf(async () => {
    await work()
    throw Object.assign(new Error(), { code: "done" })
  })

describe("access to a val of another user", () => {
  const table: readonly [Privacy, "ada" | "bob" | "nobody", see: boolean, change: string][] = [
    ["public", "ada", true, "done"],
    ["public", "bob", true, "not_owner"],
    ["public", "nobody", true, ""],
    ["unlisted", "ada", true, "done"],
    ["unlisted", "bob", true, "not_owner"],
    ["unlisted", "nobody", true, ""],
    ["private", "ada", true, "done"],
    ["private", "bob", false, "val_not_found"],
    ["private", "nobody", false, ""],
  ]
  test.each(table)("decide about a %s val for caller %s", async (privacy, who, isSeen, change) => {
    const caller = { ada, bob, nobody: undefined }[who]
    const val = vals[privacy]

    expect(canSee(val, caller)).toBe(isSeen)
    expect(await outcomeOf(() => rules.nouns.vals.get(caller, val.id))).toBe(
      isSeen ? "done" : "val_not_found",
    )
    expect(await outcomeOf(() => rules.nouns.vals.getByName(caller, "ada", privacy))).toBe(
      isSeen ? "done" : "val_not_found",
    )
    // The store itself does not give it to others, so that nothing of it is read for them.
    expect((await rules.stores.vals.findByName("ada", privacy, caller))?.id).toBe(
      isSeen ? val.id : undefined,
    )
    if (!caller) return
    expect(await outcomeOf(() => assertMayChange(val, caller))).toBe(change)
    // None of these has an effect: the first changes nothing, the others would only after the
    // version that they wait for.
    expect(
      await outcomeOf(() => rules.nouns.vals.change(caller, val.id, { privacy }, undefined)),
    ).toBe(change)
    const late = change === "done" ? "version_conflict" : change
    expect(
      await outcomeOf(() => rules.nouns.versions.save(caller, val.id, { code: "2" }, 99)),
    ).toBe(late)
    expect(await outcomeOf(() => rules.nouns.vals.delete(caller, val.id, 99))).toBe(late)
  })

  test("getVal responds to other users as if a private val did not exist", async () => {
    const words = async (id: string) =>
      String(await rules.nouns.vals.get(bob, id).catch((error: unknown) => error)).replace(id, "ID")
    expect(await words(vals.private.id)).toBe(await words(rules.clock.newId()))
    expect(valNotFound("ID")).toMatchObject({
      code: "val_not_found",
      message: 'Cannot find val "ID"',
    })
  })

  test("saveVersion scans the code only if the caller is the owner", async () => {
    const read: string[] = []
    const scanImports = async (code: string, ownerId: string) => {
      read.push(`${code} of ${ownerId}`)
      return []
    }
    const nouns = rules.createNouns({ scanImports })
    for (const [caller, id] of [
      [bob, vals.public.id],
      [bob, vals.private.id],
      [ada, rules.clock.newId()],
    ] as const) {
      await outcomeOf(() => nouns.versions.save(caller, id, { code: 'import "2"' }, undefined))
    }
    await outcomeOf(() => nouns.versions.save(ada, vals.public.id, { code: 'import "1"' }, 99))
    expect(read).toEqual([`import "1" of ${ada.ownerId}`])
  })
})

describe("getValByName", () => {
  test("finds by names, ignoring case, with or without an @", async () => {
    for (const [user, name] of [
      ["ada", "public"],
      ["ADA", "PUBLIC"],
      ["@Ada", "Public"],
    ] as const) {
      expect(await rules.nouns.vals.getByName(undefined, user, name)).toEqual(vals.public)
    }
    for (const [user, name] of [
      ["@@ada", "public"],
      ["bob", "public"],
      ["ada", "publi_"],
      ["ada", "%"],
      ["", ""],
    ] as const) {
      expect(await codeOf(rules.nouns.vals.getByName(undefined, user, name))).toBe("val_not_found")
    }
  })
})

describe("assertUnchanged", () => {
  test.each([
    [undefined, "done"],
    [1, "done"],
    [0, "version_conflict"],
    [2, "version_conflict"],
    [1.5, "version_conflict"],
  ])("against a val at version 1, seen at %p", async (seen, expected) => {
    expect(await outcomeOf(() => assertUnchanged(vals.public, seen))).toBe(expected)
  })
})

describe("createVal", () => {
  test("creates a private script without a readme by default", async () => {
    const val = await rules.nouns.vals.create(ada, { name: "plain", code: "1" })
    expect(val).toMatchObject({
      privacy: "private",
      type: "script",
      readme: null,
      version: 1,
      code: "1",
      ownerName: "ada",
    })
    expect([val.createdAt, val.updatedAt, val.versionCreatedAt]).toEqual(
      Array(3).fill(rules.clock.at),
    )
  })

  test("refuses a name that the owner already has, and does not generate another", async () => {
    expect(await codeOf(rules.nouns.vals.create(ada, { name: "PUBLIC", code: "1" }))).toBe(
      "name_taken",
    )
    expect((await rules.nouns.vals.create(bob, { name: "PUBLIC", code: "1" })).name).toBe("PUBLIC")
  })

  test("generates names until one is free", async () => {
    const tried: string[] = []
    const create: typeof rules.stores.vals.create = async (val, at) => {
      tried.push(val.name)
      return tried.length < 5 ? undefined : rules.stores.vals.create(val, at)
    }

    const nouns = rules.createNouns({ valStore: { ...rules.stores.vals, create } })
    const val = await nouns.vals.create(ada, { code: "1" })

    expect(tried).toHaveLength(5)
    expect(tried.at(-1)).toBe(val.name)
    for (const name of tried) expect(valName.safeParse(name).success).toBe(true)
    expect(tried.map((name) => /\d/.test(name))).toEqual([false, true, true, true, true])
  })
})

describe("createVal, saveVal and saveVersion", () => {
  const code = `
    import "unknown"
    import a from "http://hamlet.test/v/ada/first"
    import again from "http://hamlet.test/v/@ADA/First@3"
    import b from "https://esm.town/v/bob/second@2"
    import c from "./third"
    import lodash from "npm:lodash"
    import elsewhere from "https://example.com/v/ada/fourth"`

  const importsOf = (id: string, version: number) =>
    rules.db.read<{ usernameKey: string; nameKey: string }>(
      sql`select username_key, name_key from imports where branch_id = ${id} and since = ${version} order by name_key`,
    )
  const expected = [
    { usernameKey: "ada", nameKey: "first" },
    { usernameKey: "bob", nameKey: "second" },
    { usernameKey: "ada", nameKey: "third" },
  ]

  test("store each val that the code imports once", async () => {
    const created = await rules.nouns.vals.create(ada, { name: "importing", code })
    expect(await importsOf(created.id, 1)).toEqual(expected)
    const saved = await rules.nouns.vals.save(
      ada,
      { name: "importing", code: `${code} // 2` },
      undefined,
    )
    expect(await importsOf(saved.val.id, 2)).toEqual(expected)
    await rules.nouns.versions.save(ada, created.id, { code: `${code} // 3` }, undefined)
    expect(await importsOf(created.id, 3)).toEqual(expected)
  })
})

describe("saveVal", () => {
  test("with an expected version creates no val, whichever version that is", async () => {
    for (const ifMatch of [0, 1, 7]) {
      expect(
        await codeOf(rules.nouns.vals.save(ada, { name: "missing", code: "1" }, ifMatch)),
      ).toBe("version_conflict")
    }
    expect(
      await rules.stores.vals.findByName("ada", "missing", asOwner(ada.ownerId)),
    ).toBeUndefined()
  })

  test("changes only the given fields, and nothing when the name differs in case", async () => {
    const before = await rules.nouns.vals.create(ada, {
      name: "Kept",
      code: "1",
      readme: "read me",
      privacy: "public",
      type: "http",
    })
    rules.clock.at += 1

    const { val, isNewVersion } = await rules.nouns.vals.save(ada, { name: "Kept", code: "2" }, 1)

    expect(isNewVersion).toBe(true)
    expect(val).toEqual({
      ...before,
      version: 2,
      code: "2",
      file: { ...before.file, since: 2 },
      versionCreatedAt: rules.clock.at,
      updatedAt: rules.clock.at,
    })
    rules.clock.at += 1
    const cleared = await rules.nouns.vals.save(ada, { name: "Kept", code: "2", readme: null }, 2)
    const at = { versionCreatedAt: rules.clock.at, updatedAt: rules.clock.at }
    expect(cleared).toEqual({
      val: { ...val, ...at, version: 3, readme: null, fileCount: 1 },
      isNewVersion: true,
      isNewCode: false,
      isRemote: false,
    })
    expect(await codeOf(rules.nouns.vals.save(ada, { name: "kept", code: "3" }, undefined))).toBe(
      "name_taken",
    )
  })
})

describe("updateVal, saveVersion and deleteVal", () => {
  test("throw val_not_found if the val is deleted meanwhile", async () => {
    const { id } = await rules.nouns.vals.create(ada, { name: "gone", code: "1" })
    const scanImports = async () => {
      await rules.stores.vals.delete(id, () => {})
      return []
    }
    expect(
      await codeOf(
        rules
          .createNouns({ scanImports })
          .versions.save(ada, id, { code: 'import "2"' }, undefined),
      ),
    ).toBe("val_not_found")
    expect(await codeOf(rules.nouns.vals.change(ada, id, { readme: "x" }, undefined))).toBe(
      "val_not_found",
    )
    expect(await codeOf(rules.nouns.vals.delete(ada, id, undefined))).toBe("val_not_found")
  })
})

describe("createVal, saveVal and saveVersion with remote imports", () => {
  test("wake the job that fetches packages once per new version; other saves do not", async () => {
    let wakes = 0
    const nouns = rules.createNouns({ lockfileWork: { wake: () => (wakes += 1) } })
    const remote = (number: number) => `import x from "npm:x" // ${number}`
    const { id } = await nouns.vals.create(ada, { name: "remote", code: remote(1) })
    await nouns.vals.create(ada, { code: remote(1) })
    expect(wakes).toBe(2)
    await nouns.vals.save(ada, { name: "remote2", code: remote(1) }, undefined)
    await nouns.vals.save(ada, { name: "remote", code: remote(2) }, undefined)
    await nouns.versions.save(ada, id, { code: remote(3) }, undefined)
    expect(wakes).toBe(5)
    await nouns.versions.save(ada, id, { code: remote(3) }, undefined)
    await nouns.vals.save(ada, { name: "remote", code: remote(3), readme: "x" }, undefined)
    await nouns.vals.change(ada, id, { readme: "y" }, undefined)
    await nouns.versions.save(ada, id, { code: 'import x from "./y"' }, undefined)
    expect(await codeOf(nouns.vals.create(ada, { name: "remote", code: remote(4) }))).toBe(
      "name_taken",
    )
    expect(wakes).toBe(5)
  })
})

describe("createVal, saveVal and saveVersion", () => {
  test("prepare runs of new code, except of code that is linked to packages first", async () => {
    const prepared: unknown[] = []
    const prepare = (ownerId: string, texts: unknown) => prepared.push([ownerId, texts])
    const nouns = rules.createNouns({ runner: { retire() {}, prepare } })
    const toText = (code: string) => [ada.ownerId, [{ path: "main.tsx", code }]]
    const { id } = await nouns.vals.create(ada, { name: "prepared", code: "1" })
    await nouns.vals.save(ada, { name: "prepared", code: "2" }, undefined)
    await nouns.versions.save(ada, id, { code: "3" }, undefined)
    const all = [toText("1"), toText("2"), toText("3")]
    expect(prepared).toEqual(all)
    await nouns.versions.save(ada, id, { code: "3" }, undefined)
    await nouns.vals.change(ada, id, { readme: "x" }, undefined)
    await nouns.versions.save(ada, id, { code: `import x from "npm:x"` }, undefined)
    expect(prepared).toEqual(all)
  })
})

import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { limits } from "@hamlet/contract"
import { codeOf, openRules, type TestRules } from "../../../test/support/rules.ts"
import type { Caller } from "../access/caller.ts"
import type { Val } from "./vals.ts"
import { versionNotFound } from "./versions.ts"

const page = { limit: 100, offset: 0 }
const missing = [0, 3, limits.versionMax, limits.versionMax + 1, Number.MAX_SAFE_INTEGER, 1e300]

describe("versions", () => {
  let rules: TestRules
  let ada: Caller
  let bob: Caller
  let shown: Val
  let hidden: Val

  beforeAll(async () => {
    rules = await openRules()
    ada = await rules.addCaller("ada")
    bob = await rules.addCaller("bob")
    shown = await addVal("shown", "public")
    hidden = await addVal("hidden", "private")
  })

  afterAll(() => rules[Symbol.asyncDispose]())

  /** Adds a val with two versions. */
  async function addVal(name: string, privacy: "public" | "private"): Promise<Val> {
    const { id } = await rules.nouns.vals.create(ada, { name, code: "one", privacy })
    rules.clock.at += 1
    return (await rules.nouns.versions.save(ada, id, { code: "two" }, undefined)).val
  }

  const numbersOf = async (val: Val) =>
    (await rules.nouns.versions.list(ada, val.id, page)).items.map(({ version }) => version)

  test("getVersion returns the val with the code, number and time of that version", async () => {
    expect(await rules.nouns.versions.get(undefined, shown.id, 2)).toEqual(shown)
    expect(await rules.nouns.versions.get(bob, shown.id, 1)).toEqual({
      ...shown,
      version: 1,
      code: "one",
      file: { ...shown.file, since: 1 },
      versionCreatedAt: shown.createdAt,
    })
  })

  test.each(missing)(
    "getVersion and deleteVersion fail with version_not_found for version %d",
    async (version) => {
      expect(await codeOf(rules.nouns.versions.get(ada, shown.id, version))).toBe(
        "version_not_found",
      )
      expect(await codeOf(rules.nouns.versions.delete(ada, shown.id, version, undefined))).toBe(
        "version_not_found",
      )
      expect(await numbersOf(shown)).toEqual([2, 1])
    },
  )

  test.each([1, 2, ...missing])(
    "getVersion, listVersions and deleteVersion hide version %d of a private val from others",
    async (version) => {
      const nowhere = rules.clock.newId()
      for (const id of [hidden.id, nowhere]) {
        for (const viewer of [undefined, bob])
          expect(await codeOf(rules.nouns.versions.get(viewer, id, version))).toBe("val_not_found")
        expect(await codeOf(rules.nouns.versions.delete(bob, id, version, undefined))).toBe(
          "val_not_found",
        )
        expect(await codeOf(rules.nouns.versions.list(bob, id, page))).toBe("val_not_found")
      }
    },
  )

  test("deleteVersion is for the owner only, and compares If-Match", async () => {
    expect(await codeOf(rules.nouns.versions.delete(bob, shown.id, 1, undefined))).toBe("not_owner")
    expect(await codeOf(rules.nouns.versions.delete(ada, shown.id, 1, 1))).toBe("version_conflict")
    expect(await numbersOf(shown)).toEqual([2, 1])
  })

  test("deleteVersion leaves a gap, never deletes the last version, and makes the highest remaining one current", async () => {
    const val = await addVal("shrinking", "public")
    rules.clock.at += 1

    await rules.nouns.versions.delete(ada, val.id, 2, 2)
    expect(await rules.stores.vals.findById(val.id)).toMatchObject({
      version: 1,
      code: "one",
      updatedAt: rules.clock.at,
    })
    expect(await codeOf(rules.nouns.versions.delete(ada, val.id, 1, 1))).toBe("last_version")
    expect((await rules.nouns.versions.save(ada, val.id, { code: "three" }, 1)).val.version).toBe(3)
    await rules.nouns.versions.delete(ada, val.id, 1, 3)

    expect(await numbersOf(val)).toEqual([3])
  })

  test("versionNotFound contains the number as the client sent it", () => {
    expect(versionNotFound("03").message).toBe(
      "Cannot find version 03: the val has none with that number",
    )
  })
})

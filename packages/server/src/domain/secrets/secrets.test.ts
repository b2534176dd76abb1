import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test"
import { limits } from "@hamlet/contract"
import { sql } from "@hamlet/database"
import { codeOf, openRules, type TestRules } from "../../../test/support/rules.ts"
import type { Caller } from "../access/caller.ts"
import { type Cipher, createCipher } from "./cipher.ts"
import type { SealedSecret } from "./secrets.ts"

const [older, newer] = [
  createCipher([Buffer.alloc(32, 1)]),
  createCipher([Buffer.alloc(32, 2), Buffer.alloc(32, 1)]),
]

describe("secrets", () => {
  let rules: TestRules
  let ada: Caller
  let bob: Caller

  beforeAll(async () => {
    rules = await openRules()
    ada = await rules.addCaller("ada")
    bob = await rules.addCaller("bob")
  })

  afterEach(() =>
    rules.db.write(function* () {
      yield sql`delete from secrets`
    }),
  )

  afterAll(() => rules[Symbol.asyncDispose]())

  const put = (caller: Caller, name: string, value: string, cipher: Cipher = older) =>
    rules.createNouns({ cipher }).secrets.put(caller, { name, value, hosts: null })

  // No key has an empty id, so these are all.
  const readAll = () => rules.stores.secrets.listOtherKeys("", 1000)
  const open = (cipher: Cipher, { userId, name, sealed }: SealedSecret) =>
    cipher.open(sealed, `secret:${userId}:${name}`)

  async function openAll(cipher: Cipher): Promise<Record<string, string>> {
    return Object.fromEntries(
      (await readAll()).map((secret) => [secret.name, open(cipher, secret)]),
    )
  }

  async function only(): Promise<SealedSecret> {
    const [secret] = await readAll()
    if (!secret) throw new Error("there is no secret")
    return secret
  }

  describe("secrets.put", () => {
    test("stores the value encrypted, bound to the user and the name", async () => {
      await put(ada, "NAME", "the value ✓")

      const secret = await only()
      expect(Buffer.from(secret.sealed.bytes).includes("the value")).toBe(false)
      expect(open(older, secret)).toBe("the value ✓")
      expect(() => open(older, { ...secret, userId: bob.ownerId })).toThrow()
      expect(() => open(older, { ...secret, name: "OTHER" })).toThrow()
    })

    test("replaces value and hosts, and keeps createdAt", async () => {
      await rules
        .createNouns({ cipher: older })
        .secrets.put(ada, { name: "NAME", value: "one", hosts: ["example.com"] })
      const createdAt = rules.clock.at
      rules.clock.at += 5
      await put(ada, "NAME", "two")

      expect(await only()).toMatchObject({
        name: "NAME",
        hosts: null,
        createdAt,
        updatedAt: rules.clock.at,
      })
      expect(await openAll(older)).toEqual({ NAME: "two" })
    })

    test("accepts the maximum per account, then only replacements, and counts no other account's", async () => {
      const names = Array.from({ length: limits.secretsPerUserMax }, (_, index) => `NAME_${index}`)
      await Promise.all(names.map((name) => put(ada, name, "value")))

      expect(await codeOf(put(ada, "ONE_MORE", "value"))).toBe("too_many_secrets")
      await put(ada, "NAME_0", "another value")
      await put(bob, "ONE_MORE", "value")
      await rules.nouns.secrets.delete(ada, "NAME_1")
      await put(ada, "ONE_MORE", "value")
    })
  })

  describe("secrets.delete", () => {
    test("deletes a secret of the caller, once", async () => {
      await put(ada, "NAME", "value")

      expect(await codeOf(rules.nouns.secrets.delete(bob, "NAME"))).toBe("secret_not_found")
      expect(await codeOf(rules.nouns.secrets.delete(ada, "name"))).toBe("secret_not_found")
      await rules.nouns.secrets.delete(ada, "NAME")
      expect(await codeOf(rules.nouns.secrets.delete(ada, "NAME"))).toBe("secret_not_found")
    })
  })

  describe("secrets.reseal", () => {
    test.each([1, 3, 7, 100])(
      "encrypts every secret with the newest key, %i at a time, and changes nothing else",
      async (batchMax) => {
        const values = Object.fromEntries(
          Array.from({ length: 7 }, (_, index) => [`NAME_${index}`, `value ${index}`]),
        )
        for (const [name, value] of Object.entries(values)) await put(ada, name, value)
        await put(bob, "NEW", "newer", newer)
        const before = (await readAll()).map(({ sealed, ...rest }) => rest)
        rules.clock.at += 1000

        expect(await rules.createNouns({ cipher: newer }).secrets.reseal(batchMax)).toBe(7)

        const after = await readAll()
        expect(after.map(({ sealed }) => sealed.keyId)).toEqual(Array(8).fill(newer.keyId))
        expect(await openAll(createCipher([Buffer.alloc(32, 2)]))).toEqual({
          ...values,
          NEW: "newer",
        })
        const byName = (left: { name: string }, right: { name: string }) =>
          left.name < right.name ? -1 : 1
        expect(after.map(({ sealed, ...rest }) => rest).sort(byName)).toEqual(before.sort(byName))
        expect(await rules.createNouns({ cipher: newer }).secrets.reseal(batchMax)).toBe(0)
      },
    )

    test("does not overwrite a secret that was set or deleted between read and write", async () => {
      for (const name of ["CHANGED", "DELETED", "KEPT"]) await put(ada, name, "before")
      const secretStore = {
        ...rules.stores.secrets,
        async listOtherKeys(keyId: string, countMax: number) {
          const found = await rules.stores.secrets.listOtherKeys(keyId, countMax)
          if (found.length === 3) {
            await put(ada, "CHANGED", "after", newer)
            await rules.nouns.secrets.delete(ada, "DELETED")
          }
          return found
        },
      }

      await rules.createNouns({ secretStore, cipher: newer }).secrets.reseal()

      expect(await openAll(newer)).toEqual({ CHANGED: "after", KEPT: "before" })
    })

    test("stops at a secret that no key opens, and does not change it", async () => {
      await put(ada, "NAME", "value", createCipher([Buffer.alloc(32, 9)]))
      const before = await only()

      await expect(rules.createNouns({ cipher: newer }).secrets.reseal()).rejects.toThrow(
        "Cannot decrypt a secret: this server does not have key",
      )
      expect(await only()).toEqual(before)
    })
  })
})

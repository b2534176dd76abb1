import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { type Scope, scope } from "@hamlet/contract"
import { sql } from "@hamlet/database"
import fc from "fast-check"
import { codeOf, openRules, type TestRules } from "../../../test/support/rules.ts"
import type { Caller } from "../access/caller.ts"
import { asOwner } from "../access/rights.ts"
import { AppError } from "../app-error.ts"
import { hashToken, makeTokenText } from "./token-text.ts"
import { allScopes, makeToken } from "./tokens.ts"

const reading = { name: "reading", scopes: ["val:read", "run:read"] as const, expiresAt: null }
const refusal = new AppError(
  "invalid_token",
  "Cannot accept the token: it is malformed, unknown, expired or revoked",
)

let rules: TestRules
let ada: Caller
let bob: Caller

beforeAll(async () => {
  rules = await openRules()
  ada = await rules.addCaller("ada")
  bob = await rules.addCaller("bob")
})

afterAll(() => rules[Symbol.asyncDispose]())

describe("tokens.authenticate", () => {
  test("finds the user and the scopes of a token", async () => {
    const { token, text } = await rules.nouns.tokens.issue(ada.ownerId, reading)

    expect(await rules.nouns.tokens.authenticate(text)).toEqual({
      actorId: ada.ownerId,
      actorName: "ada",
      ownerName: "ada",
      ...asOwner(ada.ownerId),
      tokenId: token.id,
      scopes: new Set<Scope>(["val:read", "run:read"]),
      lastUsedAt: null,
      expiresAt: null,
      isOfRun: false,
      root: { tokenId: token.id, expiresAt: null },
    })
  })

  test("refuses an unknown token, and any other text, with the same message", async () => {
    const texts = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.uint8Array({ minLength: 32, maxLength: 32 }).map(makeTokenText),
      fc.string({ minLength: 32, maxLength: 200 }),
    )
    await fc.assert(
      fc.asyncProperty(texts, async (text) => {
        await expect(rules.nouns.tokens.authenticate(text)).rejects.toThrow(refusal)
      }),
    )
  })

  test("refuses a token with any one character changed, also in its prefix", async () => {
    const { text } = await rules.nouns.tokens.issue(ada.ownerId, reading)
    for (const index of text.split("").keys()) {
      const changed = `${text.slice(0, index)}${text[index] === "x" ? "y" : "x"}${text.slice(index + 1)}`
      await expect(rules.nouns.tokens.authenticate(changed)).rejects.toThrow(refusal)
    }
    await expect(rules.nouns.tokens.authenticate(text)).resolves.toMatchObject({ actorName: "ada" })
  })

  test("accepts a token that the operator chose", async () => {
    const chosen = "chosen-by-the-operator-0123456789-abcdef"
    await rules.stores.tokens.add(makeToken(rules.clock, bob.ownerId, reading, chosen).record)

    expect(await rules.nouns.tokens.authenticate(chosen)).toMatchObject({ actorName: "bob" })
    await expect(rules.nouns.tokens.authenticate(chosen.toUpperCase())).rejects.toThrow(refusal)
  })

  test("accepts a token until it expires", async () => {
    const { text } = await rules.nouns.tokens.issue(ada.ownerId, {
      ...reading,
      expiresAt: rules.clock.at + 1000,
    })
    const now = rules.clock.at
    const at = (time: number) => rules.createNouns({ now: () => time }).tokens.authenticate(text)

    expect(await at(now)).toMatchObject({ actorName: "ada" })
    expect(await at(now + 999)).toMatchObject({ actorName: "ada" })
    for (const late of [now + 1000, now + 1001, now + 1e12])
      await expect(at(late)).rejects.toThrow(refusal)
  })

  test("refuses a revoked token at once, also right after it was used", async () => {
    const { token, text } = await rules.nouns.tokens.issue(ada.ownerId, reading)
    const revoked = rules.nouns.tokens.revoke(ada, token.id)
    expect(await rules.nouns.tokens.authenticate(text)).toMatchObject({ actorName: "ada" })
    await revoked

    await expect(rules.nouns.tokens.authenticate(text)).rejects.toThrow(refusal)
  })

  test("does not query the database for a malformed token", async () => {
    const asked: string[] = []
    const findHolder = async (hash: string) => {
      asked.push(hash)
      return undefined
    }
    const nouns = rules.createNouns({ tokenStore: { ...rules.stores.tokens, findHolder } })

    for (const text of ["", "short", "x".repeat(201), `${"x".repeat(40)} y`])
      await expect(nouns.tokens.authenticate(text)).rejects.toThrow(refusal)
    expect(asked).toEqual([])
  })

  test("refuses a token that the store returned for another hash", async () => {
    const { text } = await rules.nouns.tokens.issue(ada.ownerId, reading)
    for (const change of [
      (hash: string) => `${hash.slice(0, -1)}${hash.endsWith("0") ? "1" : "0"}`,
      (hash: string) => `${hash}0`,
      () => "",
    ]) {
      const findHolder = async (hash: string) => {
        const holder = await rules.stores.tokens.findHolder(hash)
        return holder && { ...holder, hash: change(holder.hash) }
      }
      await expect(
        rules
          .createNouns({ tokenStore: { ...rules.stores.tokens, findHolder } })
          .tokens.authenticate(text),
      ).rejects.toThrow(refusal)
    }
  })
})

describe("tokens.create", () => {
  test("grants exactly the requested scopes, and none that the caller's token lacks", async () => {
    const some = fc.subarray([...scope.options], { minLength: 1 })
    await fc.assert(
      fc.asyncProperty(fc.subarray([...scope.options]), some, async (own, wanted) => {
        const asking: Caller = { ...ada, scopes: new Set(own) }
        const isAllowed = wanted.every((one) => asking.scopes.has(one))
        const created = rules.nouns.tokens.create(asking, {
          name: "new",
          scopes: wanted,
          expiresAt: null,
        })
        if (!isAllowed) return expect(await codeOf(created)).toBe("scope_escalation")
        const { token, text } = await created
        expect(token.scopes).toEqual(wanted)
        expect((await rules.nouns.tokens.authenticate(text)).scopes).toEqual(new Set(wanted))
      }),
      { numRuns: 40 },
    )
  })

  test("names the missing scope in the message that clients search for, and stores nothing", async () => {
    const asking: Caller = { ...bob, scopes: new Set<Scope>(["val:read"]) }
    const list = async () =>
      (await rules.stores.tokens.list(bob.ownerId, { limit: 100, offset: 0 })).items
    const before = await list()

    await expect(
      rules.nouns.tokens.create(asking, {
        name: "more",
        scopes: ["val:read", "admin"],
        expiresAt: null,
      }),
    ).rejects.toThrow(/scope admin.*required permissions/)
    expect(await list()).toEqual(before)
  })
})

describe("tokens.issue", () => {
  test("stores the hash of the text, and the text nowhere in the database", async () => {
    const { token, text } = await rules.nouns.tokens.issue(ada.ownerId, {
      ...reading,
      expiresAt: rules.clock.at + 5,
    })

    expect(token).toEqual({
      id: token.id,
      ...reading,
      expiresAt: rules.clock.at + 5,
      createdAt: rules.clock.at,
      lastUsedAt: null,
    })
    const [row] = await rules.db.read<Record<string, unknown>>(
      sql`select * from tokens where id = ${token.id}`,
    )
    expect(Buffer.from(row?.hash as Uint8Array).toString("hex")).toBe(hashToken(text))
    expect(JSON.stringify(row)).not.toContain(text)
  })

  test("creates a new text every time", async () => {
    const texts = await Promise.all(
      Array.from(
        { length: 50 },
        async () => (await rules.nouns.tokens.issue(ada.ownerId, reading)).text,
      ),
    )
    expect(new Set(texts).size).toBe(50)
  })
})

describe("tokens.revoke", () => {
  test("revokes a token of the caller, once", async () => {
    const { token, text } = await rules.nouns.tokens.issue(ada.ownerId, reading)

    expect(await codeOf(rules.nouns.tokens.revoke(bob, token.id))).toBe("token_not_found")
    expect(await rules.nouns.tokens.authenticate(text)).toMatchObject({ actorName: "ada" })
    await rules.nouns.tokens.revoke(ada, token.id)
    expect(await codeOf(rules.nouns.tokens.revoke(ada, token.id))).toBe("token_not_found")
    expect(await codeOf(rules.nouns.tokens.revoke(ada, rules.clock.newId()))).toBe(
      "token_not_found",
    )
  })
})

test("hashToken is SHA-256 in hexadecimal", () => {
  expect(hashToken("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
})

test("allScopes are those of the contract", () => {
  expect(allScopes).toEqual(scope.options)
})

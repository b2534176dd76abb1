import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from "bun:test"
import { waitUntil } from "@hamlet/kit/testing"
import { openRules, type TestRules } from "../../../test/support/rules.ts"
import type { Caller } from "../access/caller.ts"
import { TokenUses } from "./token-uses.ts"
import type { TokenStore } from "./tokens.ts"

const minuteMs = 60_000
const longAgo = Date.parse("2026-01-01T00:00:00.000Z")

describe("TokenUses", () => {
  let rules: TestRules
  let caller: Caller
  let errors: unknown[]
  let writes: (readonly string[])[]
  let uses: TokenUses

  beforeAll(async () => {
    rules = await openRules()
    caller = await rules.addCaller("ada")
  })

  afterAll(() => rules[Symbol.asyncDispose]())

  beforeEach(() => {
    errors = []
    writes = []
    uses = createUses()
  })

  afterEach(async () => {
    jest.useRealTimers()
    await uses.stop()
  })

  /** On the real store, with a look at what it is asked to write. */
  function createUses(touch: TokenStore["touch"] = rules.stores.tokens.touch): TokenUses {
    const tokens: TokenStore = {
      ...rules.stores.tokens,
      touch(noted) {
        writes.push([...noted.keys()])
        return touch(noted)
      },
    }
    return new TokenUses(tokens, (error) => errors.push(error))
  }

  async function addToken(): Promise<string> {
    return (
      await rules.nouns.tokens.issue(caller.ownerId, {
        name: "token",
        scopes: ["val:read"],
        expiresAt: null,
      })
    ).token.id
  }

  const note = (tokenId: string, lastUsedAt: number | null, at: number) =>
    uses.note({ ...caller, tokenId, lastUsedAt, isOfRun: false }, at)

  async function lastUseOf(id: string): Promise<number | null | undefined> {
    const { items } = await rules.stores.tokens.list(caller.ownerId, { limit: 100, offset: 0 })
    return items.find((token) => token.id === id)?.lastUsedAt
  }

  const table: readonly [string, number | null, number, boolean][] = [
    ["the first use", null, longAgo, true],
    ["a use a minute after the last one that was noted", longAgo, longAgo + minuteMs, true],
    ["a use much later", longAgo, longAgo + 1000 * minuteMs, true],
    [
      "a use less than a minute after the last one that was noted",
      longAgo,
      longAgo + minuteMs - 1,
      false,
    ],
    ["a use at the same moment", longAgo, longAgo, false],
    ["a use before the last one that was noted, by another clock", longAgo, longAgo - 1, false],
  ]
  test.each(table)("note of %s", async (_, lastUsedAt, at, isNoted) => {
    const id = await addToken()

    note(id, lastUsedAt, at)
    await uses.stop()

    expect(await lastUseOf(id)).toBe(isNoted ? at : null)
    expect(writes).toEqual(isNoted ? [[id]] : [])
  })

  test("note ignores the token of a run", async () => {
    uses.note({ ...caller, tokenId: await addToken(), lastUsedAt: null, isOfRun: true }, longAgo)
    await uses.stop()
    expect(writes).toEqual([])
  })

  test("note writes the last use of each token once per second", async () => {
    const [first, second] = [await addToken(), await addToken()]
    jest.useFakeTimers()

    note(first, null, longAgo)
    note(second, null, longAgo + 1)
    note(first, null, longAgo + 2)
    jest.advanceTimersByTime(999)
    expect(writes).toEqual([])
    jest.advanceTimersByTime(1)

    expect(writes).toEqual([[first, second]])
    jest.useRealTimers()
    // One connection writes: this token is written after the uses.
    await addToken()
    expect([await lastUseOf(first), await lastUseOf(second)]).toEqual([longAgo + 2, longAgo + 1])
  })

  test("writes again only uses noted after a write", async () => {
    const [first, second] = [await addToken(), await addToken()]

    for (const id of [first, second]) {
      jest.useFakeTimers()
      note(id, null, longAgo)
      jest.advanceTimersByTime(1000)
      jest.useRealTimers()
      // One connection writes: the use is written before this token.
      await addToken()
    }

    expect(writes).toEqual([[first], [second]])
  })

  test("stop waits for pending writes, and leaves no timer", async () => {
    const id = await addToken()
    jest.useFakeTimers()

    note(id, null, longAgo)
    await uses.stop()

    expect(jest.getTimerCount()).toBe(0)
    jest.useRealTimers()
    expect(await lastUseOf(id)).toBe(longAgo)
  })

  test("stop waits for a write that the timer has begun", async () => {
    const id = await addToken()
    const gate = Promise.withResolvers<void>()
    uses = createUses(async (noted) => {
      await gate.promise
      await rules.stores.tokens.touch(noted)
    })
    jest.useFakeTimers()
    note(id, null, longAgo)
    jest.advanceTimersByTime(1000)
    jest.useRealTimers()

    const stopped = uses.stop()
    gate.resolve()
    await stopped

    expect(await lastUseOf(id)).toBe(longAgo)
  })

  test("reports a failed write, and continues", async () => {
    const id = await addToken()
    let isAway = true
    uses = createUses((noted) =>
      isAway ? Promise.reject(new Error("away")) : rules.stores.tokens.touch(noted),
    )

    note(id, null, longAgo)
    await waitUntil(() => errors.length === 1)
    expect(errors).toEqual([new Error("away")])
    isAway = false
    note(id, null, longAgo + 1)
    await waitUntil(async () => (await lastUseOf(id)) === longAgo + 1)

    expect(errors).toHaveLength(1)
  })

  test("skips a token that was revoked meanwhile", async () => {
    const [gone, kept] = [await addToken(), await addToken()]

    note(gone, null, longAgo)
    note(kept, null, longAgo)
    await rules.stores.tokens.remove(caller.ownerId, gone)
    await uses.stop()

    expect([await lastUseOf(gone), await lastUseOf(kept)]).toEqual([undefined, longAgo])
    expect(errors).toEqual([])
  })
})

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test"
import { type Statement, sql } from "@hamlet/database"
import { waitUntil } from "@hamlet/kit/testing"
import { codeOf, openRules, type TestRules } from "../../../test/support/rules.ts"
import { RunTokens } from "./run-tokens.ts"
import type { LiveTokens, TokenStore } from "./tokens.ts"

const lifeMsMax = 60_000

describe("RunTokens", () => {
  let rules: TestRules
  let ada: { id: string; username: string }
  let errors: unknown[]
  /** How many were added and removed in each write that was done. */
  let writes: (readonly [number, number])[]
  /** While it is set, nothing is written. */
  let gate: PromiseWithResolvers<void> | undefined
  let isAsked: boolean
  let tokens: RunTokens

  beforeAll(async () => {
    rules = await openRules()
    ada = { id: (await rules.addCaller("ada")).ownerId, username: "ada" }
  })

  afterAll(() => rules[Symbol.asyncDispose]())

  beforeEach(() => {
    errors = []
    writes = []
    gate = undefined
    isAsked = false
    tokens = createTokens()
  })

  afterEach(async () => {
    gate?.resolve()
    await tokens.stop()
  })

  /** On the real store, with a look at what it is asked to write. */
  function createTokens(
    changeRunTokens: TokenStore["changeRunTokens"] = rules.stores.tokens.changeRunTokens,
    nodeId = Bun.randomUUIDv7(),
  ) {
    const store: TokenStore = {
      ...rules.stores.tokens,
      async changeRunTokens(node, added, removedIds) {
        isAsked = true
        await gate?.promise
        await changeRunTokens(node, added, removedIds)
        writes.push([added.length, removedIds.length])
      },
    }
    const onError = (error: unknown) => errors.push(error)
    const { now, newId } = rules.clock
    const node = { nodeId, lifeMsMax, onError, now, newId }
    return new RunTokens(store, node, { delayMs: 5, retryMs: 5 })
  }

  const here = (text: string) => rules.createNouns({ runTokens: tokens }).tokens.authenticate(text)
  const elsewhere = (text: string) => rules.nouns.tokens.authenticate(text)

  async function rowCount(): Promise<number> {
    const [row] = await rules.db.read<{ count: number }>(
      sql`select count(*) as count from tokens where node_id is not null`,
    )
    return row?.count ?? 0
  }

  test("issue is valid on this node at once, and on others after a common write", async () => {
    gate = Promise.withResolvers()
    const [one, two] = [tokens.issue(ada), tokens.issue(ada)]
    const scopes = new Set(["val:read", "user:read", "run:read"])
    expect(await here(one)).toMatchObject({
      actorId: ada.id,
      actorName: "ada",
      isOfRun: true,
      scopes,
    })
    expect(await codeOf(elsewhere(one))).toBe("invalid_token")
    gate.resolve()
    await waitUntil(() => writes.length === 1)
    expect(writes).toEqual([[2, 0]])
    expect(await elsewhere(two)).toEqual(await here(two))
  })

  test("are never issued twice", async () => {
    const texts = new Set<string>()
    for (let round = 0; round < 5; round++) {
      for (let count = 0; count < 3; count++) texts.add(tokens.issue(ada))
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(texts.size).toBe(15)
  })

  test("end at once on this node, and on others with the next write", async () => {
    const text = tokens.issue(ada)
    await waitUntil(() => writes.length === 1)
    gate = Promise.withResolvers()
    tokens.end(text)
    expect(await codeOf(here(text))).toBe("invalid_token")
    expect(await elsewhere(text)).toMatchObject({ actorName: "ada" })
    gate.resolve()
    await waitUntil(() => writes.length === 2)
    expect(writes[1]).toEqual([0, 1])
    expect([await codeOf(elsewhere(text)), await codeOf(here(text))]).toEqual([
      "invalid_token",
      "invalid_token",
    ])
  })

  test("end before the write prevents the write", async () => {
    const text = tokens.issue(ada)
    tokens.end(text)
    tokens.end(text)
    tokens.end("never issued")
    expect(await codeOf(here(text))).toBe("invalid_token")
    const next = tokens.issue(ada)
    await waitUntil(() => writes.length === 1)
    expect([writes, await rowCount()]).toEqual([[[1, 0]], 1])
    tokens.end(next)
  })

  test("end during the write removes the token afterwards", async () => {
    gate = Promise.withResolvers()
    const text = tokens.issue(ada)
    await waitUntil(() => isAsked)
    tokens.end(text)
    gate.resolve()
    await waitUntil(() => writes.length === 2)
    expect([writes, await rowCount()]).toEqual([
      [
        [1, 0],
        [0, 1],
      ],
      0,
    ])
  })

  test("issue sets an expiry at the maximum lifetime of a process", async () => {
    const text = tokens.issue(ada)
    await waitUntil(() => writes.length === 1)
    const at = (now: number, runTokens: LiveTokens) =>
      rules.createNouns({ runTokens, now: () => now }).tokens.authenticate(text)
    const end = rules.clock.at + lifeMsMax
    for (const runTokens of [tokens, { find: () => undefined }]) {
      expect(await at(end - 1, runTokens)).toMatchObject({
        actorName: "ada",
      })
      expect(await codeOf(at(end, runTokens))).toBe("invalid_token")
    }
  })

  test("issue retries a failed write; a token that may have been written is removed after its end", async () => {
    let isDown = true
    tokens = createTokens(async (...change) => {
      await rules.stores.tokens.changeRunTokens(...change)
      if (isDown) throw new Error("the connection broke, after all was written")
    })
    const [kept, ended] = [tokens.issue(ada), tokens.issue(ada)]
    await waitUntil(() => errors.length > 0)
    tokens.end(ended)
    expect([await codeOf(here(ended)), (await here(kept)).ownerName]).toEqual([
      "invalid_token",
      "ada",
    ])
    isDown = false
    await waitUntil(async () => writes.length > 0 && (await rowCount()) === 1)
    expect([await codeOf(elsewhere(ended)), (await elsewhere(kept)).ownerName]).toEqual([
      "invalid_token",
      "ada",
    ])
  })

  test("stop revokes all tokens, and so does another node that finds this one dead", async () => {
    const [mine, theirs] = [tokens.issue(ada), Bun.randomUUIDv7()]
    const other = createTokens(undefined, theirs)
    const setNode = (statement: Statement) =>
      rules.db.write(function* () {
        yield statement
      })
    await setNode(
      sql`insert into nodes (id, host, pid, pid_started, lease_until) values (${theirs}, 'host', 1, '1', 1)`,
    )
    const text = other.issue(ada)
    await waitUntil(() => writes.length === 2)
    expect(await rowCount()).toBe(2)
    await tokens.stop()
    expect([
      await codeOf(here(mine)),
      await codeOf(elsewhere(mine)),
      (await elsewhere(text)).ownerName,
    ]).toEqual(["invalid_token", "invalid_token", "ada"])
    await rules.stores.tokens.removeLostRunTokens()
    expect(await elsewhere(text)).toMatchObject({ actorName: "ada" })
    await setNode(sql`delete from nodes where id = ${theirs}`)
    await rules.stores.tokens.removeLostRunTokens()
    expect(await codeOf(elsewhere(text))).toBe("invalid_token")
    await other.stop()
  })
})

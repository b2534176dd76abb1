import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test"
import { sql } from "@hamlet/database"
import { codeOf, openRules, type TestRules } from "../../../test/support/rules.ts"
import { createNodeStore } from "../../storage/nodes.ts"
import { type Cipher, createCipher } from "../secrets/cipher.ts"
import type { OnceRequest, StoredResponse } from "./idempotency.ts"
import { hashToken } from "./token-text.ts"

const inFlightMs = 2 * 60_000
const keptMs = 24 * 60 * 60_000
const content = ["post", "/v1/vals", Buffer.from('{"code":"1"}'), "val:write"]

describe("respondOnce", () => {
  let rules: TestRules
  let request: OnceRequest
  let worked: number

  beforeAll(async () => {
    rules = await openRules()
  })

  afterAll(() => rules[Symbol.asyncDispose]())

  beforeEach(async () => {
    request = { userId: await addUser(), key: "key", content }
    worked = 0
  })

  let users = 0
  async function addUser(): Promise<string> {
    users += 1
    return (await rules.addCaller(`user${users}`)).ownerId
  }

  /** Work that tells how often it was done. */
  const work =
    (status = 200) =>
    async (): Promise<StoredResponse> => {
      worked += 1
      return {
        status,
        headers: { "content-type": "application/json", etag: '"1"' },
        body: `{"n":${worked},"text":"✓"}`,
      }
    }

  test("executes once, and repeats the response with all headers", async () => {
    const first = await rules.nouns.idempotency.respondOnce(request, work(201))

    expect(first).toEqual({
      status: 201,
      headers: { "content-type": "application/json", etag: '"1"' },
      body: '{"n":1,"text":"✓"}',
    })
    for (let time = 0; time < 3; time++)
      expect(await rules.nouns.idempotency.respondOnce(request, work(201))).toEqual(first)
    expect(worked).toBe(1)
  })

  const others: readonly [string, OnceRequest["content"]][] = [
    ["method", ["put", "/v1/vals", Buffer.from('{"code":"1"}'), "val:write"]],
    ["path", ["post", "/v1/users", Buffer.from('{"code":"1"}'), "val:write"]],
    ["body", ["post", "/v1/vals", Buffer.from('{"code":"2"}'), "val:write"]],
    ["body in white space only", ["post", "/v1/vals", Buffer.from('{"code": "1"}'), "val:write"]],
    ["scope", ["post", "/v1/vals", Buffer.from('{"code":"1"}'), "val:read val:write"]],
    ["cut between path and body", ["post", '/v1/vals{"code"', Buffer.from(':"1"}'), "val:write"]],
    ["cut between body and scope", ["post", "/v1/vals", Buffer.from('{"code":"1"}v'), "al:write"]],
    ["number of parts", ["post", "/v1/vals", Buffer.from('{"code":"1"}'), "val:write", ""]],
  ]
  test.each(others)(
    "refuses the key for a request with another %s, and does not do that",
    async (_, other) => {
      const first = await rules.nouns.idempotency.respondOnce(request, work())

      expect(
        await codeOf(rules.nouns.idempotency.respondOnce({ ...request, content: other }, work())),
      ).toBe("idempotency_mismatch")
      expect(worked).toBe(1)
      expect(await rules.nouns.idempotency.respondOnce(request, work())).toEqual(first)
    },
  )

  test("treats equal bodies as equal, as text or as bytes", async () => {
    const first = await rules.nouns.idempotency.respondOnce(request, work())
    const asText = content.map((part) => part.toString())
    expect(
      await rules.nouns.idempotency.respondOnce({ ...request, content: asText }, work()),
    ).toEqual(first)
  })

  test("separates the keys of users", async () => {
    const other = { ...request, userId: await addUser() }
    const answers = [
      await rules.nouns.idempotency.respondOnce(request, work()),
      await rules.nouns.idempotency.respondOnce(other, work()),
    ]
    expect(answers.map(({ body }) => body)).toEqual(['{"n":1,"text":"✓"}', '{"n":2,"text":"✓"}'])
  })

  test("refuses any request with the key while the first one is in progress", async () => {
    const gate = Promise.withResolvers<StoredResponse>()
    const started = Promise.withResolvers<void>()
    const first = rules.nouns.idempotency.respondOnce(request, () => {
      started.resolve()
      return gate.promise
    })
    await started.promise

    expect(await codeOf(rules.nouns.idempotency.respondOnce(request, work()))).toBe(
      "idempotency_in_flight",
    )
    expect(
      await codeOf(rules.nouns.idempotency.respondOnce({ ...request, content: ["other"] }, work())),
    ).toBe("idempotency_mismatch")
    gate.resolve({ status: 200, headers: {}, body: "done" })

    expect(await first).toEqual({ status: 200, headers: {}, body: "done" })
    expect(await rules.nouns.idempotency.respondOnce(request, work())).toEqual(await first)
    expect(worked).toBe(0)
  })

  test("frees the key when the server must have crashed during its request", async () => {
    const lost = new Promise<StoredResponse>(() => {})
    const started = Promise.withResolvers<void>()
    void rules.nouns.idempotency.respondOnce(request, () => {
      started.resolve()
      return lost
    })
    await started.promise

    rules.clock.at += inFlightMs - 1
    expect(await codeOf(rules.nouns.idempotency.respondOnce(request, work()))).toBe(
      "idempotency_in_flight",
    )
    rules.clock.at += 1
    expect((await rules.nouns.idempotency.respondOnce(request, work())).status).toBe(200)
    expect(worked).toBe(1)
  })

  test.each([200, 500])(
    "a late first request that ended with %i takes nothing from the current holder of the key",
    async (status) => {
      const gate = Promise.withResolvers<StoredResponse>()
      const started = Promise.withResolvers<void>()
      const slow = rules.nouns.idempotency.respondOnce(request, () => {
        started.resolve()
        return gate.promise
      })
      await started.promise
      rules.clock.at += inFlightMs
      const second = await rules.nouns.idempotency.respondOnce(request, work())

      gate.resolve({ status, headers: {}, body: "too late" })

      expect((await slow).body).toBe("too late")
      expect(await rules.nouns.idempotency.respondOnce(request, work())).toEqual(second)
      expect(worked).toBe(1)
    },
  )

  test("repeats the response for 24 hours, and then executes again", async () => {
    await rules.nouns.idempotency.respondOnce(request, work())

    rules.clock.at += keptMs - 1
    expect((await rules.nouns.idempotency.respondOnce(request, work())).body).toContain('"n":1')
    rules.clock.at += 1
    expect((await rules.nouns.idempotency.respondOnce(request, work())).body).toContain('"n":2')
    expect(
      (await rules.nouns.idempotency.respondOnce({ ...request, key: "new" }, work())).body,
    ).toContain('"n":3')
  })

  test("accepts an expired key for another request", async () => {
    await rules.nouns.idempotency.respondOnce(request, work())
    rules.clock.at += keptMs
    expect(
      (await rules.nouns.idempotency.respondOnce({ ...request, content: ["other"] }, work())).body,
    ).toContain('"n":2')
  })

  test.each([200, 201, 204, 400, 404, 409, 412, 422])(
    "keeps an answer with status %i",
    async (status) => {
      for (let time = 0; time < 2; time++)
        expect((await rules.nouns.idempotency.respondOnce(request, work(status))).status).toBe(
          status,
        )
      expect(worked).toBe(1)
    },
  )

  test.each([429, 500, 503])(
    "does not keep an answer with status %i: trying again may help",
    async (status) => {
      expect((await rules.nouns.idempotency.respondOnce(request, work(status))).status).toBe(status)
      expect(
        (await rules.nouns.idempotency.respondOnce({ ...request, content: ["other"] }, work()))
          .body,
      ).toContain('"n":2')
    },
  )

  test("does not store an error that was thrown, and rethrows it", async () => {
    const fail = () => Promise.reject(new Error("a bug"))
    await expect(rules.nouns.idempotency.respondOnce(request, fail)).rejects.toThrow("a bug")
    expect((await rules.nouns.idempotency.respondOnce(request, work())).status).toBe(200)
  })

  describe("after a crash during the request", () => {
    const dying = new Error("the server is dead by now")
    const deadNode = { id: Bun.randomUUIDv7(), host: "there", pid: 2, pidStarted: "2" }
    const isDead = Promise.reject(dying)
    isDead.catch(() => {})
    /** A server that dies before the answer is kept, and never gives anything back. */
    const toDead = () => {
      const idempotencyStore = {
        ...rules.stores.idempotency,
        saveResponse: () => isDead,
        release: () => isDead,
        suspend: () => isDead,
      }
      return rules.createNouns({ nodeId: deadNode.id, idempotencyStore }).idempotency
    }
    const makeToken = (userId: string) => async (): Promise<StoredResponse> => {
      const { token, text } = await rules.nouns.tokens.issue(userId, {
        name: "made",
        scopes: ["val:read"],
        expiresAt: null,
      })
      return { status: 200, headers: {}, body: JSON.stringify({ ...token, text }) }
    }
    const listTokens = async () =>
      (await rules.stores.tokens.list(request.userId, { limit: 10, offset: 0 })).items.map(
        ({ id }) => id,
      )

    beforeEach(() => createNodeStore(rules.db).add(deadNode, 60_000))

    test("a finished request is not written again, and returns the stored response", async () => {
      const before = await listTokens()
      await expect(toDead().respondOnce(request, makeToken(request.userId))).rejects.toBe(dying)
      const written = (await listTokens()).filter((id) => !before.includes(id))
      expect(written).toHaveLength(1)
      expect(
        await codeOf(rules.nouns.idempotency.respondOnce(request, makeToken(request.userId))),
      ).toBe("idempotency_in_flight")
      await createNodeStore(rules.db).end(deadNode.id)

      const { body } = await rules.nouns.idempotency.respondOnce(request, makeToken(request.userId))
      const { id, text } = JSON.parse(body)
      expect(await listTokens()).toEqual([...written, ...before])
      expect(id).toBe(written[0])
      expect((await rules.stores.tokens.findHolder(hashToken(text)))?.tokenId).toBe(id)
      expect(
        (await rules.nouns.idempotency.respondOnce(request, makeToken(request.userId))).body,
      ).toBe(body)
    })

    test("keeps the key taken once something was written, also after its time limit", async () => {
      await expect(toDead().respondOnce(request, makeToken(request.userId))).rejects.toBe(dying)
      rules.clock.at += inFlightMs
      expect(
        await codeOf(
          rules.nouns.idempotency.respondOnce({ ...request, content: ["other"] }, work()),
        ),
      ).toBe("idempotency_mismatch")
      const before = await listTokens()
      expect(
        (await rules.nouns.idempotency.respondOnce(request, makeToken(request.userId))).status,
      ).toBe(200)
      expect(await listTokens()).toEqual(before)
    })

    test("frees the key at once if nothing was written", async () => {
      await expect(toDead().respondOnce(request, work())).rejects.toBe(dying)
      await createNodeStore(rules.db).end(deadNode.id)
      expect(
        (await rules.nouns.idempotency.respondOnce({ ...request, content: ["other"] }, work()))
          .body,
      ).toContain('"n":2')
    })

    test("lets the same request finish after a failure that had written something", async () => {
      const half = async (): Promise<StoredResponse> => ({
        ...(await makeToken(request.userId)()),
        status: 503,
      })
      expect((await rules.nouns.idempotency.respondOnce(request, half)).status).toBe(503)
      const before = await listTokens()
      expect(
        (await rules.nouns.idempotency.respondOnce(request, makeToken(request.userId))).status,
      ).toBe(200)
      expect(await listTokens()).toEqual(before)
    })
  })

  describe("the stored response", () => {
    const [older, newer] = [Buffer.alloc(32, 7), Buffer.alloc(32, 8)]
    const withCipher = (cipher: Cipher) => rules.createNouns({ cipher }).idempotency

    test("is encrypted in the database", async () => {
      const secret = "a-new-token-that-nobody-else-may-see"
      await rules.nouns.idempotency.respondOnce(request, async () => ({
        status: 200,
        headers: {},
        body: secret,
      }))

      const [row] = await rules.db.read<{ answer: Uint8Array }>(
        sql`select answer from idempotency_keys where user_id = ${request.userId}`,
      )
      expect(Buffer.from(row?.answer ?? []).length).toBeGreaterThan(secret.length)
      expect(Buffer.from(row?.answer ?? []).includes(secret)).toBe(false)
    })

    test("cannot be moved to another user or key", async () => {
      await rules.nouns.idempotency.respondOnce(request, work())
      await rules.db.write(function* () {
        yield sql`update idempotency_keys set key = ${"other"} where user_id = ${request.userId}`
      })
      await expect(
        rules.nouns.idempotency.respondOnce({ ...request, key: "other" }, work()),
      ).rejects.toThrow()
      expect(worked).toBe(1)
    })

    test("is returned after a rotation of the keys", async () => {
      const first = await withCipher(createCipher([older])).respondOnce(request, work())
      expect(await withCipher(createCipher([newer, older])).respondOnce(request, work())).toEqual(
        first,
      )
    })

    test("is refused, and the work not repeated, when its key is missing", async () => {
      await withCipher(createCipher([older])).respondOnce(request, work())
      expect(await codeOf(withCipher(createCipher([newer])).respondOnce(request, work()))).toBe(
        "idempotency_mismatch",
      )
      expect(worked).toBe(1)
    })
  })
})

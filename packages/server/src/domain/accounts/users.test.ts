import { describe, expect, test } from "bun:test"
import { codeOf, openRules } from "../../../test/support/rules.ts"
import { createVal } from "../vals/vals.ts"
import { makeTokenText } from "./token-text.ts"
import { allScopes, authenticate } from "./tokens.ts"
import {
  createUser,
  ensureFirstUser,
  getMe,
  getUser,
  getUserByName,
  listUserVals,
} from "./users.ts"

const chosen = "chosen-by-the-operator-0123456789-abcdef"
const page = { limit: 100, offset: 0 }

describe("createUser", () => {
  test("creates a user and a token with every scope but admin and backup", async () => {
    await using rules = await openRules()

    const { user, token } = await createUser(rules.deps, {
      username: "Ada",
      email: "ada@example.com",
    })

    const expected = {
      username: "Ada",
      email: "ada@example.com",
      isEmailVerified: true,
      bio: null,
      profileImageUrl: null,
      tier: null,
      createdAt: rules.clock.at,
    }
    expect(user).toEqual({ id: user.id, ...expected })
    expect(await getUser(rules.deps, user.id)).toEqual(user)
    const caller = await authenticate(rules.deps, token)
    expect(caller).toMatchObject({ userId: user.id, username: "Ada" })
    expect([...caller.scopes, "admin", "backup"]).toEqual([...allScopes])
    expect(await getMe(rules.deps, caller)).toEqual(user)
  })

  test("refuses a taken name in any case, and creates no token for it", async () => {
    await using rules = await openRules()
    const { user } = await createUser(rules.deps, { username: "Ada", email: null })

    expect(await codeOf(createUser(rules.deps, { username: "aDA", email: null }))).toBe(
      "username_taken",
    )
    expect((await rules.deps.tokens.list(user.id, page)).items).toHaveLength(1)
  })
})

describe("getUserByName", () => {
  test("finds a user by name in any case, with or without one @", async () => {
    await using rules = await openRules()
    const { user } = await createUser(rules.deps, { username: "Ada", email: null })

    for (const name of ["Ada", "ada", "@ADA"])
      expect(await getUserByName(rules.deps, name)).toEqual(user)
    for (const name of ["@@ada", "ada@", "", "@", "ad", "%", "ad_"]) {
      expect(await codeOf(getUserByName(rules.deps, name))).toBe("user_not_found")
    }
  })
})

describe("listUserVals", () => {
  test("has all vals for the user, public ones for others, and fails for an unknown user", async () => {
    await using rules = await openRules()
    const [ada, bob] = [await rules.addCaller("ada"), await rules.addCaller("bob")]
    for (const privacy of ["private", "unlisted", "public"] as const)
      await createVal(rules.deps, ada, { name: privacy, code: "1", privacy })
    const namesFor = async (viewer: typeof ada | undefined) =>
      (await listUserVals(rules.deps, viewer, ada.userId, page)).items.map((val) => val.name).sort()

    expect(await namesFor(ada)).toEqual(["private", "public", "unlisted"])
    expect(await namesFor(bob)).toEqual(["public"])
    expect(await namesFor(undefined)).toEqual(["public"])
    expect(await codeOf(listUserVals(rules.deps, ada, rules.deps.newId(), page))).toBe(
      "user_not_found",
    )
  })
})

describe("ensureFirstUser", () => {
  const input = { username: "ada", token: undefined }

  test("creates the first user with a token with all scopes, and returns it once", async () => {
    await using rules = await openRules()

    const first = await ensureFirstUser(rules.deps, input)
    const again = await ensureFirstUser(rules.deps, input)

    expect(await authenticate(rules.deps, first.token ?? "")).toMatchObject({
      username: "ada",
      scopes: new Set(allScopes),
    })
    expect(again).toEqual({ user: first.user, isNew: false, token: undefined })
    expect((await rules.deps.tokens.list(first.user.id, page)).items).toHaveLength(1)
  })

  test("keeps the first user, whatever name is configured later", async () => {
    await using rules = await openRules()
    const { user } = await ensureFirstUser(rules.deps, input)
    await createUser(rules.deps, { username: "aaa", email: null })

    expect(
      (await ensureFirstUser(rules.deps, { username: "grace", token: undefined })).user,
    ).toEqual(user)
    expect(await rules.deps.users.findByName("grace")).toBeUndefined()
  })

  test("creates one user and one token when many nodes start at once", async () => {
    await using rules = await openRules()
    const names = ["ada", "bob", "eve", "ada"]

    const results = await Promise.all(
      names.map((username) => ensureFirstUser(rules.deps, { username, token: undefined })),
    )

    expect(new Set(results.map(({ user }) => user.id)).size).toBe(1)
    expect(results.filter(({ token }) => token !== undefined)).toHaveLength(1)
  })

  test("gives the first user the operator's token at any start, and never returns it", async () => {
    await using rules = await openRules()
    const { user } = await ensureFirstUser(rules.deps, input)

    for (let start = 0; start < 3; start++) {
      expect(await ensureFirstUser(rules.deps, { username: "ada", token: chosen })).toEqual({
        user,
        isNew: false,
        token: undefined,
      })
    }

    expect(await authenticate(rules.deps, chosen)).toMatchObject({
      userId: user.id,
      scopes: new Set(allScopes),
    })
    expect((await rules.deps.tokens.list(user.id, page)).items).toHaveLength(2)
  })

  test.each([
    makeTokenText(Buffer.alloc(32, 9)),
    `hamlet_${"0".repeat(49)}`,
    `hamlet_${"x".repeat(25)}`,
    `hamlet_session_${"0".repeat(49)}`,
  ])("accepts a chosen token with our prefix: %s", async (token) => {
    await using rules = await openRules()

    await ensureFirstUser(rules.deps, { username: "ada", token })

    expect(await authenticate(rules.deps, token)).toMatchObject({
      username: "ada",
      scopes: new Set(allScopes),
    })
  })
})

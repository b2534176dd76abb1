import { describe, expect, test } from "bun:test"
import { codeOf, openRules } from "../../../test/support/rules.ts"
import { makeTokenText } from "./token-text.ts"
import { allScopes } from "./tokens.ts"

const chosen = "chosen-by-the-operator-0123456789-abcdef"
const page = { limit: 100, offset: 0 }

describe("users.create", () => {
  test("creates a user and a token with every scope but admin and backup", async () => {
    await using rules = await openRules()

    const { user, token } = await rules.nouns.users.create({
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
      isOrg: false,
      createdAt: rules.clock.at,
    }
    expect(user).toEqual({ id: user.id, ...expected })
    expect(await rules.nouns.users.get(user.id)).toEqual(user)
    const caller = await rules.nouns.tokens.authenticate(token)
    expect(caller).toMatchObject({ actorId: user.id, actorName: "Ada" })
    expect([...caller.scopes, "admin", "backup"]).toEqual([...allScopes])
    expect(await rules.nouns.users.get(caller.ownerId)).toEqual(user)
  })

  test("refuses a taken name in any case, and creates no token for it", async () => {
    await using rules = await openRules()
    const { user } = await rules.nouns.users.create({ username: "Ada", email: null })

    expect(await codeOf(rules.nouns.users.create({ username: "aDA", email: null }))).toBe(
      "username_taken",
    )
    expect((await rules.stores.tokens.list(user.id, page)).items).toHaveLength(1)
  })
})

describe("users.getByName", () => {
  test("finds a user by name in any case, with or without one @", async () => {
    await using rules = await openRules()
    const { user } = await rules.nouns.users.create({ username: "Ada", email: null })

    for (const name of ["Ada", "ada", "@ADA"])
      expect(await rules.nouns.users.getByName(name)).toEqual(user)
    for (const name of ["@@ada", "ada@", "", "@", "ad", "%", "ad_"]) {
      expect(await codeOf(rules.nouns.users.getByName(name))).toBe("user_not_found")
    }
  })
})

describe("valLists.listOfUser", () => {
  test("has all vals for the user, public ones for others, and fails for an unknown user", async () => {
    await using rules = await openRules()
    const [ada, bob] = [await rules.addCaller("ada"), await rules.addCaller("bob")]
    for (const privacy of ["private", "unlisted", "public"] as const)
      await rules.nouns.vals.create(ada, { name: privacy, code: "1", privacy })
    const namesFor = async (viewer: typeof ada | undefined) =>
      (await rules.nouns.valLists.listOfUser(viewer, ada.ownerId, page)).items
        .map((val) => val.name)
        .sort()

    expect(await namesFor(ada)).toEqual(["private", "public", "unlisted"])
    expect(await namesFor(bob)).toEqual(["public"])
    expect(await namesFor(undefined)).toEqual(["public"])
    expect(await codeOf(rules.nouns.valLists.listOfUser(ada, rules.clock.newId(), page))).toBe(
      "user_not_found",
    )
  })
})

describe("users.ensureFirst", () => {
  const input = { username: "ada", token: undefined }

  test("creates the first user with a token with all scopes, and returns it once", async () => {
    await using rules = await openRules()

    const first = await rules.nouns.users.ensureFirst(input)
    const again = await rules.nouns.users.ensureFirst(input)

    expect(await rules.nouns.tokens.authenticate(first.token ?? "")).toMatchObject({
      actorName: "ada",
      scopes: new Set(allScopes),
    })
    expect(again).toEqual({ user: first.user, isNew: false, token: undefined })
    expect((await rules.stores.tokens.list(first.user.id, page)).items).toHaveLength(1)
  })

  test("keeps the first user, whatever name is configured later", async () => {
    await using rules = await openRules()
    const { user } = await rules.nouns.users.ensureFirst(input)
    await rules.nouns.users.create({ username: "aaa", email: null })

    expect(
      (await rules.nouns.users.ensureFirst({ username: "grace", token: undefined })).user,
    ).toEqual(user)
    expect(await rules.stores.users.findByName("grace")).toBeUndefined()
  })

  test("creates one user and one token when many nodes start at once", async () => {
    await using rules = await openRules()
    const names = ["ada", "bob", "eve", "ada"]

    const results = await Promise.all(
      names.map((username) => rules.nouns.users.ensureFirst({ username, token: undefined })),
    )

    expect(new Set(results.map(({ user }) => user.id)).size).toBe(1)
    expect(results.filter(({ token }) => token !== undefined)).toHaveLength(1)
  })

  test("gives the first user the operator's token at any start, and never returns it", async () => {
    await using rules = await openRules()
    const { user } = await rules.nouns.users.ensureFirst(input)

    for (let start = 0; start < 3; start++) {
      expect(await rules.nouns.users.ensureFirst({ username: "ada", token: chosen })).toEqual({
        user,
        isNew: false,
        token: undefined,
      })
    }

    expect(await rules.nouns.tokens.authenticate(chosen)).toMatchObject({
      actorId: user.id,
      scopes: new Set(allScopes),
    })
    expect((await rules.stores.tokens.list(user.id, page)).items).toHaveLength(2)
  })

  test.each([
    makeTokenText(Buffer.alloc(32, 9)),
    `hamlet_${"0".repeat(49)}`,
    `hamlet_${"x".repeat(25)}`,
    `hamlet_session_${"0".repeat(49)}`,
  ])("accepts a chosen token with our prefix: %s", async (token) => {
    await using rules = await openRules()

    await rules.nouns.users.ensureFirst({ username: "ada", token })

    expect(await rules.nouns.tokens.authenticate(token)).toMatchObject({
      actorName: "ada",
      scopes: new Set(allScopes),
    })
  })
})

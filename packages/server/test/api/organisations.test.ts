import { describe, expect, test } from "bun:test"
import { expectStatus, type TestUser } from "../support/api.ts"
import { type ApiSuite, describeApi } from "./suite.ts"

describeApi("api/organisations", (suite) => {
  describe("an organisation", () => defineOrganisations(suite))
  describe("members", () => defineMembers(suite))
  describe("invitations", () => defineInvitations(suite))
  describe("acting for an organisation", () => defineActing(suite))
  describe("the vals of an organisation", () => defineVals(suite))
})

interface Org {
  readonly id: string
  readonly username: string
  readonly owner: TestUser
}

let count = 0

async function addOrg({ call, addUser }: ApiSuite): Promise<Org> {
  const owner = await addUser()
  count += 1
  const username = `org${count}`
  const { json } = expectStatus(
    await call("POST", "/v1/orgs", { as: owner, body: { username, bio: "We build" } }),
    201,
  )
  return { id: json.id, username, owner }
}

/** Invites a new user, who accepts. */
async function addMember(suite: ApiSuite, org: Org, role: string): Promise<TestUser> {
  const { call } = suite
  const user = await suite.addUser()
  const path = `/v1/orgs/${org.id}/members/${user.id}`
  expectStatus(await call("PUT", path, { as: org.owner, body: { role } }), 200)
  expectStatus(await call("POST", `/v1/me/memberships/${org.id}/accept`, { as: user }), 204)
  return user
}

/** The status and the code of a refusal. */
function toOutcome({ status, json }: { readonly status: number; readonly json: unknown }) {
  return [status, (json as { code?: string } | undefined)?.code]
}

function defineOrganisations(suite: ApiSuite): void {
  const { call } = suite

  test("is created by a user, who becomes its owner, and is a user of type org", async () => {
    const org = await addOrg(suite)
    const { json } = expectStatus(await call("GET", `/v1/orgs/${org.id}`, { as: org.owner }), 200)
    expect(json).toMatchObject({ username: org.username, type: "org", role: "owner", members: 1 })
    expect(expectStatus(await call("GET", `/v1/users/${org.id}`, {}), 200).json).toMatchObject({
      username: org.username,
      bio: "We build",
      type: "org",
    })
    const own = expectStatus(await call("GET", "/v1/orgs", { as: org.owner }), 200).json.data
    expect(own).toEqual([{ id: org.id, username: org.username, role: "owner", members: 1 }])
    const v2 = expectStatus(await call("GET", "/v2/orgs", { as: org.owner }), 200).json.data
    expect(v2).toEqual([{ id: org.id, username: org.username }])
  })

  test("cannot have the name of a user or an organisation, in whatever case", async () => {
    const org = await addOrg(suite)
    for (const username of [org.username.toUpperCase(), org.owner.username]) {
      const answer = await call("POST", "/v1/orgs", { as: org.owner, body: { username } })
      expect(toOutcome(answer)).toEqual([409, "username_taken"])
    }
    const bad = await call("POST", "/v1/orgs", { as: org.owner, body: { username: "a b" } })
    expect(toOutcome(bad)).toEqual([400, "invalid_request"])
  })

  test("does not exist for others", async () => {
    const org = await addOrg(suite)
    const eve = await suite.sharedUser()
    const answers = await Promise.all([
      call("GET", `/v1/orgs/${org.id}`, { as: eve }),
      call("PUT", `/v1/orgs/${org.id}`, { as: eve, body: { bio: "" } }),
      call("DELETE", `/v1/orgs/${org.id}`, { as: eve, body: { confirm: org.username } }),
      call("GET", `/v1/orgs/${org.id}/members`, { as: eve }),
      call("PUT", `/v1/orgs/${org.id}/members/${eve.id}`, { as: eve, body: { role: "owner" } }),
      call("DELETE", `/v1/orgs/${org.id}/members/${org.owner.id}`, { as: eve }),
      call("GET", `/v1/orgs/${org.id}/invitations`, { as: eve }),
      call("POST", `/v1/orgs/${org.id}/invitations`, { as: eve, body: { role: "member" } }),
      call("GET", `/v2/orgs/${org.id}/memberships`, { as: eve }),
      call("POST", `/v1/me/memberships/${org.id}/accept`, { as: eve }),
      call("POST", `/v1/me/memberships/${org.id}/decline`, { as: eve }),
    ])
    expect(answers.map(toOutcome)).toEqual(answers.map(() => [404, "org_not_found"]))
    // The id of a user is none of an organisation, not even for that user.
    expect(toOutcome(await call("GET", `/v1/orgs/${eve.id}`, { as: eve }))).toEqual([
      404,
      "org_not_found",
    ])
  })

  test("is changed and deleted by an owner only, who confirms its name", async () => {
    const org = await addOrg(suite)
    const member = await addMember(suite, org, "member")
    const path = `/v1/orgs/${org.id}`
    const body = { bio: "Changed" }
    expect(toOutcome(await call("PUT", path, { as: member, body }))).toEqual([403, "role_too_low"])
    expect(expectStatus(await call("PUT", path, { as: org.owner, body }), 200).json.bio).toBe(
      "Changed",
    )
    const confirmed = { confirm: org.username }
    expect(toOutcome(await call("DELETE", path, { as: member, body: confirmed }))).toEqual([
      403,
      "role_too_low",
    ])
    const wrong = await call("DELETE", path, { as: org.owner, body: { confirm: "other" } })
    expect(toOutcome(wrong)).toEqual([400, "invalid_request"])
    expectStatus(await call("DELETE", path, { as: org.owner, body: confirmed }), 202)
    expect(toOutcome(await call("GET", path, { as: org.owner }))).toEqual([404, "org_not_found"])
    expect(expectStatus(await call("GET", "/v1/orgs", { as: member }), 200).json.data).toEqual([])
  })
}

function defineMembers(suite: ApiSuite): void {
  const { call } = suite

  test("accept before they belong to it, and may decline", async () => {
    const org = await addOrg(suite)
    const [ada, bob] = [await suite.addUser(), await suite.addUser()]
    for (const user of [ada, bob]) {
      const path = `/v1/orgs/${org.id}/members/${user.id}`
      const { json } = expectStatus(
        await call("PUT", path, { as: org.owner, body: { role: "member" } }),
        200,
      )
      expect(json).toMatchObject({ user: { id: user.id }, role: "member", pending: true })
      // Without consent, nothing of the organisation is seen, and nothing is done in its name.
      const seen = await call("GET", `/v1/orgs/${org.id}`, { as: user })
      expect(toOutcome(seen)).toEqual([404, "org_not_found"])
      const acting = await call("GET", "/v1/me/vals?owner=acme", { as: user })
      expect(toOutcome(acting)).toEqual([404, "org_not_found"])
    }
    const mine = await call("GET", "/v1/me/memberships", { as: ada })
    expect(expectStatus(mine, 200).json.data).toMatchObject([
      { org: { id: org.id, username: org.username }, role: "member", pending: true },
    ])
    expectStatus(await call("POST", `/v1/me/memberships/${org.id}/accept`, { as: ada }), 204)
    expectStatus(await call("POST", `/v1/me/memberships/${org.id}/decline`, { as: bob }), 204)
    const again = await call("POST", `/v1/me/memberships/${org.id}/accept`, { as: bob })
    expect(toOutcome(again)).toEqual([404, "org_not_found"])
    const members = await call("GET", `/v1/orgs/${org.id}/members`, { as: ada })
    const byId = (one: { user: { id: string } }, other: { user: { id: string } }) =>
      one.user.id < other.user.id ? -1 : 1
    expect(expectStatus(members, 200).json.data.sort(byId)).toMatchObject([
      { user: { id: org.owner.id }, role: "owner", pending: false },
      { user: { id: ada.id }, role: "member", pending: false },
    ])
    const v2 = await call("GET", `/v2/orgs/${org.id}/memberships`, { as: ada })
    expect(
      expectStatus(v2, 200)
        .json.map(({ role }: { role: string }) => role)
        .sort(),
    ).toEqual(["member", "owner"])
  })

  test("keep at least one owner", async () => {
    const org = await addOrg(suite)
    const ada = await addMember(suite, org, "member")
    const path = (user: TestUser) => `/v1/orgs/${org.id}/members/${user.id}`
    const demoted = await call("PUT", path(org.owner), { as: org.owner, body: { role: "viewer" } })
    expect(toOutcome(demoted)).toEqual([409, "last_owner"])
    const left = await call("DELETE", path(org.owner), { as: org.owner })
    expect(toOutcome(left)).toEqual([409, "last_owner"])
    expectStatus(await call("PUT", path(ada), { as: org.owner, body: { role: "owner" } }), 200)
    expectStatus(await call("DELETE", path(org.owner), { as: org.owner }), 204)
    expect(toOutcome(await call("DELETE", path(ada), { as: ada }))).toEqual([409, "last_owner"])
  })

  test("cannot be deleted while they are the last owner, and leave with their account", async () => {
    const org = await addOrg(suite)
    const ada = await addMember(suite, org, "owner")
    const remove = (user: TestUser) =>
      call("DELETE", `/v1/users/${user.id}?data=delete`, { as: suite.api.admin })
    expectStatus(await remove(ada), 204)
    expect(toOutcome(await remove(org.owner))).toEqual([409, "last_owner"])
    const { json } = await call("GET", `/v1/orgs/${org.id}`, { as: org.owner })
    expect(json.members).toBe(1)
  })

  test("lose everything with their removal, and leave themselves", async () => {
    const org = await addOrg(suite)
    const [ada, bob] = [
      await addMember(suite, org, "member"),
      await addMember(suite, org, "viewer"),
    ]
    const path = (user: TestUser) => `/v1/orgs/${org.id}/members/${user.id}`
    expect(toOutcome(await call("DELETE", path(ada), { as: bob }))).toEqual([403, "role_too_low"])
    expectStatus(await call("DELETE", path(bob), { as: bob }), 204)
    expectStatus(await call("DELETE", path(ada), { as: org.owner }), 204)
    for (const user of [ada, bob]) {
      const acting = await call("GET", "/v1/me", { as: user, headers: { "hamlet-owner": org.id } })
      expect(toOutcome(acting)).toEqual([404, "org_not_found"])
    }
    const gone = await call("DELETE", path(ada), { as: org.owner })
    expect(toOutcome(gone)).toEqual([404, "member_not_found"])
  })

  test("are users: no organisation, no id of nothing", async () => {
    const [org, other] = [await addOrg(suite), await addOrg(suite)]
    for (const id of [other.id, org.id, "01890000-0000-7000-8000-000000000000"]) {
      const path = `/v1/orgs/${org.id}/members/${id}`
      const answer = await call("PUT", path, { as: org.owner, body: { role: "member" } })
      expect(toOutcome(answer)).toEqual([404, "user_not_found"])
    }
  })
}

function defineInvitations(suite: ApiSuite): void {
  const { call } = suite
  const invite = async (org: Org, body: object) => {
    const path = `/v1/orgs/${org.id}/invitations`
    const { json } = expectStatus(await call("POST", path, { as: org.owner, body }), 201)
    return { id: json.id, code: String(json.url).split("#code=")[1] ?? "" }
  }
  const join = (as: TestUser, code: string) =>
    call("POST", "/v1/me/memberships", { as, body: { code } })

  test("lead one person into the organisation, once", async () => {
    const org = await addOrg(suite)
    const [ada, bob] = [await suite.addUser(), await suite.addUser()]
    const { code } = await invite(org, { role: "member" })
    expect(expectStatus(await join(ada, code), 201).json).toMatchObject({
      id: org.id,
      role: "member",
      members: 2,
    })
    expect(toOutcome(await join(bob, code))).toEqual([404, "invitation_not_found"])
    const open = await call("GET", `/v1/orgs/${org.id}/invitations`, { as: org.owner })
    expect(expectStatus(open, 200).json.data).toEqual([])
  })

  test("are refused after their end, after they were revoked, and to another address", async () => {
    const org = await addOrg(suite)
    const ada = await suite.addUser()
    const revoked = await invite(org, { role: "member" })
    const path = `/v1/orgs/${org.id}/invitations/${revoked.id}`
    expectStatus(await call("DELETE", path, { as: org.owner }), 204)
    expect(toOutcome(await call("DELETE", path, { as: org.owner }))).toEqual([
      404,
      "invitation_not_found",
    ])
    const addressed = await invite(org, { role: "member", email: "ada@hamlet.test" })
    for (const { code } of [revoked, addressed])
      expect(toOutcome(await join(ada, code))).toEqual([404, "invitation_not_found"])
    const past = { role: "member", expiresAt: "2020-01-01T00:00:00Z" }
    const answer = await call("POST", `/v1/orgs/${org.id}/invitations`, {
      as: org.owner,
      body: past,
    })
    expect(toOutcome(answer)).toEqual([400, "invalid_request"])
  })
}

function defineActing(suite: ApiSuite): void {
  const { call } = suite

  test("is chosen by header or query, by name or id; others get what is theirs", async () => {
    const org = await addOrg(suite)
    const ada = await addMember(suite, org, "member")
    const me = async (path: string, headers: Record<string, string> = {}) =>
      expectStatus(await call("GET", path, { as: ada, headers }), 200).json
    expect((await me("/v1/me")).username).toBe(ada.username)
    for (const owner of [org.id, org.username, `@${org.username}`, org.username.toUpperCase()]) {
      expect(await me("/v1/me", { "hamlet-owner": owner })).toMatchObject({
        id: org.id,
        type: "org",
        actor: { id: ada.id, username: ada.username },
      })
      expect((await me(`/v1/me?owner=${encodeURIComponent(owner)}`)).id).toBe(org.id)
    }
    expect((await me("/v1/me", { "hamlet-owner": ada.username })).id).toBe(ada.id)
    const eve = await suite.sharedUser()
    const refused = await call("GET", "/v1/me", { as: eve, headers: { "hamlet-owner": org.id } })
    expect(toOutcome(refused)).toEqual([404, "org_not_found"])
    const unknown = await call("GET", "/v1/me", { as: eve, headers: { "hamlet-owner": "nothing" } })
    expect(toOutcome(unknown)).toEqual([404, "org_not_found"])
  })

  test("lets members write, and viewers only read", async () => {
    const org = await addOrg(suite)
    const ada = await addMember(suite, org, "member")
    const bob = await addMember(suite, org, "viewer")
    const headers = { "hamlet-owner": org.username }
    const set = (as: TestUser) =>
      call("PUT", "/v1/me/secrets/KEY", { as, headers, body: { value: "1" } })
    expect(toOutcome(await set(bob))).toEqual([403, "role_too_low"])
    expectStatus(await set(ada), 204)
    const list = async (as: TestUser, sent: Record<string, string>) =>
      expectStatus(await call("GET", "/v1/me/secrets", { as, headers: sent }), 200).json.data
    expect((await list(bob, headers)).map(({ name }: { name: string }) => name)).toEqual(["KEY"])
    expect(await list(ada, {})).toEqual([])
  })
}

function defineVals(suite: ApiSuite): void {
  const { call } = suite
  const privateVal = async (org: Org, as: TestUser, code = "export default 1") =>
    expectStatus(
      await call("POST", "/v1/vals", {
        as,
        headers: { "hamlet-owner": org.username },
        body: { name: "tool", code, privacy: "private" },
      }),
      200,
    ).json

  test("belong to it, whoever of the members made them", async () => {
    const org = await addOrg(suite)
    const ada = await addMember(suite, org, "member")
    const val = await privateVal(org, ada)
    expect(val.author).toMatchObject({ id: org.id, username: org.username })
    const body = { name: "folder", privacy: "private", orgId: org.id }
    const folder = expectStatus(await call("POST", "/v2/vals", { as: ada, body }), 201).json
    expect(folder.author).toEqual({ id: org.id, type: "org", username: org.username })
    const eve = await suite.sharedUser()
    const refused = await call("POST", "/v2/vals", { as: eve, body: { ...body, name: "other" } })
    expect(toOutcome(refused)).toEqual([404, "org_not_found"])
  })

  test("are changed by members, seen by viewers, and private for others", async () => {
    const org = await addOrg(suite)
    const ada = await addMember(suite, org, "member")
    const bob = await addMember(suite, org, "viewer")
    const eve = await suite.sharedUser()
    const { id } = await privateVal(org, org.owner)
    const save = (as: TestUser) =>
      call("POST", `/v1/vals/${id}/versions`, { as, body: { code: `export default "${as.id}"` } })
    expectStatus(await save(ada), 201)
    // Each version names the person, not the organisation.
    for (const list of ["versions", "history"]) {
      const { json } = await call("GET", `/v1/vals/${id}/${list}`, { as: bob })
      expect(json.data.map(({ author }: { author: object }) => author)).toEqual([
        { id: ada.id, username: ada.username },
        { id: org.owner.id, username: org.owner.username },
      ])
    }
    expect(toOutcome(await save(bob))).toEqual([403, "role_too_low"])
    expect(toOutcome(await save(eve))).toEqual([404, "val_not_found"])
    const see = (as: TestUser) => call("GET", `/v1/vals/${id}`, { as })
    expect(expectStatus(await see(bob), 200).json.version).toBe(2)
    expect(toOutcome(await see(eve))).toEqual([404, "val_not_found"])
    const byName = (as: TestUser) => call("GET", `/v1/alias/${org.username}/tool`, { as })
    expectStatus(await byName(bob), 200)
    expect(toOutcome(await byName(eve))).toEqual([404, "val_not_found"])
    const listed = async (as: TestUser) =>
      expectStatus(await call("GET", `/v1/users/${org.id}/vals`, { as }), 200).json.data.length
    expect([await listed(ada), await listed(bob), await listed(eve)]).toEqual([1, 1, 0])
    const found = async (as: TestUser) =>
      expectStatus(
        await call("GET", "/v1/search/vals?query=tool&limit=100", { as }),
        200,
      ).json.data.filter((val: { id: string }) => val.id === id).length
    expect([await found(ada), await found(bob), await found(eve)]).toEqual([1, 1, 0])
    expectStatus(
      await call("DELETE", `/v1/orgs/${org.id}/members/${ada.id}`, { as: org.owner }),
      204,
    )
    expect(toOutcome(await save(ada))).toEqual([404, "val_not_found"])
    expect(await listed(ada)).toBe(0)
  })

  test("import each other by a relative address, whoever saves", async () => {
    const org = await addOrg(suite)
    const ada = await addMember(suite, org, "member")
    const library = await privateVal(org, org.owner)
    const body = { name: "user_of_it", code: "export default 1", privacy: "private" }
    const headers = { "hamlet-owner": org.username }
    const user = expectStatus(await call("POST", "/v1/vals", { as: ada, headers, body }), 200).json
    expectStatus(
      await call("POST", `/v1/vals/${user.id}/versions`, {
        as: ada,
        body: { code: 'import one from "./tool"\nexport default one' },
      }),
      201,
    )
    const path = `/v1/vals/${library.id}/references`
    const { data } = expectStatus(await call("GET", path, { as: ada }), 200).json
    expect(data).toMatchObject([{ reference: { id: user.id } }])
  })
}

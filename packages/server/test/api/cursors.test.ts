import { afterEach, expect, test } from "bun:test"
import {
  type RouteDefinition,
  type RouteName,
  routeNames,
  routes,
  toCursorText,
} from "@hamlet/contract"
import ValTown from "@valtown/sdk"
import { Cursor } from "@valtown/sdk/pagination"
import { roomLimits } from "../../src/http/response/response-room.ts"
import { createNodeStore } from "../../src/storage/nodes.ts"
import { addIdentity } from "../authorization/linked-identity.ts"
import { expectStatus, type TestUser, testBaseUrl } from "../support/api.ts"
import { addAuthorization } from "./oauth-flow.ts"
import { type ApiSuite, describeApi, refusalOf, type ValView } from "./suite.ts"

/** A list, what is put on it, and what is taken off it where that is possible. */
interface Scene {
  readonly path: string
  readonly as?: TestUser
  readonly toId?: (item: Item) => string
  add?(): Promise<unknown>
  remove?(id: string): Promise<unknown>
}

// biome-ignore lint/suspicious/noExplicitAny: what lists have is as different as lists are
type Item = any

type ListName = {
  [Name in RouteName]: (typeof routes)[Name] extends {
    query: { shape: { cursor: unknown; offset: unknown } }
  }
    ? Name
    : never
}[RouteName]

/** More than three pages, and so few that the test is quick. */
const itemsAtFirst = 7
const limit = 2

/** A webhook that is paused and whose receiver does not exist. */
const sampleWebhook = { url: "https://receiver.invalid/", events: ["val.saved"], isPaused: true }

/** The path of a new organisation. */
async function addOrganisation({ call }: ApiSuite, as: TestUser): Promise<string> {
  const body = { username: `o${crypto.randomUUID().slice(0, 8)}` }
  const { json } = await call("POST", "/v1/orgs", { as, body })
  return `/v1/orgs/${json.id}`
}

/** A list of the versions of a val. */
function ofVersions(list: string) {
  return async ({ call, addUser: person, val }: ApiSuite): Promise<Scene> => {
    const ada = await person()
    const { id } = await val(ada)
    return {
      path: `/v1/vals/${id}/${list}`,
      as: ada,
      toId: (item) => String(item.version),
      add: () =>
        call("POST", `/v1/vals/${id}/versions`, { as: ada, body: { code: crypto.randomUUID() } }),
      remove: (version) => call("DELETE", `/v1/vals/${id}/versions/${version}`, { as: ada }),
    }
  }
}

/** For each list, ways to ask for it. Each begins with items on it. */
const scenes: Record<ListName, readonly ((suite: ApiSuite) => Promise<Scene>)[]> = {
  listVals: [
    ofVals((ada) => `/v1/vals?userId=${ada.id}`),
    ofVals((ada) => `/v1/vals?userId=${ada.id}&privacy=private`),
  ],
  listUserVals: [ofVals((ada) => `/v1/users/${ada.id}/vals`)],
  listMyVals: ["created", "updated", "name", "likes", "run"].flatMap((sort) =>
    ["asc", "desc"].map((order) => ofVals(() => `/v1/me/vals?sort=${sort}&order=${order}`)),
  ),
  searchVals: [
    ofVals((ada) => `/v1/search/vals?query=${ada.username}zebra`),
    ofVals((ada) => `/v1/search/vals?query=${ada.username}zebra`, "public"),
  ],
  listFolders: [ofVals((ada) => `/v2/vals?user_id=${ada.id}`)],
  listMyFolders: [ofVals(() => "/v2/me/vals")],
  listVersions: [ofVersions("versions")],
  listHistory: [ofVersions("history"), ofVersions("history?path=main.tsx")],
  listMyRuns: [
    async ({ call, addUser: person, val, run }) => {
      const ada = await person()
      return {
        path: "/v1/me/runs?source=api,http&error=false",
        as: ada,
        toId: (item) => item.val.id,
        add: async () =>
          run(await val(ada), {
            source: Math.random() < 0.5 ? "api" : "http",
            startedAt: Date.now(),
          }),
        remove: (id) => call("DELETE", `/v1/vals/${id}`, { as: ada }),
      }
    },
  ],
  listValRuns: [
    async ({ addUser: person, val, run }) => {
      const ada = await person()
      const ran = await val(ada)
      return {
        path: `/v1/vals/${ran.id}/runs`,
        as: ada,
        add: () => run(ran, { startedAt: Date.now() }),
      }
    },
  ],
  listMyLikes: [
    async ({ call, addUser: person, val }) => {
      const [ada, bob] = [await person(), await person()]
      return {
        path: "/v1/me/likes",
        as: bob,
        add: async () => call("PUT", `/v1/vals/${(await val(ada)).id}/like`, { as: bob }),
        remove: (id) => call("DELETE", `/v1/vals/${id}/like`, { as: bob }),
      }
    },
  ],
  listMyComments: [
    ofComments(() => "/v1/me/comments"),
    ofComments(() => "/v1/me/comments?relationship=given"),
  ],
  listComments: [ofComments((on) => `/v1/vals/${on.id}/comments`)],
  listMyReferences: [ofReferences(() => "/v1/me/references")],
  listForks: [
    async ({ call, addUser: person, val }) => {
      const [ada, bob] = [await person(), await person()]
      const { id } = await val(bob)
      let count = 0
      return {
        path: `/v1/vals/${id}/forks`,
        as: ada,
        add() {
          count += 1
          const privacy = count % 3 === 0 ? "private" : "public"
          return call("POST", `/v1/vals/${id}/fork`, { as: ada, body: { privacy } })
        },
        remove: (fork) => call("DELETE", `/v1/vals/${fork}`, { as: ada }),
      }
    },
  ],
  listValReferences: [ofReferences((on) => `/v1/vals/${on.id}/references`)],
  listValDependencies: [
    async ({ call, addUser: person, val }) => {
      const ada = await person()
      const imported = await Promise.all(Array.from({ length: itemsAtFirst }, () => val(ada)))
      const code = imported
        .map(({ name }) => `import "${testBaseUrl}/v/${ada.username}/${name}"`)
        .join("\n")
      const { id } = await val(ada, { code })
      return {
        path: `/v1/vals/${id}/dependencies`,
        as: ada,
        toId: (item) => item.dependsOn.id,
        remove: (gone) => call("DELETE", `/v1/vals/${gone}`, { as: ada }),
      }
    },
  ],
  listUsers: [
    async ({ api, addUser: person }) => ({ path: "/v1/users", as: api.admin, add: person }),
  ],
  listInvitations: [
    async ({ api, call }) => ({
      path: "/v1/invitations",
      as: api.admin,
      add: () => call("POST", "/v1/invitations", { as: api.admin, body: {} }),
      remove: (id) => call("DELETE", `/v1/invitations/${id}`, { as: api.admin }),
    }),
  ],
  listAuditEntries: [
    async ({ api, call }) => ({
      path: "/v1/audit",
      as: api.admin,
      add: () => call("POST", "/v1/invitations", { as: api.admin, body: {} }),
    }),
  ],
  listNodes: [
    async ({ api, database }) => {
      const nodes = createNodeStore(database.db)
      const add = () =>
        nodes.add({ id: Bun.randomUUIDv7(), host: "x", pid: 1, pidStarted: "" }, 3_600_000)
      return { path: "/v1/nodes", as: api.admin, add, remove: (id) => nodes.end(id) }
    },
  ],
  listTokens: [
    async ({ call, addUser: person }) => {
      const ada = await person()
      const add = () =>
        call("POST", "/v1/me/tokens", { as: ada, body: { name: "more", scopes: ["val:read"] } })
      // The one that asks is the oldest of all.
      return {
        path: "/v1/me/tokens",
        as: ada,
        add,
        remove: (id) => call("DELETE", `/v1/me/tokens/${id}`, { as: ada }),
      }
    },
  ],
  listSessions: [
    async ({ api, call, addUser: person }) => {
      const ada = await person()
      const add = () =>
        api.hamlet.nouns.sessions.signIn({ token: ada.token, userAgent: null, replaced: undefined })
      return {
        path: "/v1/me/sessions",
        as: ada,
        add,
        remove: (id) => call("DELETE", `/v1/me/sessions/${id}`, { as: ada }),
      }
    },
  ],
  listIdentities: [
    async ({ api, call, addUser: person }) => {
      const ada = await person()
      return {
        path: "/v1/me/identities",
        as: ada,
        add: () => addIdentity(api, ada),
        remove: (id) => call("DELETE", `/v1/me/identities/${id}`, { as: ada }),
      }
    },
  ],
  listAuthorizations: [
    async ({ api, call, addUser: person }) => {
      const ada = await person()
      return {
        path: "/v1/me/authorizations",
        as: ada,
        add: () => addAuthorization(api.hamlet, ada),
        remove: (id) => call("DELETE", `/v1/me/authorizations/${id}`, { as: ada }),
      }
    },
  ],
  listMyEmails: [
    async ({ api, addUser: person }) => {
      const ada = await person()
      const { emails } = api.hamlet.parts.outboundMail
      const { newId } = api.hamlet.nouns.clock
      const add = () =>
        emails.add(
          {
            id: newId(),
            accountId: ada.id,
            kind: "api",
            runId: null,
            val: null,
            from: "",
            recipients: [],
            subject: "",
            content: new Uint8Array(1),
            createdAt: Date.now(),
          },
          { recipientsPerDay: undefined, bytesPerDay: undefined, storedBytesMax: 1_000 },
        )
      return { path: "/v1/me/emails", as: ada, toId: (item) => item.id, add }
    },
  ],
  listSecrets: [
    async ({ call, addUser: person }) => {
      const ada = await person()
      const add = () =>
        call("PUT", `/v1/me/secrets/S_${crypto.randomUUID().replaceAll("-", "").toUpperCase()}`, {
          as: ada,
          body: { value: "v" },
        })
      const remove = (name: string) => call("DELETE", `/v1/me/secrets/${name}`, { as: ada })
      return { path: "/v1/me/secrets", as: ada, toId: (item) => item.name, add, remove }
    },
  ],
  listValSecrets: [
    async ({ call, addUser: person, val }) => {
      const ada = await person()
      const path = `/v1/vals/${(await val(ada)).id}/secrets`
      const add = () =>
        call("PUT", `${path}/S_${crypto.randomUUID().replaceAll("-", "").toUpperCase()}`, {
          as: ada,
          body: { value: "v" },
        })
      const remove = (name: string) => call("DELETE", `${path}/${name}`, { as: ada })
      return { path, as: ada, toId: (item) => item.name, add, remove }
    },
  ],
  listEnvironmentVariables: [
    async ({ call, addUser: person, val }) => {
      const ada = await person()
      const path = `/v2/vals/${(await val(ada)).id}/environment_variables`
      const add = () => {
        const key = `S_${crypto.randomUUID().replaceAll("-", "")}`
        return call("POST", path, { as: ada, body: { key, value: "v" } })
      }
      const remove = (key: string) => call("DELETE", `${path}/${key}`, { as: ada })
      return { path, as: ada, toId: (item) => item.key, add, remove }
    },
  ],
  listNotifications: [
    async ({ call, addUser: person, val }) => {
      const [ada, bob] = [await person(), await person()]
      const { id } = await val(ada)
      const body = { comment: "c" }
      return {
        path: "/v1/me/notifications",
        as: ada,
        add: () => call("POST", `/v1/vals/${id}/comments`, { as: bob, body }),
      }
    },
  ],
  listOrganisations: [
    async ({ call, addUser: person }) => {
      const ada = await person()
      const add = () =>
        call("POST", "/v1/orgs", {
          as: ada,
          body: { username: `o${crypto.randomUUID().slice(0, 8)}` },
        })
      return { path: "/v1/orgs", as: ada, add }
    },
  ],
  listMyMemberships: [
    async ({ call, addUser: person }) => {
      const ada = await person()
      const add = () =>
        call("POST", "/v1/orgs", {
          as: ada,
          body: { username: `o${crypto.randomUUID().slice(0, 8)}` },
        })
      return { path: "/v1/me/memberships", as: ada, toId: (item) => item.org.id, add }
    },
  ],
  listOrgMembers: [
    async (suite) => {
      const { call, addUser: person } = suite
      const ada = await person()
      const path = await addOrganisation(suite, ada)
      const add = async () =>
        call("PUT", `${path}/members/${(await person()).id}`, { as: ada, body: { role: "viewer" } })
      const remove = (id: string) => call("DELETE", `${path}/members/${id}`, { as: ada })
      return { path: `${path}/members`, as: ada, toId: (item) => item.user.id, add, remove }
    },
  ],
  listOrgInvitations: [
    async (suite) => {
      const { call, addUser: person } = suite
      const ada = await person()
      const path = `${await addOrganisation(suite, ada)}/invitations`
      const add = () => call("POST", path, { as: ada, body: { role: "viewer" } })
      const remove = (id: string) => call("DELETE", `${path}/${id}`, { as: ada })
      return { path, as: ada, add, remove }
    },
  ],
  listMySchedules: [
    async ({ call, addUser: person, val }) => {
      const ada = await person()
      const add = async () => {
        const { id } = await val(ada, { type: "interval" })
        return call("PUT", `/v1/vals/${id}/schedule`, { as: ada, body: { every: "300d" } })
      }
      const remove = (id: string) => call("DELETE", `/v1/vals/${id}/schedule`, { as: ada })
      return { path: "/v1/me/schedules", as: ada, toId: (item) => item.val.id, add, remove }
    },
  ],
  listWebhooks: [
    async ({ call, addUser: person }) => {
      const ada = await person()
      return {
        path: "/v1/me/webhooks",
        as: ada,
        add: () => call("POST", "/v1/me/webhooks", { as: ada, body: sampleWebhook }),
        remove: (id) => call("DELETE", `/v1/me/webhooks/${id}`, { as: ada }),
      }
    },
  ],
  listDeliveries: [
    async ({ call, addUser: person }) => {
      const ada = await person()
      const { json } = await call("POST", "/v1/me/webhooks", { as: ada, body: sampleWebhook })
      return {
        path: `/v1/me/webhooks/${json.id}/deliveries`,
        as: ada,
        add: () => call("POST", `/v1/me/webhooks/${json.id}/test`, { as: ada }),
      }
    },
  ],
}

/**
 * Vals of all kinds: some liked, some run, some public, some with the word in their name and some
 * in their code.
 */
function ofVals(
  toPath: (ada: TestUser) => string,
  privacy?: string,
): (suite: ApiSuite) => Promise<Scene> {
  return async ({ call, addUser: person, val, run }) => {
    const [ada, bob] = [await person(), await person()]
    let count = 0
    return {
      path: toPath(ada),
      as: ada,
      async add() {
        count += 1
        const word = `${ada.username}zebra`
        const hidden = toPath(ada).includes("privacy=private")
        const fields = {
          privacy: privacy ?? (hidden || count % 3 === 0 ? "private" : "public"),
          code: `// ${word}`,
        }
        const made = await val(
          ada,
          count % 2 === 0 ? { ...fields, name: `${word}${count}` } : fields,
        )
        if (count % 2 === 0)
          await call("PUT", `/v1/vals/${made.id}/like`, { as: count % 3 === 0 ? ada : bob })
        if (count % 3 !== 0) await run(made, { startedAt: Date.now() })
      },
      remove: (id) => call("DELETE", `/v1/vals/${id}`, { as: ada }),
    }
  }
}

function ofComments(toPath: (on: ValView) => string): (suite: ApiSuite) => Promise<Scene> {
  return async ({ call, addUser: person, val }) => {
    const ada = await person()
    const on = await val(ada)
    return {
      path: toPath(on),
      as: ada,
      add: () => call("POST", `/v1/vals/${on.id}/comments`, { as: ada, body: { comment: "c" } }),
      remove: (id) => call("DELETE", `/v1/comments/${id}`, { as: ada }),
    }
  }
}

function ofReferences(toPath: (on: ValView) => string): (suite: ApiSuite) => Promise<Scene> {
  return async ({ call, addUser: person, val }) => {
    const [ada, bob] = [await person(), await person()]
    const on = await val(ada)
    return {
      path: toPath(on),
      as: ada,
      toId: (item) => item.reference.id,
      add: () => val(bob, { code: `import "${testBaseUrl}/v/${ada.username}/${on.name}"` }),
      remove: (id) => call("DELETE", `/v1/vals/${id}`, { as: bob }),
    }
  }
}

describeApi("api/cursors", (suite, isWhole) => {
  const { call } = suite
  const toPathOf = (link: string) => link.slice(testBaseUrl.length)
  const withLimit = (path: string, count: number) =>
    `${path}${path.includes("?") ? "&" : "?"}limit=${count}`

  test("every list route has a test case", () => {
    const listRoutes = (parameter: string) =>
      routeNames.filter(
        (name) => parameter in ((routes[name] as RouteDefinition).query?.shape ?? {}),
      )
    // The pages of a difference have no limit, see v2-branches.test.ts.
    expect([...Object.keys(scenes), "getBranchDifference"].sort()).toEqual(
      [...listRoutes("cursor")].sort(),
    )
    // The files of a version do not change, branches are few, and there are no organisations.
    expect([...Object.keys(scenes), "listBranches", "listFiles", "listOrgs"].sort()).toEqual(
      [...listRoutes("offset")].sort(),
    )
  })

  /** How large pages may be. */
  const setPageBytes = (bytes: number) =>
    Object.assign(suite.api.hamlet.nouns.api.responseRooms.limits, { pageBytesMax: bytes })
  afterEach(() => setPageBytes(roomLimits.pageBytesMax))

  for (const [name, variants] of Object.entries(scenes)) {
    for (const [index, open, itemsMax] of variants
      .entries()
      .flatMap(([at, scene]) =>
        (isWhole ? [limit, 1] : [limit]).map((itemsMax) => [at, scene, itemsMax] as const),
      )) {
      test(`links page through ${name} (${index + 1}) without gaps or repeats while others save and delete, ${itemsMax} at a time`, async () => {
        const { path, as, toId = (item: Item) => item.id, add, remove } = await open(suite)
        for (let count = 0; add && count < itemsAtFirst; count += 1) await add()
        const read = async (at: string) => expectStatus(await call("GET", at, { as }), 200).json
        const first: string[] = (await read(withLimit(path, 100))).data.map(toId)
        // No item fits, and the first one is on the page anyway.
        if (itemsMax < limit) setPageBytes(1)
        expect(first.length).toBeGreaterThanOrEqual(itemsAtFirst)
        const seen: string[] = []
        let gone: string | undefined
        for (
          let link: string | undefined = testBaseUrl + withLimit(path, limit);
          link !== undefined;
        ) {
          const { data, links } = await read(toPathOf(link))
          expect(data.length).toBeLessThanOrEqual(itemsMax)
          seen.push(...data.map(toId))
          if (seen.length <= limit) {
            await add?.()
            // One that was shown, and one that is not to be shown any more. The last of the tokens
            // is the one that asks.
            gone = remove && first.at(-2)
            for (const id of [first[0], gone]) await remove?.(id ?? "")
          }
          if (seen.length === 2 * limit) await add?.()
          if (seen.length > limit)
            expect(new URL(links.prev).searchParams.has("cursor")).toBe(false)
          link = links.next
          expect(seen.length).toBeLessThan(500)
        }
        expect(seen.filter((id) => first.includes(id))).toEqual(first.filter((id) => id !== gone))
        expect(new Set(seen).size).toBe(seen.length)
      })

      // Two ways read the same columns: testing one will do.
      if (index % 2 === 1 || itemsMax < limit) continue
      test(`a forged cursor for ${name} (${index + 1}) is refused or shows nothing more`, async () => {
        const { path, as, toId = (item: Item) => item.id, add } = await open(suite)
        for (let count = 0; add && count < 2; count += 1) await add()
        const all: string[] = expectStatus(
          await call("GET", withLimit(path, 100), { as }),
          200,
        ).json.data.map(toId)
        for (const cursor of hostileCursors) {
          const response = await call(
            "GET",
            `${withLimit(path, 100)}&cursor=${encodeURIComponent(cursor)}`,
            { as },
          )
          if (response.status === 400)
            expect([response.json.code, response.json.issues[0].path]).toEqual([
              "invalid_request",
              "cursor",
            ])
          else
            expect(all).toEqual(
              expect.arrayContaining(expectStatus(response, 200).json.data.map(toId)),
            )
        }
      })
    }
  }

  test("a page by cursor has a self link, and its offset is the number of items before it", async () => {
    const { path, as, add } = await ofVals((ada) => `/v1/users/${ada.id}/vals`)(suite)
    for (let count = 0; count < 5; count += 1) await add?.()
    const first = expectStatus(await call("GET", withLimit(path, 2), { as }), 200).json
    const second = expectStatus(await call("GET", toPathOf(first.links.next), { as }), 200).json
    expect(second.links.self).toBe(first.links.next)
    expect((await call("GET", toPathOf(second.links.prev), { as })).json.data).toEqual(first.data)
    expect(
      [second.links.next, second.links.prev].map((link) =>
        new URL(link).searchParams.get("offset"),
      ),
    ).toEqual(["4", "0"])
    // What it says of the offset is not what decides.
    const moved = new URL(first.links.next)
    moved.searchParams.set("offset", "3")
    expect((await call("GET", toPathOf(moved.href), { as })).json.data).toEqual(second.data)
    expect(refusalOf(await call("GET", `${withLimit(path, 2)}&cursor=a&cursor=b`, { as }))).toEqual(
      [400, "invalid_request"],
    )
  })

  test("the official client, which sends the next link as its cursor, reaches the end", async () => {
    const { path, as, add } = await ofVals((ada) => `/v1/vals?userId=${ada.id}`)(suite)
    for (let count = 0; count < 5; count += 1) await add?.()
    const client = new ValTown({
      baseURL: testBaseUrl,
      bearerToken: as?.token ?? "",
      fetch: ((input: string | URL | Request, init?: RequestInit) =>
        suite.api.hamlet.app.request(input as string, init)) as never,
    })
    const query = Object.fromEntries(new URL(path, testBaseUrl).searchParams)
    const list = await client.getAPIList<ValView, Cursor<ValView>>("/v1/vals", Cursor, {
      query: { ...query, limit: 2 },
    })
    const ids: string[] = []
    for await (const item of list) {
      ids.push(item.id)
      expect(ids.length).toBeLessThan(10)
    }
    expect(ids).toEqual((await call("GET", path, { as })).json.data.map(({ id }: ValView) => id))
    expect(ids).toHaveLength(5)
  })
})

const id = "0190a6b1-7e3c-7c4d-8f5e-0123456789ab"

const hostileCursors: readonly string[] = [
  "",
  " ",
  "x",
  "1",
  "null",
  "*",
  "=",
  "%00",
  "'; drop table vals; --",
  "a".repeat(20_000),
  "http://",
  `${testBaseUrl}/v1/vals?limit=1`,
  `${testBaseUrl}/v1/vals?cursor=x`,
  "https://elsewhere.test/?cursor=",
  "javascript:1",
  ...[
    "{}",
    "[]",
    "[[]]",
    "[{}]",
    "[true]",
    "1",
    '"x"',
    "null",
    "[1e400]",
    "[1.5,2]",
    "[null]",
    "[null,null]",
    "[1,null]",
  ].map((json) => btoa(json)),
  btoa(`[${"[".repeat(3_000)}`),
  ...[
    [1],
    [2 ** 40],
    [-1],
    [1, 2],
    [1, id],
    [Number.MAX_SAFE_INTEGER, id],
    [Number.MAX_SAFE_INTEGER, "ffffffff-ffff-ffff-ffff-ffffffffffff"],
    [-Number.MAX_SAFE_INTEGER, id],
    [1, id.toUpperCase()],
    [1, "x"],
    ["x"],
    [id],
    [null, id],
    [1, id, id],
    [0, 0, 1, id],
    [1, 2 ** 31 - 1, 2 ** 53 - 1, id],
    [1, 2 ** 31, 1, id],
    [1, 1, 1, 1],
    [1, 2, 3, id, 5],
    [1, "x' or 1=1 --"],
  ].map(toCursorText),
]

import { expect, test } from "bun:test"
import { describeEachDatabase } from "../support/databases.ts"
import { chosenToken, openServerFixture } from "../support/server-fixture.ts"

const count = 40
/** Each has done another part of its work when the server is killed. */
const writes = [
  { path: "/v1/vals", body: (index: number) => ({ code: `export default ${index}` }) },
  { path: "/v1/me/tokens", body: (index: number) => ({ name: `t${index}`, scopes: ["val:read"] }) },
  { path: "/v1/users", body: (index: number) => ({ username: `user${index}` }) },
]
const authorization = `Bearer ${chosenToken}`

describeEachDatabase("hamlet serve, killed during requests with an idempotency key,", (open) => {
  test("executes each at most once when they are sent again, and responds to all", async () => {
    await using fixture = await openServerFixture(open)
    const before = await fixture.serve()
    const indexes = Array.from({ length: count }, (_, index) => index)
    const sent = indexes.flatMap((index) =>
      writes.map((which) => ({ which, response: send(before.baseUrl, which, index) })),
    )
    // When the first of each kind is answered, most of the others have written something.
    await Promise.all(
      writes.map((which) =>
        Promise.any(sent.filter((one) => one.which === which).map(({ response }) => response)),
      ),
    )
    before.hamlet.signal("SIGKILL")
    await before.hamlet.ended()
    await Promise.allSettled(sent.map(async ({ response }) => (await response).text()))

    const { baseUrl } = await fixture.serve()
    for (const which of writes) {
      const responses = await Promise.all(indexes.map((index) => send(baseUrl, which, index)))
      const texts = await Promise.all(responses.map((response) => response.text()))
      expect([which.path, responses.map(({ status }) => status)]).toEqual([
        which.path,
        Array(count).fill(200),
      ])
      const repeated = await Promise.all(indexes.map((index) => send(baseUrl, which, index)))
      expect(await Promise.all(repeated.map((response) => response.text()))).toEqual(texts)
      const ids = texts.map((text) => JSON.parse(text).id)
      expect(new Set(ids).size).toBe(count)
      const tokens = which.path === "/v1/vals" ? [] : texts.map((text) => JSON.parse(text).token)
      for (const token of tokens.slice(0, 5)) {
        const me = await fetch(`${baseUrl}/v1/vals?limit=1`, {
          headers: { authorization: `Bearer ${token}` },
        })
        expect(me.status).toBe(200)
      }
    }
    // The server's own: the first token, and the first user.
    expect([
      await countOf(baseUrl, "/v1/vals"),
      await countOf(baseUrl, "/v1/me/tokens"),
      await countOf(baseUrl, "/v1/users"),
    ]).toEqual([count, count + 1, count + 1])
  }, 240_000)
})

function send(baseUrl: string, which: (typeof writes)[number], index: number): Promise<Response> {
  return fetch(`${baseUrl}${which.path}`, {
    method: "POST",
    headers: {
      authorization,
      "idempotency-key": `${which.path} ${index}`,
      "content-type": "application/json",
    },
    body: JSON.stringify(which.body(index)),
  })
}

/** The number of items of a list. */
async function countOf(baseUrl: string, path: string): Promise<number> {
  const found = []
  for (let next: string | undefined = `${baseUrl}${path}?limit=100`; next !== undefined; ) {
    const { data, links } = await (await fetch(next, { headers: { authorization } })).json()
    found.push(...data)
    next = links.next
  }
  return found.length
}

import { expect, test } from "bun:test"
import { describeEachDatabase } from "../support/databases.ts"
import { chosenToken, openServerFixture } from "../support/server-fixture.ts"

const count = 40
/** By kill. What is cut off is another part of the work each time. */
const writes = [
  { path: "/v1/vals", body: (index: number) => ({ code: `export default ${index}` }) },
  { path: "/v1/me/tokens", body: (index: number) => ({ name: `t${index}`, scopes: ["val:read"] }) },
  { path: "/v1/users", body: (index: number) => ({ username: `user${index}` }) },
]

describeEachDatabase("hamlet serve, killed during requests with an idempotency key,", (open) => {
  test("executes each at most once when they are sent again, and responds to all", async () => {
    await using fixture = await openServerFixture(open)
    const authorization = `Bearer ${chosenToken}`
    const send = (baseUrl: string, which: (typeof writes)[number], index: number) =>
      fetch(`${baseUrl}${which.path}`, {
        method: "POST",
        headers: {
          authorization,
          "idempotency-key": `${which.path} ${index}`,
          "content-type": "application/json",
        },
        body: JSON.stringify(which.body(index)),
      })
    for (const which of writes) {
      const { hamlet, baseUrl } = await fixture.serve()
      const sent = Array.from({ length: count }, (_, index) => send(baseUrl, which, index))
      // Most have written something by the time the first is answered.
      await Promise.any(sent)
      hamlet.signal("SIGKILL")
      await hamlet.ended()
      await Promise.allSettled(sent.map(async (answer) => (await answer).text()))

      const again = await fixture.serve()
      const responses = await Promise.all(
        Array.from({ length: count }, (_, index) => send(again.baseUrl, which, index)),
      )
      const texts = await Promise.all(responses.map((response) => response.text()))
      expect([which.path, responses.map(({ status }) => status)]).toEqual([
        which.path,
        Array(count).fill(200),
      ])
      const repeated = await Promise.all(
        Array.from({ length: count }, (_, index) => send(again.baseUrl, which, index)),
      )
      expect(await Promise.all(repeated.map((response) => response.text()))).toEqual(texts)
      const ids = texts.map((text) => JSON.parse(text).id)
      expect(new Set(ids).size).toBe(count)
      const tokens = which.path === "/v1/vals" ? [] : texts.map((text) => JSON.parse(text).token)
      for (const token of tokens.slice(0, 5)) {
        const me = await fetch(`${again.baseUrl}/v1/vals?limit=1`, {
          headers: { authorization: `Bearer ${token}` },
        })
        expect(me.status).toBe(200)
      }
      again.hamlet.signal("SIGTERM")
      await again.hamlet.ended()
    }
    const { baseUrl } = await fixture.serve()
    const countOf = async (path: string) => {
      const found = []
      for (let next: string | undefined = `${baseUrl}${path}?limit=100`; next !== undefined; ) {
        const { data, links } = await (await fetch(next, { headers: { authorization } })).json()
        found.push(...data)
        next = links.next
      }
      return found.length
    }
    // The server's own: the first token, and the first user.
    expect([
      await countOf("/v1/vals"),
      await countOf("/v1/me/tokens"),
      await countOf("/v1/users"),
    ]).toEqual([count, count + 1, count + 1])
  }, 240_000)
})

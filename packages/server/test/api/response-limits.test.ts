import { afterEach, expect, test } from "bun:test"
import { limits } from "@hamlet/contract"
import { roomLimits } from "../../src/http/response/response-room.ts"
import { expectStatus, type TestUser, testBaseUrl } from "../support/api.ts"
import { describeSqliteApi } from "./suite.ts"

/** One character, and six in JSON. */
const control = "\u0001"

describeSqliteApi("api/response-limits", (suite) => {
  const { addUser: person, call, val } = suite
  const rooms = () => suite.api.hamlet.nouns.api.responseRooms
  const setPageBytes = (bytes: number) => Object.assign(rooms().limits, { pageBytesMax: bytes })
  afterEach(() => setPageBytes(roomLimits.pageBytesMax))

  /** The pages of a list, and how long each is. */
  async function readPages(path: string, as?: TestUser) {
    const pages: { readonly data: readonly Item[]; readonly bytes: number }[] = []
    for (let link: string | undefined = testBaseUrl + path; link !== undefined; ) {
      const { json, text } = expectStatus(
        await call("GET", link.slice(testBaseUrl.length), as ? { as } : {}),
        200,
      )
      pages.push({ data: json.data, bytes: Buffer.byteLength(text) })
      link = json.links.next
      expect(pages.length).toBeLessThan(50)
    }
    return pages
  }

  test("lists of the longest texts end early, and their links lead to all items, once each", async () => {
    const ada = await person()
    const code = `//${control.repeat(limits.codeCharsMax - 2)}`
    const made = [await val(ada, { code: `${code.slice(0, -1)}x` })]
    for (let count = 0; count < 4; count++) made.push(await val(ada, { code }))
    const { id } = made[0] ?? { id: "" }
    for (let count = 0; count < 3; count++)
      expectStatus(
        await call("POST", `/v1/vals/${id}/versions`, {
          as: ada,
          body: { code: code.slice(count + 1) },
        }),
        201,
      )
    const newest = made.map((one) => one.id).toReversed()
    const lists = [
      ["/v1/vals?userId=", newest],
      ["/v1/me/vals?", newest],
      [`/v1/vals/${id}/versions?`, [4, 3, 2, 1]],
    ] as const
    for (const [path, expected] of lists) {
      const at = path.endsWith("=") ? `${path}${ada.id}&` : path
      const pages = await readPages(`${at}limit=100`, ada)
      const items = pages.flatMap(({ data }) => data)
      expect(
        items.map((item) =>
          item.version === undefined || path.includes("me/") || path.includes("userId")
            ? item.id
            : item.version,
        ),
      ).toEqual([...expected])
      expect(pages.map(({ data }) => data.length)).toEqual(
        expected.length === 5 ? [2, 2, 1] : [2, 2],
      )
      for (const { bytes } of pages) expect(bytes).toBeLessThan(1.1 * roomLimits.pageBytesMax)
    }
    // Without cursor, by offset.
    const second = await call("GET", `/v1/vals?userId=${ada.id}&limit=100&offset=2`, { as: ada })
    expect(second.json.data.map((item: Item) => item.id)).toEqual(newest.slice(2, 4))
    expect(rooms().budget.heldBytes).toBe(0)
  })

  test("runs with long errors end a page early", async () => {
    const ada = await person()
    const ran = await val(ada)
    const error = { name: "Error", message: "m", stack: control.repeat(50_000) }
    for (let count = 0; count < 3; count++)
      await suite.run(ran, { startedAt: Date.now() + count, status: "failed", error })
    setPageBytes(400_000)
    const pages = await readPages(`/v1/vals/${ran.id}/runs?limit=100`, ada)
    expect(pages.map(({ data }) => data.length)).toEqual([1, 1, 1])
    expect(new Set(pages.map(({ data: [item] }) => item?.id)).size).toBe(3)
  })

  test("a difference has pages of the version of the first one", async () => {
    const ada = await person()
    const { id } = await val(ada, { code: "1" })
    const change = async (changes: readonly object[]) =>
      expectStatus(await call("POST", `/v1/vals/${id}/files`, { as: ada, body: { changes } }), 200)
    const names = ["a.txt", "b.txt", "c.txt", "d.txt"]
    await change(names.map((path) => ({ path, content: `old ${path}` })))
    // Where a file was that has moved away, there is another one.
    await change([
      { path: "b.txt", newPath: "z.txt" },
      { path: "b.txt", content: "other" },
      { path: "a.txt", content: "new" },
      { path: "c.txt", delete: true },
    ])
    const path = `/v1/vals/${id}/branches/${id}/diff?version=2`
    const whole = (await readPages(path)).flatMap(({ data }) => data)
    expect(whole.map((item) => [item.path, item.kind])).toEqual([
      ["a.txt", "changed"],
      ["b.txt", "moved"],
      ["b.txt", "added"],
      ["c.txt", "deleted"],
    ])
    setPageBytes(1)
    const first = expectStatus(await call("GET", path), 200).json
    expect(first.data).toEqual(whole.slice(0, 1))
    await change([
      { path: "a.txt", content: "newer" },
      { path: "d.txt", content: "newer" },
      { path: "b.txt", delete: true },
    ])
    const rest = await readPages(first.links.next.slice(testBaseUrl.length))
    expect(rest.map(({ data }) => data.length)).toEqual([1, 1, 1])
    expect([...first.data, ...rest.flatMap(({ data }) => data)]).toEqual(whole)
    for (const cursor of ["WzFd", "WyJ4Iiwx", "W251bGwsInhdIl0"])
      expect((await call("GET", `${path}&cursor=${cursor}`)).status).toBe(400)
  })
})

interface Item {
  readonly id?: string
  readonly version?: number
  readonly path?: string
  readonly kind?: string
}

import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { type OnDeno, openDeno } from "./support/on-deno.ts"

const denoMsMax = 120_000

describe("std/utils, on Deno,", () => {
  let deno: OnDeno
  let server: ReturnType<typeof Bun.serve>
  const seen: (readonly [path: string, accept: string | null, authorization: string | null])[] = []

  beforeAll(async () => {
    deno = await openDeno()
    server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: respond })
  })
  afterAll(async () => {
    await server.stop(true)
    await deno[Symbol.asyncDispose]()
  })

  /** Answers like the server, for the val ada/hello. */
  function respond(request: Request): Response {
    const { pathname } = new URL(request.url)
    const { headers } = request
    seen.push([pathname, headers.get("accept"), headers.get("authorization")])
    if (pathname === "/v1/alias/ada/hello") return Response.json(hello)
    if (pathname === "/v1/alias/ada/bare")
      return Response.json({ ...hello, readme: null, type: "script", links: { self: "s" } })
    if (!/^\/v\/ada\/(?:hello|bare)(?:@3)?$/.test(pathname))
      return new Response("Not Found", { status: 404 })
    const isBrowser = headers.get("user-agent")?.startsWith("Mozilla/")
    return new Response(isBrowser ? "const a = 1" : "const a: number = 1")
  }

  const hello = {
    ...{ id: "the-id", type: "http", version: 3, createdAt: "2026-01-01T00:00:00.000Z" },
    ...{ url: "the page", readme: "# Hello" },
    links: { self: "s", module: "m", endpoint: "http://ada-hello.localhost" },
  }

  const run = (body: string, more: Record<string, string> = {}) => {
    const url = server.url.origin
    const env = {
      HAMLET_URL: url,
      HAMLET_TOKEN: "hush",
      VALTOWN_ENTRYPOINT: `${url}/v/ada/hello@3`,
    }
    return deno.run(`const u = modules.utils; ${body}`, { ...env, ...more })
  }

  test(
    "parseVal reads the addresses of both services",
    async () => {
      const urls = [
        "https://vals.example/hamlet/v/ada/hello@3",
        "https://vals.example/v/ada/hello",
        "https://esm.town/v/ada/hello@12-main/backend/index.ts",
        "https://esm.town/v/@ada/hello?v=7",
        "https://esm.town/v/ada/hello@12-my-branch/main.tsx",
      ]
      const parsed = await run(
        `return ${JSON.stringify(urls)}.map((url) => u.parseVal(url)).map((it) => [it.username, it.name, it.version, it.branch, it.file, it.links.self.val, it.links.esm])`,
      )
      const town = ["https://www.val.town/x/ada/hello", "https://esm.town/v/ada/hello"]
      expect(parsed).toEqual([
        [
          ...["ada", "hello", 3, "main", "main.tsx"],
          ...["https://vals.example/hamlet/u/ada/hello", "https://vals.example/hamlet/v/ada/hello"],
        ],
        [
          ...["ada", "hello", null, "main", "main.tsx"],
          ...["https://vals.example/u/ada/hello", "https://vals.example/v/ada/hello"],
        ],
        ["ada", "hello", 12, "main", "backend/index.ts", ...town],
        ["ada", "hello", 7, "main", "main.tsx", ...town],
        ["ada", "hello", 12, "my-branch", "main.tsx", ...town],
      ])
      expect(await run('return u.parseVal("https://example.com/x")')).toMatchObject({
        message: 'Cannot parse "https://example.com/x": it is not the address of a val',
      })
    },
    denoMsMax,
  )

  test(
    "reads and lists the files of the val that runs, with its token and version",
    async () => {
      seen.length = 0
      expect(
        await run(`return [await u.readFile("/README.md"), await u.readFile("main.tsx"), (await u.listFiles()).map((file) => [file.path, file.type]),
          await u.listFilesByPath("/READ").then((files) => files.length), await u.getValId(), await u.httpEndpoint("/main.tsx")]`),
      ).toEqual([
        ...["# Hello", "const a: number = 1"],
        [
          ["main.tsx", "http"],
          ["README.md", "file"],
        ],
        ...[1, "the-id", "http://ada-hello.localhost"],
      ])
      expect(seen.slice(0, 2)).toEqual([
        ["/v1/alias/ada/hello", "application/json", "Bearer hush"],
        ["/v/ada/hello@3", "text/tsx", "Bearer hush"],
      ])
    },
    denoMsMax,
  )

  test(
    "says what a val has where a file, a readme or a web address is missing",
    async () => {
      const bare = `${server.url.origin}/v/ada/bare@3`
      const messages = await run(`const bare = "${bare}"
        const tries = [u.readFile("/a/b.html"), u.readFile("README.md", bare), u.httpEndpoint("", bare), u.emailAddress("", bare), u.getValId("${server.url.origin}/v/ada/none")]
        return (await Promise.allSettled(tries)).map((it) => it.reason.message)`)
      expect(messages).toEqual([
        expect.stringContaining('Failed to fetch file "/a/b.html"'),
        expect.stringContaining('Failed to fetch file "README.md"'),
        expect.stringContaining("the val is not of type http"),
        expect.stringContaining("mail is not configured"),
        expect.stringContaining("the server answered 404"),
      ])
    },
    denoMsMax,
  )

  test(
    "serves files with their types, code as JavaScript, and 404 for others",
    async () => {
      const got = await run(`const serve = u.staticHTTPServer()
        const get = async (path) => { const r = await serve(new Request("http://x" + path)); return [r.status, r.headers.get("content-type"), await r.text()] }
        return [await get("/main.tsx"), await get("/README.md"), (await get("/"))[0], (await get("/x.ts"))[0], u.getContentType("a.HTML"), u.getContentType("a")]`)
      expect(got).toEqual([
        [200, "text/javascript", "const a = 1"],
        [200, "text/markdown; charset=utf-8", "# Hello"],
        ...[404, 404, "text/html; charset=utf-8", "text/plain; charset=utf-8"],
      ])
    },
    denoMsMax,
  )

  test(
    "immutable paths have the version, and lead from an earlier one to the current",
    async () => {
      const got = await run(`const url = u.immutableFileUrl("/main.tsx")
        const [good, old, none] = [await u.serveImmutableFile(url), await u.serveImmutableFile("/__immutable/2/main.tsx"), await u.serveImmutableFile("/other")]
        return [url, good.status, good.headers.get("cache-control"), old.status, old.headers.get("location"), none.status]`)
      const path = "/__immutable/3/main.tsx"
      expect(got).toEqual([path, 200, "public, max-age=31536000, immutable", 302, path, 404])
    },
    denoMsMax,
  )

  test(
    "sends the token to this server only, and works without one",
    async () => {
      seen.length = 0
      const other = { HAMLET_URL: "http://elsewhere.test", VALTOWN_ENTRYPOINT: "" }
      expect(
        await run(
          `return await u.readFile("README.md", "${server.url.origin}/v/ada/hello")`,
          other,
        ),
      ).toBe("# Hello")
      expect(seen).toEqual([["/v1/alias/ada/hello", "application/json", null]])
    },
    denoMsMax,
  )
})

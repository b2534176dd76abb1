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
    if (pathname === "/v2/alias/vals/ada/hello") return Response.json({ id: "the-id" })
    if (pathname === "/v2/vals/the-id/branches")
      return Response.json({ data: [{ id: "the-branch", name: "Main" }] })
    if (pathname === "/v2/vals/the-id/files") return Response.json(toPage(request.url))
    const id = /^\/v2\/files\/(.+)$/.exec(pathname)?.[1]
    if (id !== undefined) return Response.json(files.find((file) => file.id === id))
    const [, path = ""] = /^\/v\/ada\/hello(?:@3-main)?\/(.+)$/.exec(pathname) ?? []
    if (path === "README.md") return new Response("# Hello")
    if (path !== "main.tsx") return new Response("Not Found", { status: 404 })
    const isBrowser = headers.get("user-agent")?.startsWith("Mozilla/")
    return new Response(isBrowser ? "const a = 1" : "const a: number = 1")
  }

  /** One file a page. */
  function toPage(url: string) {
    const { origin, pathname, searchParams } = new URL(url)
    const offset = Number(searchParams.get("offset"))
    searchParams.set("offset", String(offset + 1))
    const file = files[offset]
    return {
      data: file ? [{ ...file, links: { self: `${origin}/v2/files/${file.id}` } }] : [],
      links: file ? { next: `${origin}${pathname}?${searchParams}` } : {},
    }
  }

  const files = [
    { id: "1", path: "main.tsx", type: "http", links: { endpoint: "http://ada-hello.localhost" } },
    { id: "2", path: "README.md", type: "file", links: {} },
    { id: "3", path: "mail.ts", type: "email", links: {} },
  ]

  const run = (body: string, more: Record<string, string> = {}) => {
    const url = server.url.origin
    const env = {
      HAMLET_URL: url,
      HAMLET_TOKEN: "hush",
      VALTOWN_ENTRYPOINT: `${url}/v/ada/hello@3-main/main.tsx`,
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
          "ada",
          "hello",
          3,
          "main",
          "main.tsx",
          "https://vals.example/hamlet/u/ada/hello",
          "https://vals.example/hamlet/v/ada/hello",
        ],
        [
          "ada",
          "hello",
          null,
          "main",
          "main.tsx",
          "https://vals.example/u/ada/hello",
          "https://vals.example/v/ada/hello",
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
        "# Hello",
        "const a: number = 1",
        [
          ["main.tsx", "http"],
          ["README.md", "file"],
          ["mail.ts", "email"],
        ],
        1,
        "the-id",
        "http://ada-hello.localhost",
      ])
      expect(seen.slice(0, 2)).toEqual([
        ["/v/ada/hello@3-main/README.md", "text/tsx", "Bearer hush"],
        ["/v/ada/hello@3-main/main.tsx", "text/tsx", "Bearer hush"],
      ])
    },
    denoMsMax,
  )

  test(
    "says what is missing: a file, its address, a branch or a val",
    async () => {
      const hello = `${server.url.origin}/v/ada/hello`
      const messages = await run(`const hello = "${hello}"
        const tries = [u.readFile("/a/b.html"), u.httpEndpoint("none.ts"), u.httpEndpoint("mail.ts"), u.emailAddress("README.md"), u.emailAddress("/mail.ts"),
          u.listFiles(hello + "@1-draft/main.tsx"), u.getValId("${server.url.origin}/v/ada/none")]
        return (await Promise.allSettled(tries)).map((it) => it.reason.message)`)
      expect(messages).toEqual([
        expect.stringContaining('Failed to fetch file "/a/b.html"'),
        expect.stringContaining('Cannot find file "none.ts"'),
        expect.stringContaining("the file is not of type http"),
        expect.stringContaining("the file is not of type email"),
        expect.stringContaining("mail is not configured"),
        expect.stringContaining("there is no such branch"),
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
        404,
        404,
        "text/html; charset=utf-8",
        "text/plain; charset=utf-8",
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
    "versioned assets have the version in their paths, and lead from an earlier one to the current",
    async () => {
      const got = await run(`const { url, serve } = u.versionedAssets()
        const get = async (path) => { const r = await serve(new Request("http://x" + path)); return [r.status, r.headers.get("location") ?? r.headers.get("cache-control")] }
        return [url("/README.md"), await get("/v3/README.md"), await get("/v2/README.md"), await get("/README.md")]`)
      expect(got).toEqual([
        "/v3/README.md",
        [200, "public, max-age=31536000, immutable"],
        [302, "/v3/README.md"],
        [404, null],
      ])
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
      expect(seen).toEqual([["/v/ada/hello/README.md", "text/tsx", null]])
    },
    denoMsMax,
  )
})

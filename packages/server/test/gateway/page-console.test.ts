import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { type GatewayFixture, openGatewayFixture } from "./support/gateway-fixture.ts"
import type { PlainVal } from "./support/plain-runner.ts"

let fixture: GatewayFixture
beforeAll(async () => {
  fixture = await openGatewayFixture()
})
afterAll(() => fixture[Symbol.asyncDispose]())

const html = { "content-type": "text/html; charset=utf-8" }
const page = "<!doctype html><html lang=en><head><title>x</title></head><body>x</body></html>"
const tag =
  /<script src="(\/\.hamlet\/console-\w+\.js)" data-app="http:\/\/localhost:\d+"><\/script>/

/** The headers with which the frame of a preview asks for a page. */
const framed = () => ({
  referer: `http://localhost:${fixture.port}/`,
  "sec-fetch-dest": "iframe",
  "accept-encoding": "gzip, br",
})
const lastSeen = () => fixture.runner.seen.at(-1)?.headers as Headers

let count = 0
async function addPage(val: PlainVal): Promise<string> {
  const name = `page${++count}`
  await fixture.addVal(name, val)
  return name
}

/** What the frame gets of a page with these bytes. */
async function frame(
  body: BodyInit,
  headers: Record<string, string> = html,
  request: RequestInit = {},
  status = 200,
): Promise<Response> {
  const name = await addPage(() => new Response(body, { status, headers }))
  return await fixture.request(name, "/", { ...request, headers: framed() })
}

describe("a page of a val", () => {
  test("is byte for byte what the val made, for all but the frame of a preview", async () => {
    const name = await addPage(
      () =>
        new Response(page, { headers: { ...html, etag: '"a"', "cache-control": "max-age=60" } }),
    )
    const { referer, "sec-fetch-dest": destination } = framed()
    const others: Record<string, string>[] = [
      {},
      { referer, "sec-fetch-dest": "document" },
      { referer: `${referer}u/ada/x`, "sec-fetch-dest": destination },
      { referer: "http://elsewhere.example/", "sec-fetch-dest": destination },
      { "sec-fetch-dest": destination },
      { cookie: "hamlet_preview=1" },
      { cookie: "hamlet_preview=1", "sec-fetch-dest": "document" },
      { cookie: "xhamlet_preview=1", "sec-fetch-dest": destination },
    ]
    for (const headers of others) {
      const response = await fixture.request(name, "/", { headers })
      expect([headers, await response.text()]).toEqual([headers, page])
      expect(response.headers.get("etag")).toBe('"a"')
      expect(response.headers.get("cache-control")).toBe("max-age=60")
      expect(response.headers.get("content-length")).toBe(String(page.length))
      expect(response.headers.getSetCookie()).toEqual([])
    }
  })

  test("gets the script once in the frame, and the record of the run does not", async () => {
    const name = await addPage(
      () =>
        new Response(page, {
          headers: {
            ...html,
            etag: '"a"',
            "last-modified": "Thu, 01 Jan 2026 00:00:00 GMT",
            "cache-control": "public, max-age=60",
            "content-security-policy": "script-src 'none'",
            "set-cookie": "mine=1",
          },
        }),
    )
    const response = await fixture.request(name, "/a?b=c", { headers: framed() })
    const text = await response.text()
    expect(text).toMatch(tag)
    expect(text.replace(tag, "")).toBe(page)
    expect(text).toStartWith("<!doctype html><html lang=en><head><script")
    const { headers } = response
    expect(headers.get("content-length")).toBe(String(text.length))
    expect([headers.get("etag"), headers.get("last-modified")]).toEqual([null, null])
    expect(headers.get("cache-control")).toBe("no-store")
    expect(headers.get("content-security-policy")).toBe("script-src 'none'")
    expect(headers.getSetCookie()).toEqual([
      "mine=1",
      "hamlet_preview=1; Path=/; Max-Age=3600; Secure; HttpOnly; SameSite=None; Partitioned",
    ])
    const run = await fixture.runOf(response)
    expect(run.response).toMatchObject({ body: page })
    expect(run.request?.url).toEndWith("/a?b=c")
  })

  test("has the script where it begins with other bytes", async () => {
    const comment = "<!-- > --!>"
    for (const [before, after] of [
      ["", "hello"],
      ["", "<p>x"],
      ["", "<script>1</script><head>"],
      ["\ufeff<!doctype html>\n", "<title>x</title>"],
      ["\ufeff", "x"],
      ["  \n<!DOCTYPE html PUBLIC '-//W3C//DTD HTML 4.01//EN'>", "<body>"],
      ["<!doctype html><!---->", "<title>"],
      ["<!--><!---><?xml a='>", "'?><html>"],
      [`${comment}<!doctype html>${comment}<html>${comment}<head a=">" b='>' c = ">" d=e"f>`, "x>"],
      ['<!doctype html><html a"b>', '"<head>'],
      ["<HTML ><HEAD\n>", "<HEAD>"],
      ["<html>", "<!doctype html><head>"],
      ["<!doctype html><html / a=/><head/>", "<meta charset=utf-8>"],
      ["<!doctype html>", "<header>x</header>"],
      ["<!doctype html>", "</html><html>"],
    ]) {
      const text = await (await frame(`${before}${after}`)).text()
      expect(text.replace(tag, "⌖")).toBe(`${before}⌖${after}`.replace(/^\ufeff/, ""))
    }
  })

  test("stays as it is if the place of the script is unknown", async () => {
    for (const text of [
      "<!doctype html><html <",
      "<!-- never ends",
      "<!doctype",
      `<!-- ${"x".repeat(20_000)} --><!doctype html>`,
    ])
      expect(await (await frame(text)).text()).toBe(text)
    for (const bytes of [Buffer.from("\ufeff<html>", "utf16le"), Buffer.from([0xfe, 0xff, 0, 60])])
      expect(await (await frame(bytes, { "content-type": "text/html" })).bytes()).toEqual(
        new Uint8Array(bytes),
      )
    const late = `<!doctype html><!-- ${"x".repeat(20_000)} --><p>`
    expect((await (await frame(late)).text()).replace(tag, "⌖")).toBe(
      late.replace("html>", "html>⌖"),
    )
  })

  test("streams: what has come is sent, and bytes one by one give the same", async () => {
    const first = Promise.withResolvers<void>()
    const parts = ["<!doctype html>", "<html><he", "ad><p>one", "<p>two"]
    const name = await addPage(
      () =>
        new Response(
          (async function* () {
            yield* parts.slice(0, 3)
            await first.promise
            yield parts[3]
          })() as unknown as BodyInit,
          { headers: html },
        ),
    )
    const response = await fixture.request(name, "/", { headers: framed() })
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
    let text = ""
    while (!text.includes("one")) text += (await reader?.read())?.value ?? ""
    expect(text.replace(tag, "⌖")).toBe("<!doctype html><html><head>⌖<p>one")
    first.resolve()
    while (!text.includes("two")) text += (await reader?.read())?.value ?? ""
    const slow = await addPage(
      () =>
        new Response(
          (async function* () {
            for (const char of "  <!-- a --><html b='>'> hello") {
              yield char
              await Bun.sleep(1)
            }
          })() as unknown as BodyInit,
          { headers: html },
        ),
    )
    const whole = await (await fixture.request(slow, "/", { headers: framed() })).text()
    expect(whole.replace(tag, "⌖")).toBe("  <!-- a --><html b='>'> ⌖hello")
  })

  test("of 10 MB in one piece has the script, and no other change", async () => {
    const large = `${page}${"é".repeat(5_000_000)}`
    const text = await (await frame(large)).text()
    expect(text.replace(tag, "") === large).toBe(true)
  })

  test("has no script if it is no page, or not all of it", async () => {
    const packed = Bun.gzipSync(Buffer.from(page))
    const cases: [BodyInit, Record<string, string>, number?][] = [
      [page, { "content-type": "text/plain" }],
      [page, { "content-type": "application/xhtml+xml" }],
      [page, { "content-type": "application/json" }],
      [page, { "content-type": "text/html; charset=utf-16" }],
      [page, { ...html, "content-disposition": "attachment; filename=a.html" }],
      [packed, { ...html, "content-encoding": "gzip" }],
      [page.slice(0, 9), { ...html, "content-range": "bytes 0-8/80" }, 206],
      [page, { ...html, location: "/x" }, 302],
    ]
    for (const [body, headers, status] of cases) {
      const response = await frame(body, headers, {}, status)
      expect(Buffer.from(await response.bytes())).toEqual(Buffer.from(body as string))
      expect(response.headers.getSetCookie()).toEqual([])
    }
    const head = await frame(page, html, { method: "HEAD" })
    expect([head.headers.get("content-length"), await head.text()]).toEqual([`${page.length}`, ""])
    for (const status of [204, 304]) {
      const name = await addPage(() => new Response(null, { status, headers: { etag: '"a"' } }))
      const empty = await fixture.request(name, "/", { headers: framed() })
      expect([empty.status, empty.headers.get("etag"), await empty.text()]).toEqual([
        status,
        '"a"',
        "",
      ])
    }
    const failing = await addPage(() =>
      Response.json({ name: "E", message: "m" }, { headers: { "x-hamlet-failure": "1" } }),
    )
    expect(await (await fixture.request(failing, "/", { headers: framed() })).text()).not.toMatch(
      tag,
    )
  })

  test("gets it also behind links and forms of the frame, by a cookie that no val sees", async () => {
    const name = await addPage(() => new Response(page, { headers: html }))
    const referer = `http://ada-${name}.localhost:${fixture.port}/`
    const headers = { "sec-fetch-dest": "iframe", referer, cookie: "a=b; hamlet_preview=1" }
    for (const method of ["GET", "POST"]) {
      const response = await fixture.request(name, "/", { method, headers })
      expect(await response.text()).toMatch(tag)
      expect(lastSeen().get("cookie")).toBe("a=b")
      expect(lastSeen().get("referer")).toBe(referer)
    }
    const planter = await addPage(
      () => new Response(page, { headers: { ...html, "set-cookie": "hamlet_preview=1" } }),
    )
    expect((await fixture.request(planter)).headers.getSetCookie()).toEqual([])
  })

  test("is asked for without a trace of the app, and uncompressed", async () => {
    const name = await addPage(() => new Response(page, { headers: html }))
    await fixture.request(name, "/", { headers: framed() })
    expect(lastSeen().get("referer")).toBeNull()
    expect(lastSeen().get("accept-encoding")).toBe("identity")
    await fixture.request(name)
    expect(lastSeen().get("accept-encoding")).not.toBe("identity")
    // Over plain http, browsers say the destination of no request.
    const { referer } = framed()
    expect(await (await fixture.request(name, "/", { headers: { referer } })).text()).toMatch(tag)
  })
})

describe("the script of pages", () => {
  test("is the same at every host name, and takes no other path of a val", async () => {
    const name = await addPage((_, path) => new Response(`${path} ${page}`, { headers: html }))
    const text = await (await fixture.request(name, "/", { headers: framed() })).text()
    const path = tag.exec(text)?.[1] ?? ""
    const seen = fixture.runner.seen.length
    for (const host of [name, "no_such_val"]) {
      const script = await fixture.request(host, path)
      expect(script.headers.get("content-type")).toBe("text/javascript; charset=utf-8")
      expect(script.headers.get("cache-control")).toBe("public, max-age=31536000, immutable")
      expect(await script.text()).toContain("hamlet-page-console:")
    }
    expect(fixture.runner.seen.length).toBe(seen)
    for (const other of ["/.hamlet/", "/.hamlet/console-x.js", `${path}?a`, `/a${path}`])
      expect(await (await fixture.request(name, other)).text()).toBe(`${other} ${page}`)
    const posted = await fixture.request(name, path, { method: "POST" })
    expect(await posted.text()).toBe(`${path} ${page}`)
  })
})

import { afterEach, describe, expect, test } from "bun:test"
import { join } from "node:path"
import { GuestProcess } from "./support/guest-process.ts"

/** A val that gives what the JavaScript in the query `js` evaluates to. */
const evaluating = `export default (request: Request) => (0, eval)(decodeURIComponent(new URL(request.url).search.slice(4)))`
const js = (code: string) => `/?js=${encodeURIComponent(code)}`

/** What the val sent, and what it is answered: a host can be seen in the target. */
class FakeProxy {
  readonly heads: string[] = []
  readonly #listener

  constructor(path: string) {
    this.#listener = Bun.listen({
      unix: path,
      socket: {
        data: (socket, bytes) => {
          const head = bytes.toString("latin1")
          // A body may come by itself.
          if (!/^[A-Z]+ \S+ HTTP\/1\.1\r\n/.test(head)) return
          this.heads.push(head)
          socket.write(toAnswer(head))
        },
      },
    })
  }

  stop(): void {
    this.#listener.stop(true)
  }
}

function toAnswer(head: string): string {
  const text = head.includes("//private.test")
    ? 'Cannot fetch "http://private.test/": it is not for you'
    : "passed"
  const blocked = text === "passed" ? "" : "x-hamlet-blocked: 1\r\n"
  if (head.includes("//moved.test"))
    return "HTTP/1.1 302 Found\r\nlocation: http://private.test/\r\ncontent-length: 0\r\n\r\n"
  return `HTTP/1.1 ${blocked ? 403 : 200} X\r\n${blocked}content-length: ${text.length}\r\n\r\n${text}`
}

const opened: (GuestProcess | FakeProxy)[] = []
afterEach(async () => {
  for (const one of opened.splice(0)) await one.stop()
})

async function start(): Promise<{ readonly guest: GuestProcess; readonly proxy: FakeProxy }> {
  const guest = new GuestProcess()
  const path = join(guest.folder, "sockets/out.sock")
  const proxy = new FakeProxy(path)
  opened.push(guest, proxy)
  await guest.start({ HTTP_PROXY: `unix:${path}`, HTTPS_PROXY: `unix:${path}` })
  await guest.load(evaluating)
  return { guest, proxy }
}

describe("tagOutgoingRequests", () => {
  test("tags every request with its run, whatever its form", async () => {
    const { guest, proxy } = await start()
    const fetches = [
      `fetch("http://a.test/")`,
      `fetch(new URL("https://a.test/"), { method: "POST", body: "x", headers: { "x-hamlet-run": "key forged" } })`,
      `fetch(new Request("http://a.test/", { headers: [["x-hamlet-run", "forged"]] }), { headers: new Headers({ b: "c" }) })`,
      `setTimeout(() => {}, 0) && new Promise((resolve) => setTimeout(() => fetch("http://a.test/").then(resolve)))`,
    ]
    for (const [index, code] of fetches.entries()) {
      const response = await guest.request(
        js(`(async () => (await (${code})).text())()`),
        {},
        `run${index}`,
      )
      expect(await response.text()).toBe("passed")
      expect(
        [...(proxy.heads.at(-1) ?? "").matchAll(/x-hamlet-run: (.*)\r/gi)].map(
          ([, value]) => value,
        ),
      ).toEqual([`key run${index}`])
    }
  })

  test("throws for blocked requests, also after a redirect", async () => {
    const { guest } = await start()
    for (const host of ["private", "moved"]) {
      const code = `(async () => { try { return await (await fetch("http://${host}.test/")).text() } catch (error) { return error.name + ": " + error.message } })()`
      expect(await (await guest.request(js(code))).text()).toBe(
        'TypeError: Cannot fetch "http://private.test/": it is not for you',
      )
    }
  })

  test("tags WebSockets, which keep their properties", async () => {
    const { guest, proxy } = await start()
    const code = `new Promise((resolve) => { const socket = new WebSocket("ws://a.test/", ["chat"]); socket.onerror = () =>
      resolve([socket instanceof WebSocket, socket.constructor.name, WebSocket.OPEN, WebSocket.name, socket.url]) })`
    expect(await (await guest.request(js(code), {}, "run1")).json()).toEqual([
      true,
      "WebSocket",
      1,
      "WebSocket",
      "ws://a.test/",
    ])
    expect(proxy.heads[0]).toContain("x-hamlet-run: key run1\r\n")
    expect(proxy.heads[0]).toContain("sec-websocket-protocol: chat\r\n")
  })

  test("keeps the properties of fetch", async () => {
    const { guest } = await start()
    const code = `(async () => { const bad = fetch("no address"); return [fetch.name, await bad.catch((error) => error.name),
      await (await fetch("data:,hello")).text()] })()`
    expect(await (await guest.request(js(code))).json()).toEqual(["fetch", "TypeError", "hello"])
  })

  test("hides the address of the proxy from vals", async () => {
    const { guest, proxy } = await start()
    const code = `(async () => { const before = Deno.env.get("HTTP_PROXY") ?? null; Deno.env.set("HTTP_PROXY", "http://mine"); delete process.env.HTTPS_PROXY
      return [before, process.env.HTTP_PROXY, (await fetch("http://a.test/")).status] })()`
    expect(await (await guest.request(js(code))).json()).toEqual([null, "http://mine", 200])
    expect(proxy.heads.length).toBe(1)
  })
})

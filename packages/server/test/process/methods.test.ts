import { expect, test } from "bun:test"
import { connect } from "node:net"
import { openServerFixture } from "../support/server-fixture.ts"

/** Everything that the server sends before it closes the connection. */
function send(port: number, head: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ""
    const socket = connect(port, "127.0.0.1", () => socket.write(`${head}\r\n\r\n`))
    socket.on("data", (bytes) => {
      text += bytes
    })
    socket.on("error", reject).on("close", () => resolve(text))
  })
}

// docs/errors.md says so. If Bun passes such requests on one day, they get a 405 like the others.
test("a method that Bun does not know closes the connection, and one that it knows is refused", async () => {
  await using fixture = await openServerFixture()
  const { baseUrl } = await fixture.serve()
  const port = Number(new URL(baseUrl).port)
  const rest = `/v1/vals HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nconnection: close`
  for (const method of ["FOO", "get"])
    expect([method, await send(port, `${method} ${rest}`)]).toEqual([method, ""])
  const refused = await send(port, `PROPFIND ${rest}`)
  expect(refused).toStartWith("HTTP/1.1 405 ")
  expect(refused).toContain('"code":"method_not_allowed"')
  expect((await fetch(`${baseUrl}/healthz`)).status).toBe(200)
})

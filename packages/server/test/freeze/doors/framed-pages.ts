import type { Door } from "../door.ts"
import { startProcess } from "../open-socket.ts"

/** How many frames ask at once. */
const clients = 8

/**
 * A val whose pages make it hard to find the place of the script that the frame of a preview gets:
 * tokens that end late, or many of them, in pieces of one byte, and a large page in one piece.
 */
export const framedVal = `const pages = {
  "/tokens": "<!---->".repeat(2_400),
  "/tag": "<html " + "a='>' ".repeat(2_800),
  "/comment": "<!--" + ">".repeat(16_500),
  "/large": "<!doctype html>" + "a".repeat(10_000_000),
}
const encoder = new TextEncoder()
export default ({ url }) => {
  const { pathname } = new URL(url)
  const page = encoder.encode(pages[pathname] ?? "")
  let at = 0
  const body = pathname === "/large" ? page : new ReadableStream({
    pull(controller) {
      if (at === page.length) controller.close()
      else controller.enqueue(page.subarray(at, ++at))
    },
  })
  return new Response(body, { headers: { "content-type": "text/html" } })
}`

/** Pages as the frame of a preview asks for them. */
export const framedPageDoors: readonly Door[] = ["tokens", "tag", "comment", "large"].map(
  (name) => ({
    name: `framed page: ${name}`,
    async drive({ host }) {
      await startProcess(host, "ada-framed")
      const [, port = ""] = host.split(":")
      const headers = {
        host: `ada-framed.localhost:${port}`,
        cookie: "hamlet_preview=1",
        "sec-fetch-dest": "iframe",
      }
      const read = async () => {
        const response = await fetch(`http://${host}/${name}`, { headers })
        await response.bytes()
        if (response.status === 500) throw new Error(`500 for the framed page ${name}`)
      }
      await Promise.all(Array.from({ length: clients }, read))
    },
  }),
)

import { afterAll, expect } from "bun:test"
import { createServer } from "node:net"
import { egressLimits } from "@hamlet/sandbox"
import { describeAttacks, probe } from "./support/describe-attacks.ts"
import { createEvalVal } from "./support/eval-val.ts"

const outside = createServer((socket) => void socket.on("error", () => {}))
await new Promise<void>((resolve) => outside.listen(0, "127.0.0.1", resolve))
const { port } = outside.address() as { readonly port: number }
afterAll(() => void outside.close())

const { opensMax, opensMs } = egressLimits
/** Connections that a loop opens only if nothing stops it. */
const unlimited = 100 * opensMax
const settings = {
  HAMLET_EGRESS_ALLOW: `127.0.0.1:${port}`,
  HAMLET_EGRESS_SOCKETS_MAX: "10000",
  HAMLET_RUN_SECONDS_MAX: "170",
}

describeAttacks("attacks/opens", settings, (getServer) => {
  probe(getServer, "a val opens and closes its socket in a hundred loops", async (server) => {
    const { evaluate } = await createEvalVal(server)
    // For a time and until it was refused: a busy machine may open no more in that time than the limit allows.
    const { got } = await evaluate(`let [opened, refused] = [0, 0]
      const startedMs = performance.now()
      const isOver = () => performance.now() - startedMs > 3_000 && (refused > 0 || opened > ${unlimited})
      await Promise.all(Array.from({ length: 100 }, async () => {
        while (!isOver())
          try { (await Deno.connect({ transport: "unix", path: "/run/val/tcp.sock" })).close(); opened++ }
          catch (error) {
            if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.ConnectionRefused) refused++
            await new Promise((resolve) => setTimeout(resolve))
          }
      }))
      return [opened, refused, performance.now() - startedMs]`)
    const [opened, refused, ms] = got as [number, number, number]
    expect(refused).toBeGreaterThan(0)
    expect(opened).toBeGreaterThan(0)
    // Connections that wait in the queue of the system when the socket is closed count as opened,
    // too.
    const queuedMax = 600
    const rounds = Math.ceil(ms / opensMs) + 1
    expect(opened).toBeLessThan(rounds * (opensMax + queuedMax))
  })

  for (const [what, open] of Object.entries({
    "Deno.connect": `const open = async () => (await Deno.connect({ hostname: "127.0.0.1", port: ${port} })).close()`,
    "node:net": `const net = await import("node:net")
      const open = () => new Promise((resolve, reject) => { const socket = net.connect(${port}, "127.0.0.1"); socket.once("connect", () => { socket.destroy(); resolve() }); socket.once("error", reject) })`,
    "fetch of what is refused": `const open = async () => { try { await fetch("http://10.0.0.1/") } catch (error) { if (!error.message.includes("private")) throw error } }`,
  }))
    probe(
      getServer,
      `a val opens more than it may in a row with ${what}, and waits`,
      async (server) => {
        const { evaluate } = await createEvalVal(server)
        const { got, denied } = await evaluate(`${open}
        let opened = 0
        await Promise.all(Array.from({ length: 50 }, async () => { while (opened < ${2 * opensMax}) { opened++; await open() } }))
        return opened`)
        expect(denied ?? got).toBeGreaterThanOrEqual(2 * opensMax)
      },
    )
})

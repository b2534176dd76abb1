import { describe, expect } from "bun:test"
import { fileProbes } from "./probes/files.ts"
import { internalsProbes } from "./probes/internals.ts"
import { networkProbes } from "./probes/network.ts"
import { processProbes } from "./probes/processes.ts"
import { inWorker } from "./probes/val-probe.ts"
import type { AttackServer } from "./support/attack-server.ts"
import { describeAttacks, probe, probeVals } from "./support/describe-attacks.ts"
import { sendRaw } from "./support/raw-http.ts"

/** Each gives a port, where a sandbox can have one. */
const listenings: Readonly<Record<string, string>> = {
  "a port": `return Deno.listen({ hostname: "0.0.0.0", port: 0 }).addr.port`,
  "a port with a server": `return Deno.serve({ port: 0, onListen() {} }, () => new Response("FORGED")).addr.port`,
  "a port as Node does": `const server = (await import("node:net")).createServer((socket) => socket.end("FORGED"))
    return await new Promise((resolve, reject) => { server.once("error", reject); server.listen(0, () => resolve(server.address().port)) })`,
}

describeAttacks("attacks/sandbox", {}, (getServer) => {
  describe("files", () => probeVals(getServer, fileProbes))
  describe("processes", () => probeVals(getServer, processProbes))
  describe("network", () => defineNetwork(getServer))
  describe("Deno's internals", () => probeVals(getServer, internalsProbes))
})

function defineNetwork(getServer: () => AttackServer): void {
  probeVals(getServer, networkProbes)

  for (const [what, code] of Object.entries(listenings))
    probe(
      getServer,
      `a val tries to listen on ${what} in a worker, and nobody outside gets there`,
      async (server) => {
        const val = await server.save(server.mallory, {
          code: `const listen = async () => { ${inWorker(code)} }
export default async () => { try { return { port: await listen() } } catch (error) { return { denied: error.name + ": " + error.message } } }`,
        })
        const { port, denied } = (await server.request(val)).json
        // Where system calls are not filtered it listens in a network in which it is alone.
        if (port === undefined)
          expect(denied).toMatch(/^\w+: (Cannot listen on port|.*(EAFNOSUPPORT|not supported))/)
        else
          expect(
            (await sendRaw(port, "GET / HTTP/1.1\r\nhost: localhost\r\n\r\n")).toString(),
          ).not.toContain("FORGED")
      },
    )

  for (const path of ["/tmp/evil.sock", "\\0evil"])
    probe(
      getServer,
      `a val tries to listen on the Unix socket "${path}", and its neighbour does not find it`,
      async (server) => {
        const listener = await server.save(server.mallory, {
          code: `const listener = Deno.listen({ transport: "unix", path: "${path}" })
export default () => listener.addr.path`,
        })
        const seeker = await server.save(server.mallory, {
          code: `export default async () => { try { await Deno.connect({ transport: "unix", path: "${path}" }); return "connected" } catch (error) { return error.name } }`,
        })
        expect((await server.request(listener)).status).toBe(200)
        expect((await server.request(seeker)).text).toMatch(
          /^(NotFound|ConnectionRefused|NotCapable)$/,
        )
      },
    )
}

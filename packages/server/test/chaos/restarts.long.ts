import { test } from "bun:test"
import { databases } from "../support/databases.ts"
import type { ProxyKind } from "../support/proxies/start-proxy.ts"
import { rollNodes } from "./roll-nodes.ts"

// `npm run long-test -- restarts`: two nodes behind a proxy of deploy/, restarted in turns under load.
const count = Number(process.env.HAMLET_CHAOS_RESTARTS ?? 6)
const kind = (process.env.HAMLET_CHAOS_PROXY ?? "haproxy") as ProxyKind
const postgres = databases.find(({ name }) => name === "PostgreSQL")

test(`${count} rolling restarts behind ${kind} fail no request, break no WebSocket and lose nothing`, async () => {
  if (!postgres) throw new Error("PostgreSQL is missing")
  const counts = await rollNodes({
    kind,
    open: postgres.open,
    clients: 8,
    programs: [undefined, undefined],
    restarts: Array.from({ length: count }, (_, restart) => ({ node: restart % 2 })),
  })
  console.log(`${count} restarts behind ${kind}: ${JSON.stringify(counts)}`)
}, 0)

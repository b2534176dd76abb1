import { test } from "bun:test"
import { startLibsql } from "@hamlet/owner-databases/testing"
import { databases } from "../support/databases.ts"
import { previousRelease, unpackPreviousRelease } from "../support/processes/previous-release.ts"
import { toValHost } from "../support/proxies/proxied-node.ts"
import type { ProxyKind } from "../support/proxies/start-proxy.ts"
import { openEmpty } from "../support/server-fixture.ts"
import {
  allExchanges,
  exchange,
  expectTicks,
  type Stage,
  setStage,
  toPeer,
} from "../upgrade/exchanges.ts"
import { rollNodes } from "./roll-nodes.ts"

// `npm run long-test -- upgrade`: three nodes behind a proxy of deploy/ under load, from the release
// before to this one, back, and to this one again. After every restart each node exchanges all that
// clients do with the next one.
const kind = (process.env.HAMLET_CHAOS_PROXY ?? "haproxy") as ProxyKind
const postgres = databases.find(({ name }) => name === "PostgreSQL")
const { version } = previousRelease()

test(`upgrades from ${version} and back behind ${kind} fail no request, break no WebSocket and lose nothing`, async () => {
  if (!postgres) throw new Error("PostgreSQL is missing")
  await using previous = await unpackPreviousRelease()
  await using libsql = await startLibsql()
  const old = previous.program
  const order = [0, 1, 2]
  const up = order.map((node) => ({ node }))
  const back = order.toReversed().map((node) => ({ node, program: old }))
  const restarts = [...up, ...back, ...up]
  let stage: Stage | undefined
  const counts = await rollNodes({
    kind,
    open: openEmpty(postgres.open),
    env: libsql.env,
    clients: 4,
    programs: order.map(() => old),
    restarts,
    async onRound(ports) {
      const peers = ports.map((port) => toPeer(`http://127.0.0.1:${port}`, toValHost))
      const [first] = peers
      if (!first) throw new Error("there is no node")
      stage ??= await setStage(first)
      for (const [index, peer] of peers.entries())
        await exchange(allExchanges, [[peer, peers.at(index - 1) ?? peer]], stage)
      await expectTicks(first, stage)
    },
  })
  console.log(`${restarts.length} upgrades behind ${kind}: ${JSON.stringify(counts)}`)
}, 0)

import { join } from "node:path"
import type { Benchmark, Context } from "../harness/benchmark.ts"
import { chooseLimits } from "../harness/brief.ts"
import { toComparison } from "../harness/comparison.ts"
import { onEachDatabase, type Seeded, startSeeded } from "../harness/databases.ts"
import { runLoad } from "../harness/load.ts"
import { startBare } from "../harness/program.ts"
import { atLeast, type Cell } from "../harness/report.ts"
import { alternate } from "../harness/stats.ts"
import { privacyOf, publicSlot } from "../seed/pattern.ts"
import { tokenText } from "../seed/world.ts"

const limits = chooseLimits(
  { vals: 20_000, connections: 32, seconds: 4, rounds: 7, ratioMin: 0.6 },
  { vals: 1_000, connections: 2, seconds: 0.05, rounds: 1 },
)

/** The cost of our routing, tokens, checks, counters and logs on top of fetching a row. */
export const read: Benchmark = {
  name: "read",
  isQuick: true,
  async run(context) {
    const rows = await onEachDatabase(
      { postgresUrl: context.postgresUrl },
      async (database, seed) => measure(context, database, await seed(limits.vals)),
    )
    const title = `read: \`GET /v1/vals/{val_id}\` with a token against a bare program, ${limits.connections} connections`
    const rates = ["server, 1/s", "bare, 1/s", "ratio", "smallest – largest", "bar"]
    return [{ title, columns: ["database", "requested", ...rates], rows: rows.flat() }]
  },
}

async function measure(context: Context, database: string, seeded: Seeded): Promise<Cell[][]> {
  const server = await startSeeded(seeded)
  const bare = await startBare(
    `bare-${seeded.databaseUrl === undefined ? "sqlite" : "postgres"}-read.ts`,
    {
      BARE_DATABASE: seeded.databaseUrl ?? join(seeded.dataDir, "hamlet.db"),
    },
  )
  const { valIds, users } = seeded.world
  const own = `/v1/vals/${valIds[publicSlot(0) * users]}`
  // More than the server caches, so that each must be fetched.
  const all = valIds
    .filter((_, val) => privacyOf(Math.floor(val / users)) === "public")
    .map((id) => `/v1/vals/${id}`)
  const inTurn = `${all.length.toLocaleString("en")} vals in turn`
  const toBar = (ratio: number) => atLeast(ratio, limits.ratioMin)
  try {
    await assertSameResponse(server.url + own, bare.url + own)
    return [
      await compare(context, [database, "one val"], server.url, bare.url, [own], toBar),
      await compare(context, [database, inTurn], server.url, bare.url, all, () => ""),
    ]
  } finally {
    for (const program of [server, bare]) await program.stop()
    await seeded.drop()
  }
}

async function compare(
  context: Context,
  labels: readonly string[],
  server: string,
  bare: string,
  paths: readonly string[],
  toBar: (ratio: number) => Cell,
): Promise<Cell[]> {
  const load = (url: string) => () =>
    runLoad({
      url,
      paths,
      token: tokenText(0),
      connections: limits.connections,
      seconds: limits.seconds,
    })
  await alternate(1, load(server), load(bare))
  const rates = await alternate(limits.rounds, load(server), load(bare))
  return toComparison(context, "read", labels, rates, toBar)
}

/**
 * The comparison is fair only if both do the same work. The addresses in the responses differ in the
 * port only.
 */
async function assertSameResponse(server: string, bare: string): Promise<void> {
  const [ours, theirs] = await Promise.all(
    [server, bare].map(async (url) => {
      const response = await fetch(url, { headers: { authorization: `Bearer ${tokenText(0)}` } })
      return (await response.text()).replaceAll(/localhost:\d+/g, "localhost")
    }),
  )
  if (ours !== theirs)
    throw new Error(`Cannot compare: the server responds\n${ours}\nand the bare program\n${theirs}`)
}

import { type RouteName, routeNames, routes } from "@hamlet/contract"
import { z } from "zod"
import type { Benchmark, Context } from "../harness/benchmark.ts"
import { onEachDatabase, type Seeded, startSeeded } from "../harness/databases.ts"
import { atMost, type Cell, type Table } from "../harness/report.ts"
import { type Case, cases, unmeasured } from "./cases.ts"
import { type Measured, measureCase } from "./measure.ts"

const smallVals = 1_000
const ratioMax = 1.5

/** Whether a list takes longer when other users have more data. */
export const growth: Benchmark = {
  name: "growth",
  isQuick: false,
  async run(context) {
    assertEveryListIsMeasured()
    return onEachDatabase(context, (database, seed) => measure(context, database, seed))
  },
}

function assertEveryListIsMeasured(): void {
  const missing = routeNames.filter(
    (name) => isList(name) && !unmeasured.has(name) && !cases.some(({ route }) => route === name),
  )
  if (missing.length > 0)
    throw new Error(`Cannot measure growth: no case for ${missing.join(", ")}`)
}

function isList(name: RouteName): boolean {
  const response = (routes[name].responses as Readonly<Record<number, unknown>>)[200]
  return (
    routes[name].method === "get" &&
    response instanceof z.ZodObject &&
    "data" in response.shape &&
    "links" in response.shape
  )
}

async function measure(
  context: Context,
  database: string,
  seed: (vals: number) => Promise<Seeded>,
): Promise<Table> {
  const small = await seed(smallVals)
  const large = await seed(context.vals)
  const servers = [await startSeeded(small), await startSeeded(large)] as const
  const rows: Cell[][] = []
  try {
    for (const it of cases) {
      const measured = await measureCase(
        it,
        { url: servers[0].url, world: small.world },
        { url: servers[1].url, world: large.world },
      )
      rows.push(toRow(it, measured))
      context.report(
        `${database} ${rows
          .at(-1)
          ?.map((cell) => (typeof cell === "string" ? cell : cell.bar))
          .join("  ")}`,
      )
    }
  } finally {
    for (const server of servers) await server.stop()
    for (const seeded of [small, large]) await seeded.drop()
  }
  const title = `${database}: ${context.vals.toLocaleString("en")} vals against ${smallVals.toLocaleString("en")}, p50 of one client`
  return { title, columns: ["list", "items", "small, ms", "large, ms", "ratio", "bar"], rows }
}

function toRow(it: Case, { smallMs, largeMs, items }: Measured): Cell[] {
  const ratio = largeMs / smallMs
  const bar = it.isInformation
    ? ""
    : it.msMax === undefined
      ? atMost(ratio, ratioMax)
      : atMost(largeMs, it.msMax, " ms")
  const path = `\`${routes[it.route].path}\`${it.label === "" ? "" : ` ${it.label}`}`
  return [path, items, smallMs.toFixed(2), largeMs.toFixed(2), ratio.toFixed(2), bar]
}

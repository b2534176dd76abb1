import type { Benchmark } from "../harness/benchmark.ts"
import { chooseLimits } from "../harness/brief.ts"
import { startLibsqlServer } from "../harness/libsql.ts"
import { atLeast } from "../harness/report.ts"
import { alternate, median, ratioOf } from "../harness/stats.ts"
import { startOwnHamlet } from "../runs/hamlet.ts"
import { askVal } from "./egress.ts"
import { toDatabaseCode } from "./measuring-code.ts"

const limits = chooseLimits({ rounds: 5, ratioMin: 0.5 }, { rounds: 1 })

const kinds = {
  "/read": "sqlite.execute of a keyed read",
  "/write": "sqlite.execute of an insert",
  "/batch": "sqlite.batch of 20 inserts",
}

/** The databases of users on a libSQL server, against those in files. */
export const libsql: Benchmark = {
  name: "libsql",
  isQuick: true,
  async run() {
    const server = await startLibsqlServer()
    const homes = await Promise.all([startOwnHamlet(server.settings), startOwnHamlet({})])
    try {
      const [remote, local] = await Promise.all(
        homes.map(async (hamlet) => {
          const port = new URL(hamlet.program.url).port
          const val = await hamlet.putVal("stores", toDatabaseCode(`http://localhost:${port}`))
          return async (path: string) => (await askVal(hamlet, val, path)).rate
        }),
      )
      if (!remote || !local) throw new Error("Cannot compare: there are two servers")
      const rows = []
      for (const [path, name] of Object.entries(kinds)) {
        const rates = await alternate(
          limits.rounds,
          () => remote(path),
          () => local(path),
        )
        const { ratio, spread } = ratioOf(rates)
        const [there, here] = [rates.a, rates.b].map((each) => median(each).toFixed(0))
        rows.push([
          ...[name, there ?? "", here ?? "", ratio.toFixed(2), spread],
          atLeast(ratio, limits.ratioMin),
        ])
      }
      return [
        {
          title: `libsql: std/sqlite in a val with ${homes[0].isolation}, 16 at once, with a libSQL server on this machine and with files`,
          columns: ["", "libSQL, 1/s", "files, 1/s", "ratio", "smallest – largest", "bar"],
          rows,
        },
      ]
    } finally {
      for (const hamlet of homes) await hamlet.stop()
      await server.stop()
    }
  },
}

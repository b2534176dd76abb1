import { type LibsqlProcess, startLibsql } from "@hamlet/owner-databases/testing"
import type { Benchmark } from "../harness/benchmark.ts"
import { chooseLimits } from "../harness/brief.ts"
import { cpuMsOf } from "../harness/process-tree.ts"
import { atLeast, type Cell } from "../harness/report.ts"
import { median, ratioOf } from "../harness/stats.ts"
import { type BenchVal, type Hamlet, startHamlet, startOwnHamlet } from "../runs/hamlet.ts"
import { askVal } from "./egress.ts"
import {
  countDone,
  databaseWork,
  type Measured,
  measureWork,
  toDatabaseCode,
} from "./measuring-code.ts"

const limits = chooseLimits({ rounds: 5, ratioMin: 0.5 }, { rounds: 1 })

/** A run does thousands of writes, which a slow disk may take long for. */
const settings = { HAMLET_RUN_SECONDS_MAX: "300" }

type Path = keyof typeof databaseWork

/** A measurement, and the CPU time of all processes for each operation. */
interface Figures extends Measured {
  readonly cpuMs: number
}

/** Measures one kind of work on one home. */
type Measure = (path: Path) => Promise<Figures>

/** The databases of users on a libSQL server, against those in files. */
export const libsql: Benchmark = {
  name: "libsql",
  isQuick: true,
  async run() {
    await using server = await startLibsql()
    const homes = await Promise.all([
      startOwnHamlet({ ...settings, ...server.env }),
      startHamlet(settings),
    ])
    try {
      const [there, here] = homes
      const vals = await Promise.all(homes.map(putVal))
      const [thereVal, hereVal] = vals as [BenchVal, BenchVal]
      const rows = [
        ...(await compare("std/sqlite in a val", true, {
          there: (path) => measureCpu(there, server, path, () => askVal(there, thereVal, path)),
          here: (path) => measureCpu(here, undefined, path, () => askVal(here, hereVal, path)),
        })),
        ...(await compare("the API", false, {
          there: (path) => measureCpu(there, server, path, () => askApi(there, path)),
          here: (path) => measureCpu(here, undefined, path, () => askApi(here, path)),
        })),
      ]
      return [
        {
          title: `libsql: users' databases on a libSQL server on this machine and in files, with ${there.isolation}`,
          columns: [
            "",
            "at once",
            "libSQL, 1/s",
            "files, 1/s",
            "ratio",
            "smallest – largest",
            "libSQL, ms of CPU",
            "files, ms of CPU",
            "bar",
          ],
          rows,
        },
      ]
    } finally {
      for (const hamlet of homes) await hamlet.stop()
    }
  },
}

function putVal(hamlet: Hamlet): Promise<BenchVal> {
  const port = new URL(hamlet.program.url).port
  return hamlet.putVal("stores", toDatabaseCode(`http://localhost:${port}`))
}

/** Two rows for each kind of work: sixteen at once, and one after the other. */
async function compare(
  through: string,
  hasBar: boolean,
  { there, here }: { readonly there: Measure; readonly here: Measure },
): Promise<Cell[][]> {
  const rows: Cell[][] = []
  for (const [path, { name }] of Object.entries(databaseWork) as [Path, { name: string }][]) {
    const figures: { readonly a: Figures[]; readonly b: Figures[] } = { a: [], b: [] }
    for (let round = 0; round < limits.rounds; round++) {
      figures.a.push(await there(path))
      figures.b.push(await here(path))
    }
    const cpu = [figures.a, figures.b].map((all) => median(all.map(({ cpuMs }) => cpuMs)))
    const toRow = (atOnce: number, toRate: (figures: Figures) => number): Cell[] => {
      const rates = { a: figures.a.map(toRate), b: figures.b.map(toRate) }
      const { ratio, spread } = ratioOf(rates)
      const medians = [rates.a, rates.b].map((each) => median(each).toFixed(0))
      const cpus = atOnce === 1 ? ["", ""] : cpu.map((ms) => ms.toFixed(2))
      const bar = hasBar ? atLeast(ratio, limits.ratioMin) : ""
      const about = [`${through}: ${name}`, String(atOnce)]
      return [...about, ...medians, ratio.toFixed(2), spread, ...cpus, bar]
    }
    rows.push(toRow(16, ({ rate }) => rate))
    rows.push(toRow(1, ({ p50Ms }) => 1_000 / p50Ms))
  }
  return rows
}

/** Adds the CPU time of the server, its sandboxes and the libSQL server, if there is one. */
async function measureCpu(
  hamlet: Hamlet,
  server: LibsqlProcess | undefined,
  path: Path,
  measure: () => Promise<Measured>,
): Promise<Figures> {
  const read = () => cpuMsOf(hamlet.program.pid) + (server ? cpuMsOf(server.pid) : 0)
  const before = read()
  const measured = await measure()
  return { ...measured, cpuMs: (read() - before) / countDone(path) }
}

/** Sends the requests that the val sends from the benchmark itself, without a val. */
async function askApi(hamlet: Hamlet, path: Path): Promise<Measured> {
  const insert = { sql: "insert into things (name) values (?)", args: ["a thing"] }
  let id = 0
  const send = async () => {
    id += 1
    const read = { sql: "select name from things where id = ?", args: [(id % 500) + 1] }
    const [address, body] =
      path === "/batch"
        ? ["/v1/sqlite/batch", { statements: Array.from({ length: 10 }, () => insert) }]
        : ["/v1/sqlite/execute", { statement: path === "/read" ? read : insert }]
    const response = await hamlet.send(address, { method: "POST", body: JSON.stringify(body) })
    const text = await response.text()
    if (!response.ok) throw new Error(`Cannot measure ${address}: it responded ${text}`)
  }
  return measureWork(send, databaseWork[path].count)
}

import { parseArgs } from "node:util"
import { backup } from "./growth/backup.ts"
import { growth } from "./growth/growth.ts"
import type { Benchmark, Context } from "./harness/benchmark.ts"
import { isBrief } from "./harness/brief.ts"
import { stopSeeded } from "./harness/databases.ts"
import { assertSections, type Section, writeSection } from "./harness/document.ts"
import { describeMachine } from "./harness/machine.ts"
import { countMissed, toMarkdown } from "./harness/report.ts"
import { queue } from "./queue/queue.ts"
import { egress } from "./reach/egress.ts"
import { libsql } from "./reach/libsql.ts"
import { packages } from "./reach/packages.ts"
import { sockets } from "./reach/sockets.ts"
import { storage } from "./reach/storage.ts"
import { burst } from "./runs/burst.ts"
import { cold } from "./runs/cold.ts"
import { firstSave } from "./runs/first-save.ts"
import { stopSharedHamlet } from "./runs/hamlet.ts"
import { neighbours } from "./runs/neighbours.ts"
import { nodes } from "./runs/nodes.ts"
import { schedules } from "./runs/schedules.ts"
import { traces } from "./runs/traces.ts"
import { valMemory } from "./runs/val-memory.ts"
import { warm } from "./runs/warm.ts"
import { importVals } from "./speed/import-vals.ts"
import { memory } from "./speed/memory.ts"
import { read } from "./speed/read.ts"
import { save } from "./speed/save.ts"
import { start } from "./speed/start.ts"
import { editor } from "./web/editor.ts"
import { pages } from "./web/pages.ts"
import { typing } from "./web/typing.ts"

const benchmarks: readonly Benchmark[] = [
  read,
  save,
  importVals,
  memory,
  start,
  cold,
  burst,
  warm,
  traces,
  firstSave,
  valMemory,
  neighbours,
  nodes,
  schedules,
  packages,
  egress,
  sockets,
  storage,
  libsql,
  queue,
  pages,
  editor,
  typing,
  growth,
  backup,
]

const usage = `npm run bench -- [names] [options]
  names         ${benchmarks.map(({ name }) => name).join(", ")}, or all; without names: the quick ones
  --vals N      size of the large world of growth and backup (1,000,000)
  --keep DIR    keep the seeded databases in DIR, and use those that it contains
  --postgres    measure them on PostgreSQL only
  --write       write the results into docs/benchmarks.md`

const { values, positionals } = parseArgs({
  args: process.argv.slice(2),
  allowPositionals: true,
  options: {
    vals: { type: "string", default: "1000000" },
    keep: { type: "string" },
    postgres: { type: "boolean", default: false },
    write: { type: "boolean", default: false },
    help: { type: "boolean" },
  },
})
if (values.help) console.log(usage)
else await main()

async function main(): Promise<void> {
  const context: Context = {
    postgresUrl: process.env.HAMLET_TEST_POSTGRES_URL,
    vals: Number(values.vals),
    keepDir: values.keep,
    isPostgresOnly: values.postgres,
    report: (text) => void process.stderr.write(`${text}\n`),
  }
  const machine = describeMachine()
  console.log(`${machine}\n`)
  if (values.write || isBrief) await assertSections(benchmarks.map(toSection))
  let missed = 0
  for (const benchmark of choose(positionals)) {
    const tables = await benchmark.run(context)
    const text = toMarkdown(tables)
    console.log(`${text}\n`)
    const today = new Date().toISOString().slice(0, 10)
    if (values.write)
      await writeSection(toSection(benchmark), `Measured on ${today}: ${machine}.\n\n${text}`)
    missed += countMissed(tables)
  }
  await stopSharedHamlet()
  await stopSeeded()
  // The exit code is for scripts: a bar can be missed because the machine is busy.
  process.exitCode = missed > 0 && !isBrief ? 1 : 0
}

function toSection({ name }: Benchmark): Section {
  const begin = `<!-- results of ${name}: written by the program -->`
  return { file: "benchmarks.md", begin, end: `<!-- end of ${name} -->` }
}

function choose(names: readonly string[]): readonly Benchmark[] {
  const unknown = names.find(
    (name) => name !== "all" && !benchmarks.some((benchmark) => benchmark.name === name),
  )
  if (unknown !== undefined) throw new Error(`Cannot measure "${unknown}"\n${usage}`)
  if (names.includes("all")) return benchmarks
  return benchmarks.filter(({ name, isQuick }) =>
    names.length === 0 ? isQuick : names.includes(name),
  )
}

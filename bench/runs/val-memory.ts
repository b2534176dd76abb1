import type { Benchmark } from "../harness/benchmark.ts"
import { chooseLimits } from "../harness/brief.ts"
import { availableMb, measureDescendants, residentMbOf } from "../harness/process-tree.ts"
import { atMost, type Table } from "../harness/report.ts"
import { startHamlet } from "./hamlet.ts"
import { requestOnce } from "./request.ts"
import { helloCode } from "./vals.ts"

const limits = chooseLimits(
  { vals: 40, requests: 100, ready: 4, idleMs: 15_000, mbMax: 60, machineMb: 8_000 },
  { vals: 2, requests: 2, ready: 1, idleMs: 10 },
)

/** The memory of a loaded, idle val. */
export const valMemory: Benchmark = {
  name: "val-memory",
  isQuick: true,
  async run() {
    const ready = String(limits.ready)
    const hamlet = await startHamlet({
      HAMLET_PROCESSES_READY: ready,
      HAMLET_PROCESSES_READY_MAX: ready,
    })
    const look = () => ({
      ...measureDescendants(hamlet.program.pid),
      availableMb: availableMb(),
      serverMb: residentMbOf(hamlet.program.pid),
    })
    try {
      await hamlet.waitForPool(limits.ready)
      await Bun.sleep(limits.idleMs)
      const before = look()
      for (let index = 0; index < limits.vals; index++) {
        const name = `memory${index}`
        const { host } = await hamlet.putVal(name, `// ${name}\n${helloCode}`)
        for (let request = 0; request < limits.requests; request++)
          await requestOnce(hamlet.program.url, { host })
      }
      await hamlet.waitForPool(limits.ready)
      await Bun.sleep(limits.idleMs)
      const after = look()
      return [toTable(before, after)]
    } finally {
      await hamlet.stop()
    }
  },
}

interface Look {
  readonly residentMb: number
  readonly proportionalMb: number | undefined
  readonly availableMb: number
  readonly serverMb: number
}

/** The memory that the vals have added: the ready processes exist before and after. */
function toTable(before: Look, after: Look): Table {
  const perVal = (amount: (look: Look) => number) => (amount(after) - amount(before)) / limits.vals
  const resident = perVal((look) => look.residentMb)
  const proportional = perVal((look) => look.proportionalMb ?? Number.NaN)
  const available = -perVal((look) => look.availableMb)
  const room = limits.machineMb - after.serverMb
  const toRow = (name: string, mb: number) => [
    name,
    // With other load on the machine, the difference is meaningless.
    mb > 0 ? `${mb.toFixed(1)} MB` : "unknown",
    mb > 0 ? Math.floor(room / mb).toLocaleString("en") : "",
  ]
  return {
    title: `val-memory: processes of an idle val that has handled ${limits.requests} requests, mean of ${limits.vals}`,
    columns: ["counted as", "one val", "fit into 8 GB beside the server", "bar"],
    rows: [
      [
        ...toRow("resident (RSS): shared pages count for each", resident),
        atMost(resident, limits.mbMax, " MB"),
      ],
      [...toRow("proportional (PSS): shared pages are shared out", proportional), ""],
      [...toRow("what the machine has less", available), ""],
    ],
  }
}

import { join } from "node:path"
import type { Benchmark, Context } from "../harness/benchmark.ts"
import { chooseLimits } from "../harness/brief.ts"
import { startServer } from "../harness/program.ts"
import { atLeast } from "../harness/report.ts"
import { createScratchFolder } from "../harness/scratch.ts"
import { median, ratioOf } from "../harness/stats.ts"
import { makeCode, makeName, makeReadme } from "../seed/code.ts"

const limits = chooseLimits(
  { vals: 10_000, rounds: 3, batchesAtOnce: 3, clientsMany: 16, perSecondMin: 1_000 },
  { vals: 20, rounds: 1 },
)
const token = "measured-by-the-operator-0123456789-abcdef"
const username = "bench"
const cli = join(import.meta.dir, "..", "..", "packages", "cli", "bin", "hamlet")

type Rates = Record<"one" | "many" | "export" | "import" | "again", number[]>

/**
 * How fast the command line moves a whole account from one server to another, compared with saving
 * its vals one by one.
 */
export const importVals: Benchmark = {
  name: "import",
  isQuick: true,
  async run(context) {
    const rates: Rates = { one: [], many: [], export: [], import: [], again: [] }
    for (let round = 0; round < limits.rounds; round++) await measure(context, rates)
    const toRow = (name: string, perSecond: readonly number[]) => {
      const { ratio, spread } = ratioOf({ a: perSecond, b: rates.one })
      return [name, median(perSecond).toFixed(0), ratio.toFixed(2), spread]
    }
    return [
      {
        title: `import: ${limits.vals} vals of about 500 characters on SQLite, against \`PUT /v1/vals\` one by one`,
        columns: ["what", "vals, 1/s", "ratio to the first row", "smallest – largest", "bar"],
        rows: [
          [...toRow(`one by one, ${limits.batchesAtOnce} clients`, rates.one), ""],
          [...toRow(`one by one, ${limits.clientsMany} clients`, rates.many), ""],
          [...toRow("`hamlet export`", rates.export), ""],
          [
            ...toRow("`hamlet import`", rates.import),
            atLeast(median(rates.import), limits.perSecondMin),
          ],
          [...toRow("`hamlet import` of existing vals", rates.again), ""],
        ],
      },
    ]
  },
}

async function measure(context: Context, rates: Rates): Promise<void> {
  const archive = join(createScratchFolder(), "vals.zip")
  await withServer(async (url) => {
    rates.one.push(await timeOf(() => saveAll(url, limits.batchesAtOnce)))
    rates.export.push(await timeOf(() => hamlet(url, "export", archive)))
  })
  await withServer(async (url) => {
    rates.many.push(await timeOf(() => saveAll(url, limits.clientsMany)))
  })
  await withServer(async (url) => {
    rates.import.push(await timeOf(() => hamlet(url, "import", archive)))
    await assertAll(url)
    rates.again.push(await timeOf(() => hamlet(url, "import", archive)))
  })
  const shown = Object.entries(rates).map(
    ([name, values]) => `${name} ${values.at(-1)?.toFixed(0)}`,
  )
  context.report(`import: ${shown.join(", ")} vals/s`)
}

/** Vals per second. */
async function timeOf(work: () => Promise<void>): Promise<number> {
  const began = performance.now()
  await work()
  return (limits.vals * 1000) / (performance.now() - began)
}

async function withServer(work: (url: string) => Promise<void>): Promise<void> {
  const settings = { HAMLET_TOKEN: token, HAMLET_USER: username, HAMLET_PROCESSES_READY: "0" }
  const server = await startServer({ dataDir: createScratchFolder(), settings })
  try {
    await work(server.url)
  } finally {
    await server.stop()
  }
}

/** Seven in ten are public, one in three has a readme, one in five imports the previous one. */
function makeVal(index: number): object {
  const name = makeName(index, index)
  const imports =
    index % 5 === 4 ? [`import before from "/v/${username}/${makeName(index - 1, index - 1)}"`] : []
  const code = makeCode(index, name, imports, "")
  return { name, code, readme: makeReadme(index), privacy: index % 10 < 7 ? "public" : "private" }
}

async function saveAll(url: string, clients: number): Promise<void> {
  let next = 0
  const saveNext = async () => {
    for (let index = next++; index < limits.vals; index = next++) {
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" }
      const response = await fetch(`${url}/v1/vals`, {
        method: "PUT",
        headers,
        body: JSON.stringify(makeVal(index)),
      })
      if (!response.ok) throw new Error(`Cannot save a val: ${await response.text()}`)
      await response.arrayBuffer()
    }
  }
  await Promise.all(Array.from({ length: clients }, saveNext))
}

/** The whole program, from its start to its end. */
async function hamlet(url: string, ...args: readonly string[]): Promise<void> {
  const child = Bun.spawn([cli, ...args], {
    env: { ...process.env, HAMLET_URL: url, HAMLET_TOKEN: token },
    stdout: "ignore",
    stderr: "pipe",
  })
  const errors = await new Response(child.stderr).text()
  if ((await child.exited) !== 0)
    throw new Error(`Cannot measure hamlet ${args.join(" ")}: ${errors}`)
}

/** Makes sure that all vals were saved: otherwise the figure is worthless. */
async function assertAll(url: string): Promise<void> {
  const path = `/v1/vals?limit=1&offset=${limits.vals - 1}`
  const response = await fetch(url + path, { headers: { authorization: `Bearer ${token}` } })
  const { data, links } = (await response.json()) as { data: unknown[]; links: { next?: string } }
  if (data.length !== 1 || links.next !== undefined)
    throw new Error(`Cannot measure the import: there are not ${limits.vals} vals`)
}

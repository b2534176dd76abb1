// A server that has only sandboxes, which tests start as a separate process: prints what it
// has, then waits to be killed.
import { join } from "node:path"
import { sandboxLimits } from "../sandbox-limits.ts"
import { Sandboxes, type SandboxOptions } from "../sandboxes.ts"
import { listPids, toSandboxOptions } from "./sandbox-testing.ts"

const [dataDir = "", count = "1", overrides = "{}"] = process.argv.slice(2)
const options = {
  ...toSandboxOptions(dataDir),
  ...(JSON.parse(overrides) as Partial<SandboxOptions>),
}
const sandboxes = await Sandboxes.create(
  { ...options, limits: { ...sandboxLimits, ...options.limits } },
  (error) => console.error(error),
)
const launched = await Promise.all(Array.from({ length: Number(count) }, () => sandboxes.launch()))
const folders = launched.map((sandbox) => join(sandbox.socketPath, "../.."))
console.log(JSON.stringify({ report: sandboxes.report, folders, pids: folders.flatMap(listPids) }))
process.stdin.resume()
process.stdin.on("end", async () => {
  await sandboxes.stop()
  process.exit(0)
})

// A server that has only one tool that never ends, which tests start as a separate process:
// prints when it runs, then waits to be killed.
import { Sandboxes, type SandboxOptions } from "../sandboxes.ts"
import { toSandboxOptions } from "./sandbox-testing.ts"

const [dataDir = "", overrides = "{}", seconds = ""] = process.argv.slice(2)
const options = {
  ...toSandboxOptions(dataDir),
  ...(JSON.parse(overrides) as Partial<SandboxOptions>),
}
const sandboxes = await Sandboxes.create(options, (error) => console.error(error))
const code = `const { helpers, scratch } = JSON.parse(Deno.args[0])
new Deno.Command(helpers.helper, { args: ["${seconds}"], stdin: "null" }).spawn()
Deno.writeTextFileSync(scratch + "/file", "left")
setInterval(() => {}, 1000)`
const program = sandboxes.addProgram("endless.js", code)
const mebibyte = 1024 ** 2
await sandboxes.runTool({
  tool: { program, helpers: { helper: Bun.which("sleep") ?? "" }, permissions: ["--allow-all"] },
  input: new Uint8Array(),
  limits: { ...options.limits, msMax: 600_000, outputBytesMax: mebibyte, scratchEntriesMax: 100 },
  signal: new AbortController().signal,
})

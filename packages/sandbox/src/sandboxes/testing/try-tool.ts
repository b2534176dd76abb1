import { sandboxLimits } from "../sandbox-limits.ts"
import type { Sandboxes } from "../sandboxes.ts"

const code = `const { helpers } = JSON.parse(Deno.args[0])
console.log((await new Deno.Command(helpers.helper).output()).code)`

/** Runs a tool that starts its helper. Returns the helper's exit code. */
export async function tryTool(
  sandboxes: Sandboxes,
  helpers: { readonly helper: string },
): Promise<number> {
  const outcome = await sandboxes.runTool({
    tool: { program: sandboxes.addProgram("try.js", code), helpers, permissions: ["--allow-all"] },
    input: new Uint8Array(),
    limits: { ...sandboxLimits, msMax: 60_000, outputBytesMax: 1_000, scratchEntriesMax: 100 },
    signal: new AbortController().signal,
  })
  if (outcome.kind === "failed") throw new Error(`${outcome.reason}: ${outcome.stderr}`)
  return Number(Buffer.from(outcome.output).toString())
}

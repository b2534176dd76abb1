import { join } from "node:path"
import { isBrief } from "./brief.ts"
import { createScratchFolder } from "./scratch.ts"

/** Requests, each sent as soon as the previous response has arrived. */
export interface Load {
  /** The address of the server. */
  readonly url: string
  /** The requested paths, one after the other. */
  readonly paths: readonly string[]
  readonly token?: string | undefined
  /** The host header, where it differs from the address. */
  readonly host?: string | undefined
  readonly connections: number
  readonly seconds: number
  /** Sends new code to the paths instead of reading them. */
  readonly isSave?: boolean
}

/**
 * Responses per second. A single response other than 2xx makes the figure worthless and is an error.
 */
export async function runLoad(load: Load): Promise<number> {
  const { perSecond, failed } =
    Bun.which("wrk") === null || isBrief ? await runOwnClient(load) : await runWrk(load)
  if (failed > 0) throw new Error(`Cannot measure ${load.url}: ${failed} requests failed`)
  return perSecond
}

interface Outcome {
  readonly perSecond: number
  readonly failed: number
}

let folder: string | undefined

async function runWrk(load: Load): Promise<Outcome> {
  const options = [
    "-t1",
    `-c${load.connections}`,
    `-d${load.seconds}s`,
    ...(load.token === undefined ? [] : ["-H", `authorization: Bearer ${load.token}`]),
    ...(load.host === undefined ? [] : ["-H", `Host: ${load.host}`]),
  ]
  folder ??= createScratchFolder()
  const script = join(folder, "load.lua")
  await Bun.write(script, load.isSave ? toSaveScript(load.paths) : toReadScript(load.paths))
  const output = await capture(["wrk", ...options, "-s", script, load.url])
  const perSecond = Number(/Requests\/sec:\s+([\d.]+)/.exec(output)?.[1])
  const refused = Number(/Non-2xx or 3xx responses: (\d+)/.exec(output)?.[1] ?? 0)
  const broken = /Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)/
    .exec(output)
    ?.slice(1)
    .reduce((sum, count) => sum + Number(count), 0)
  if (!(perSecond > 0)) throw new Error(`Cannot measure ${load.url}: wrk printed\n${output}`)
  return { perSecond, failed: refused + (broken ?? 0) }
}

/** The requests are formatted once and sent repeatedly. */
function toReadScript(paths: readonly string[]): string {
  return `${toLuaPaths(paths)}
local requests = {}
init = function() for index, path in ipairs(paths) do requests[index] = wrk.format("GET", path) end end
request = function()
  count = count + 1
  return requests[count % #requests + 1]
end
`
}

/** No code is sent twice, in this run or another: equal code would not be saved. */
function toSaveScript(paths: readonly string[]): string {
  return `${toLuaPaths(paths)}
wrk.headers["content-type"] = "application/json"
request = function()
  count = count + 1
  return wrk.format("POST", paths[count % #paths + 1], nil, '{"code":"${codeOfSave}// ${crypto.randomUUID()} ' .. count .. '"}')
end
`
}

function toLuaPaths(paths: readonly string[]): string {
  return `local paths = { ${paths.map((path) => `"${path}"`).join(", ")} }\nlocal count = 0`
}

/** Code of the usual size, without quotes, because it is quoted in Lua and JSON. */
export const codeOfSave = "export const numbers = [1, 2, 3].map((number) => number * 2) ".repeat(6)

async function runOwnClient(load: Load): Promise<Outcome> {
  return JSON.parse(
    await capture([
      process.execPath,
      join(import.meta.dir, "..", "load-client.ts"),
      JSON.stringify(load),
    ]),
  ) as Outcome
}

async function capture(command: readonly string[]): Promise<string> {
  const child = Bun.spawn([...command], { stdout: "pipe", stderr: "inherit" })
  const output = await new Response(child.stdout).text()
  if ((await child.exited) !== 0)
    throw new Error(`Cannot run ${command[0]}: it ended with ${child.exitCode}`)
  return output
}

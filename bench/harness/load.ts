import { join } from "node:path"
import { createScratchFolder } from "./scratch.ts"

/** Requests that are sent as fast as they are answered. */
export interface Load {
  /** Where the server is. */
  readonly url: string
  /** What is asked for, one path after the other. */
  readonly paths: readonly string[]
  readonly token?: string | undefined
  /** The name to ask for, where it is not the one of the address. */
  readonly host?: string | undefined
  readonly connections: number
  readonly seconds: number
  /** Sends new code to the paths instead of getting them. */
  readonly isSave?: boolean
}

/**
 * Answered requests per second. A single answer other than 2xx makes the figure worthless and is an
 * error.
 */
export async function runLoad(load: Load): Promise<number> {
  const { perSecond, failed } =
    Bun.which("wrk") === null ? await runOwnClient(load) : await runWrk(load)
  if (failed > 0) throw new Error(`Cannot measure ${load.url}: ${failed} requests were refused`)
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
  if (!(perSecond > 0)) throw new Error(`Cannot measure ${load.url}: wrk said\n${output}`)
  return { perSecond, failed: refused + (broken ?? 0) }
}

/** The requests are written once and then sent again and again. */
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

/** No code is sent twice, in this run or another: code that is there already would not be saved. */
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

/** Code of the usual size. In Lua and JSON it stands between quotes, so it has none. */
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

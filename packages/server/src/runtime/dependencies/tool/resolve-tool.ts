/**
 * Fetches and bundles what code imports, without running any of it. The server starts it in a
 * sandbox, with a ToolPaths as its argument.
 */
import { mkdirSync, readFileSync, realpathSync, writeSync } from "node:fs"
import { join } from "node:path"
import type { ToolPaths } from "@hamlet/sandbox"
import type { DenoSetup } from "./deno-info.ts"
import { joinResponse, type ResolveRequest } from "./tool-messages.ts"

const paths = JSON.parse(process.argv[2] ?? "{}") as ToolPaths
// esbuild reads this variable when it is imported.
process.env.ESBUILD_BINARY_PATH = paths.helpers.esbuild
// Go collects garbage late by default: the largest packages would take twice the memory.
process.env.GOMEMLIMIT = "400MiB"
const request = JSON.parse(readFileSync(0, "utf8")) as ResolveRequest
const { resolveCode } = await import("./resolve-code.ts")
const { response, body } = await resolveCode(createSetup(), request, (found) =>
  writeAll(joinResponse({ found })),
)
writeAll(joinResponse(response, body))
process.exit(0)

/**
 * Deno and esbuild work in a folder of their own, so that the paths in bundles are short and always
 * the same.
 */
function createSetup(): DenoSetup {
  // Without links, as esbuild reports paths.
  const cwd = join(realpathSync(paths.scratch), "work")
  mkdirSync(cwd)
  const proxy = `unix:${paths.run}/out.sock`
  const registries = { NPM_CONFIG_REGISTRY: request.npmRegistry, JSR_URL: request.jsrUrl }
  const home = { DENO_DIR: join(paths.scratch, "deno"), HOME: paths.scratch }
  const env = {
    ...home,
    ...registries,
    HTTP_PROXY: proxy,
    HTTPS_PROXY: proxy,
    DENO_NO_UPDATE_CHECK: "1",
    NO_COLOR: "1",
  }
  return { deno: paths.deno, cwd, env }
}

function writeAll(bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(1, bytes, at)
}

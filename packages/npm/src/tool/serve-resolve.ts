import { mkdirSync, readFileSync, realpathSync, writeSync } from "node:fs"
import { join } from "node:path"
import type { ToolPaths } from "@hamlet/sandbox"
import type { ImportRules } from "../import-rules.ts"
import type { DenoSetup } from "./deno-info.ts"
import { joinResponse, type ResolveRequest } from "./tool-messages.ts"

/**
 * Fetches and bundles what code imports, without running any of it. It is all that a tool does, which
 * runs in a sandbox with a ToolPaths as its argument and the request on its standard input.
 */
export async function serveResolve<Given>(
  createRules: (given: Given) => ImportRules,
): Promise<never> {
  const paths = JSON.parse(process.argv[2] ?? "{}") as ToolPaths
  // esbuild reads this variable when it is imported.
  process.env.ESBUILD_BINARY_PATH = paths.helpers.esbuild
  // Go collects garbage late by default: the largest packages would take twice the memory.
  process.env.GOMEMLIMIT = "400MiB"
  const request = JSON.parse(readFileSync(0, "utf8")) as ResolveRequest<Given>
  const { resolveCode } = await import("./resolve-code.ts")
  const rules = createRules(request.given)
  const { response, body } = await resolveCode(
    createSetup(paths, request),
    request,
    rules,
    (found) => writeAll(joinResponse({ found })),
  )
  writeAll(joinResponse(response, body))
  process.exit(0)
}

/**
 * Deno and esbuild work in a folder of their own, so that the paths in bundles are short and always
 * the same.
 */
function createSetup(
  paths: ToolPaths,
  { npmRegistry, jsrUrl }: Pick<ResolveRequest<unknown>, "npmRegistry" | "jsrUrl">,
): DenoSetup {
  // Without links, as esbuild reports paths.
  const cwd = join(realpathSync(paths.scratch), "work")
  mkdirSync(cwd)
  const proxy = `unix:${paths.run}/out.sock`
  const home = { DENO_DIR: join(paths.scratch, "deno"), HOME: paths.scratch }
  const env = {
    ...home,
    NPM_CONFIG_REGISTRY: npmRegistry,
    JSR_URL: jsrUrl,
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

import { readFileSync } from "node:fs"
import { findDeno } from "../../../../../scripts/find-deno.ts"
import { type Finding, failure, fine, warning } from "../finding.ts"
import { doctorLimits } from "../limits.ts"

const install = 'run "npm install" in the checkout of Hamlet'

/** Bun and Deno are pinned: sandboxes rely on undocumented behaviour of both. */
export function checkPrograms(): readonly Finding[] {
  const pinned = readPinned()
  return [judge("bun", Bun.version, pinned.bun), judge("deno", readDenoVersion(), pinned.deno)]
}

function judge(name: string, version: string | undefined, pinned: string | undefined): Finding {
  if (version === undefined) return failure(name, "it is not installed, or does not start", install)
  if (pinned !== undefined && version !== pinned)
    return warning(name, `${version}, and ${pinned} is what Hamlet is tested with`, install)
  return fine(name, version)
}

function readPinned(): Readonly<Record<string, string | undefined>> {
  return JSON.parse(readFileSync(new URL("../../../../../package.json", import.meta.url), "utf8"))
    .dependencies
}

function readDenoVersion(): string | undefined {
  try {
    const { stdout } = Bun.spawnSync([findDeno(), "--version"], {
      stderr: "ignore",
      timeout: doctorLimits.programMsMax,
    })
    return /^deno (\S+)/.exec(stdout.toString())?.[1]
  } catch {
    return undefined
  }
}

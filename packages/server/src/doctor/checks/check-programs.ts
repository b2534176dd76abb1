import { readFileSync } from "node:fs"
import { findDeno } from "../../../../../scripts/find-deno.ts"
import { about, type Findings, type Topic } from "../finding.ts"
import { doctorLimits } from "../limits.ts"

const install = 'run "npm install" in the checkout of Hamlet'

/** Bun and Deno are pinned: sandboxes rely on undocumented behaviour of both. */
export function checkPrograms(): Findings {
  const pinned = readPinned()
  return [
    ...judge(about("bun"), Bun.version, pinned.bun),
    ...judge(about("deno"), readDenoVersion(), pinned.deno),
  ]
}

function judge(check: Topic, version: string | undefined, pinned: string | undefined): Findings {
  if (version === undefined) return check.failure("it is not installed, or does not start", install)
  if (pinned !== undefined && version !== pinned)
    return check.warning(`${version}, and ${pinned} is what Hamlet is tested with`, install)
  return check.fine(version)
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

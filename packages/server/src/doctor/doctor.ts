import { orLate } from "@hamlet/kit"
import { type Config, ConfigError, loadConfig, options } from "../config/config.ts"
import { findUnknownSettings, toWarning } from "../config/unknown-settings.ts"
import { checkCgroups } from "./checks/check-cgroups.ts"
import { checkDataFolder } from "./checks/check-data-folder.ts"
import { checkDatabase } from "./checks/check-database.ts"
import { checkExposure } from "./checks/check-exposure.ts"
import { checkIsolation } from "./checks/check-isolation.ts"
import { checkClock, checkMemory, checkOpenFiles } from "./checks/check-machine.ts"
import { checkMail } from "./checks/check-mail.ts"
import { checkNames } from "./checks/check-names.ts"
import { checkPort } from "./checks/check-port.ts"
import { checkPrograms } from "./checks/check-programs.ts"
import { checkBucket } from "./checks/servers/check-bucket.ts"
import { checkLibsql } from "./checks/servers/check-libsql.ts"
import { checkSignIn } from "./checks/servers/check-sign-in.ts"
import { checkSmtp } from "./checks/servers/check-smtp.ts"
import { checkTraces } from "./checks/servers/check-traces.ts"
import { about, type Finding, type Findings, type Status, toReason, worse } from "./finding.ts"
import { doctorLimits } from "./limits.ts"

/**
 * The checks by name. A check changes nothing but an object in the bucket, which it deletes again, and
 * may run while a server runs.
 */
const checks: Readonly<Record<string, (config: Config) => Promise<Findings> | Findings>> = {
  programs: checkPrograms,
  isolation: checkIsolation,
  cgroups: checkCgroups,
  "data folder": checkDataFolder,
  database: checkDatabase,
  "databases of users": checkLibsql,
  bucket: checkBucket,
  clock: checkClock,
  port: checkPort,
  exposure: checkExposure,
  names: checkNames,
  "outgoing mail": checkSmtp,
  "incoming mail": checkMail,
  "sign-in": checkSignIn,
  traces: checkTraces,
  "open files": checkOpenFiles,
  memory: checkMemory,
}

/**
 * Runs every check for a server with these settings, reports each finding, and returns the worst
 * status.
 */
export async function examine(
  env: Readonly<Record<string, string | undefined>>,
  flags: readonly string[],
  report: (finding: Finding) => void,
  interruption: AbortSignal,
): Promise<Status> {
  let worst: Status = "ok"
  const tell = (findings: Findings) => {
    for (const finding of findings) {
      worst = worse(worst, finding.status)
      report(finding)
    }
  }
  const config = loadSettings(env, flags, tell)
  // Without readable settings no other check is possible.
  if (!config) return worst
  for (const name of Object.keys(checks)) {
    if (interruption.aborted) break
    tell(await look(name, config))
  }
  return worst
}

function loadSettings(
  env: Readonly<Record<string, string | undefined>>,
  flags: readonly string[],
  tell: (findings: Findings) => void,
): Config | undefined {
  try {
    const config = loadConfig(env, flags)
    tell(checkSettings(env))
    return config
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    tell(
      about("settings").failure(
        error.message,
        "docs/configuration.md says what each setting may be",
      ),
    )
    return undefined
  }
}

/** The settings are valid. An unknown variable is probably a typing error. */
function checkSettings(env: Readonly<Record<string, string | undefined>>): Findings {
  const known = new Set<string>(options.map((option) => option.env))
  const unknown = findUnknownSettings(env)
  if (unknown.length > 0)
    return about("settings").warning(
      unknown.map(toWarning).join(". "),
      "docs/configuration.md lists all settings",
    )
  const set = Object.keys(env).filter((name) => known.has(name))
  return about("settings").fine(
    set.length === 0
      ? "the environment sets none"
      : `the environment sets ${set.sort().join(", ")}`,
  )
}

/** An error of a check becomes a finding. A check that exceeds its time limit is abandoned. */
async function look(name: string, config: Config): Promise<Findings> {
  const { failure } = about(name)
  const { checkMsMax } = doctorLimits
  try {
    return await orLate(Promise.resolve(checks[name]?.(config) ?? []), checkMsMax, () =>
      failure(`no answer after ${checkMsMax / 1000} s`, "look for what is stuck, and try again"),
    )
  } catch (error) {
    return failure(
      `it could not be looked at: ${toReason(error)}`,
      "mend what the sentence says, and try again",
    )
  }
}
